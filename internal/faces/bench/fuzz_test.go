package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// FuzzFrames: whatever comes, each frame has one answer, which is JSON with a status,
// and the end of the stream ends the conversation.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{"", "\n", "{}\n", `{"id": 1, "do": "open", "open": {"version": 1}}` + "\n",
		`{"id": 2, "do": "mock", "mock": {"kind": "http", "answers": [{"result": "0x"}]}}` + "\n",
		`{"id": 2, "do": "request", "method": "GET", "path": "/height"}` + "\n" + `{"id": 3, "do": "revert", "snapshot": -1}` + "\n",
		`{"id": 18446744073709551616}` + "\n", `{"do": "open", "open": {"seed": 1e3}}` + "\n", `{"id": 1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		err := Hold(t.Context(), bytes.NewReader(in), &out, func(Config) (Network, error) { return nil, errors.New("there is none") })
		frames := bytes.Count(in, []byte("\n"))
		if err != nil {
			frames++ // an invalid frame is answered before it ends the conversation
		}
		answers := bytes.Split(bytes.TrimSuffix(out.Bytes(), []byte("\n")), []byte("\n"))
		if out.Len() == 0 {
			answers = nil
		}
		if len(answers) != frames {
			t.Fatalf("%d frames have %d answers", frames, len(answers))
		}
		for _, one := range answers {
			var a answer
			if json.Unmarshal(one, &a) != nil || a.Status < 400 {
				t.Fatalf("%s answers a conversation without a network", one)
			}
		}
	})
}
