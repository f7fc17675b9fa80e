package convention

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// naiveConvention is the twin: the standard library's JSON, with separate checks of
// the rules that it does not enforce.
func naiveConvention(payload []byte) (handler string, inner []byte, ok bool) {
	if !json.Valid(payload) || !utf8.Valid(payload) || naiveDepth(payload) > MaxJSONDepth {
		return "", nil, false
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	if open, _ := d.Token(); open != json.Delim('{') {
		return "", nil, false
	}
	found := map[string][]any{}
	for d.More() {
		name, _ := d.Token()
		var value any
		if err := d.Decode(&value); err != nil && (name == "_handler" || name == "_payload") {
			return "", nil, false // a number too great is still valid JSON, but no string
		}
		found[name.(string)] = append(found[name.(string)], value)
	}
	if len(found["_handler"]) != 1 || len(found["_payload"]) != 1 {
		return "", nil, false
	}
	handler, ok1 := found["_handler"][0].(string)
	text, ok2 := found["_payload"][0].(string)
	inner, err := base64.StdEncoding.DecodeString(text)
	if !ok1 || !ok2 || handler == "" || err != nil || base64.StdEncoding.EncodeToString(inner) != text {
		return "", nil, false
	}
	return handler, inner, true
}

func naiveDepth(valid []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(valid); i++ {
		switch c := valid[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '{' || c == '['):
			depth++
			deepest = max(deepest, depth)
		case !quoted && (c == '}' || c == ']'):
			depth--
		}
	}
	return deepest
}

func sameConvention(t interface {
	Fatalf(string, ...any)
	Helper()
}, payload []byte) {
	t.Helper()
	h, inner, ok := Read(payload)
	h2, inner2, ok2 := naiveConvention(payload)
	if h != h2 || !bytes.Equal(inner, inner2) || ok != ok2 {
		t.Fatalf("%q: (%q, %x, %v), the twin says (%q, %x, %v)", payload, h, inner, ok, h2, inner2, ok2)
	}
}

var conventionSeeds = []string{
	`{"_handler": "tick", "_payload": "aGVsbG8="}`,
	`{"a":[1,-0.5e+3,{"b":null}],"_payload":"","_handler":"x","c":true}`,
	`{"_handler":"\u0074\ud83d\ude00\ud800x","_payload":"\u0061Gk="}`,
	`{"_handler":"a","_handler":"b","_payload":""}`,
	`{"_Handler":"a","_payload":""}`,
	`{"_handler":"a","_payload":"aGk=\n"}`,
	`{"_handler":"a","_payload":"aGl="}`,
	` {"_handler":"a","_payload":""} x`,
	`{"n":1e999,"_handler":"a","_payload":""}`,
	"\ufeff{}", `[]`, `{"a":01}`, `{"a":.5}`, "{\"a\":\"\x01\"}", "{\"\xff\":1}", `{"a":"\x"}`, `{,}`, `{"a":1,}`, `"`, `{"_handler":"\ud800\u0041","_payload":""}`,
	strings.Repeat("[", 40) + strings.Repeat("]", 40),
}

func TestConventionIsTheStandardLibrarysJSONWithStrictBase64(t *testing.T) {
	for _, seed := range conventionSeeds {
		sameConvention(t, []byte(seed))
	}
	pieces := rapid.SampledFrom([]string{`{`, `}`, `[`, `]`, `:`, `,`, `"_handler"`, `"_payload"`, `"aGk="`, `"x"`, `""`, `1`, `-`, `0`, `.5`,
		`e9`, ` `, `true`, `null`, `\u00`, `\ud83d`, `"`, "\n", "\xc3", "{\"_handler\":\"h\",", "\"_payload\":\"\"}"})
	rapid.Check(t, func(t *rapid.T) {
		sameConvention(t, []byte(strings.Join(rapid.SliceOfN(pieces, 0, 14).Draw(t, "pieces"), "")))
	})
}

func TestConventionNestsAsDeepAsItSays(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(`{"_handler":"h","_payload":"","x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`)
	}
	if _, _, ok := Read(nested(MaxJSONDepth - 1)); !ok {
		t.Fatal("the deepest is refused")
	}
	if _, _, ok := Read(nested(MaxJSONDepth)); ok {
		t.Fatal("deeper than the deepest is taken")
	}
	Read(bytes.Repeat([]byte("["), 1<<20)) // and no stack to exhaust
}

func FuzzRead(f *testing.F) {
	for _, seed := range conventionSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) { sameConvention(t, payload) })
}
