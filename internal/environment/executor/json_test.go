package executor

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

func TestCanonicalJSON(t *testing.T) {
	for text, want := range map[string]string{
		` {"b" : 1.50, "a":[true,null,"x<y"]} `: `{"a":[true,null,"x<y"],"b":1.50}`,
		`123456789012345678901234567890`:        `123456789012345678901234567890`,
		`"\u00e9\n"`:                            `"é\n"`,
		`[]`:                                    `[]`,
		`{"a":{},"":""}`:                        `{"":"","a":{}}`,
		strings.Repeat("[", 32) + strings.Repeat("]", 32): strings.Repeat("[", 32) + strings.Repeat("]", 32),
	} {
		v, err := ParseJSON([]byte(text))
		if err != nil || string(CanonicalJSON(v)) != want {
			t.Errorf("%s: %s, %v", text, CanonicalJSON(v), err)
		}
	}
}

func TestWhatIsNoJSON(t *testing.T) {
	for text, want := range map[string]string{
		``: "unexpected end", `{`: "", `[1`: "", `{"a":1,"a":2}`: `duplicate name "a"`, `1 2`: "after the JSON value", "\"\xff\"": "UTF-8",
		`{"a":1}}`: "after the JSON value",
		strings.Repeat("[", 33) + strings.Repeat("]", 33): "more than 32 levels", strings.Repeat("[", 1<<20): "more than 32 levels",
		strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40): "more than 32 levels",
		`nul`: "", `{1:2}`: "", `01`: "", `NaN`: "",
	} {
		if v, err := ParseJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, %v", text, v, err)
		}
	}
}

// The examples of RFC 6901 §5, and what leads nowhere.
func TestPointers(t *testing.T) {
	v, err := ParseJSON([]byte(`{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{
		"/foo": `["bar","baz"]`, "/foo/0": `"bar"`, "/": "0", "/a~1b": "1", "/c%d": "2", "/e^f": "3", "/g|h": "4",
		`/i\j`: "5", `/k"l`: "6", "/ ": "7", "/m~0n": "8",
	} {
		if at, err := Extract(v, pointer); err != nil || string(CanonicalJSON(at)) != want {
			t.Errorf("%s: %v, %v", pointer, at, err)
		}
	}
	for _, pointer := range []string{"/no", "/foo/2", "/foo/-1", "/foo/01", "/foo/-", "/foo/0/x", "/foo/99999999999999999999"} {
		if at, err := Extract(v, pointer); err == nil {
			t.Errorf("%s led to %v", pointer, at)
		}
	}
	if at, _ := Extract(v, ""); string(Render(at, push.FormatText))[0] != '{' {
		t.Error("the empty pointer is the whole")
	}
}

func TestATextIsItselfUnlessJSONIsAsked(t *testing.T) {
	if got := Render("é", push.FormatText); string(got) != "é" {
		t.Errorf("%s", got)
	}
	if got := Render("é", push.FormatJSON); string(got) != `"é"` {
		t.Errorf("%s", got)
	}
}

// Whatever parses is written so that it parses to the same bytes again, and as
// encoding/json reads it, which is the dumb twin.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x"],"b":null}`, `"\ud800"`, `[[[]]]`, `-0`, `{"a":1,"a":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseJSON(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is not JSON, and was read", data)
		}
		once := CanonicalJSON(v)
		again, err := ParseJSON(once)
		if err != nil || !bytes.Equal(CanonicalJSON(again), once) {
			t.Fatalf("%q became %q, and that %v", data, once, err)
		}
	})
}
