package chainhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// answering is a transport on which one answer comes to whatever is asked for a path,
// and the right ones to all else.
type answering struct {
	right map[string][]byte
	path  string
	other []byte
}

// RoundTrip implements http.RoundTripper.
func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := &http.Response{StatusCode: http.StatusOK, Request: r}
	body, known := a.right[r.URL.Path]
	switch {
	case r.URL.Path == a.path:
		body = a.other
	case !known:
		answer.StatusCode = http.StatusNotFound
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

// FuzzAnswers: whatever a devnet answers a runner, its view tells a head that keeps its
// bounds, or none.
func FuzzAnswers(f *testing.F) {
	a := newAPI(f)
	id := execution.ID{Job: types.Hash{1}, Drawn: 95}
	job := "/job/" + id.Job.String()
	a.answers[job], a.answers[job+"/results"] = jobOf(95, nil), resultsOf(nil)
	paths := []string{"/height", "/subsets", "/params", "/runner/" + runner.Address().String(), job, job + "/results"}
	right := map[string][]byte{}
	for i, path := range paths {
		encoded, err := json.Marshal(a.answers[path])
		if err != nil {
			f.Fatal(err)
		}
		right[path] = encoded
		f.Add(byte(i), encoded)
		f.Add(byte(i), []byte(`{"height":18446744073709551615,"current":{"min_subset":0,"max_subset":0},"committee":null}`))
	}
	f.Fuzz(func(t *testing.T, which byte, answer []byte) {
		v, err := New(Config{API: "http://a.test", Runner: runner.PublicKey()})
		if err != nil {
			t.Fatal(err)
		}
		v.ctx = context.Background()
		v.client.Transport = &answering{right, paths[int(which)%len(paths)], answer}
		h, err := v.fetchHead(0, true, []execution.ID{id})
		if err != nil || h == nil {
			return
		}
		if len(h.Validators) > chainview.MaxValidators || h.Params.BlockTime() > time.Hour {
			t.Errorf("told %+v", h)
		}
		for _, s := range h.Assignments {
			if len(s.Commitments) > 1 {
				t.Errorf("%d commitments", len(s.Commitments))
			}
		}
	})
}
