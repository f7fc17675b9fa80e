package jsontext

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// depthOfAll is as deep as encoding/json reads.
const depthOfAll = 10_000

// samples are texts of which a fuzz test begins.
var samples = []string{`{"a":[1,2.5e-3,null,true,false,"\u00e9\ud83d\ude00"],"a":{}}`, `[[[[]]]]`, `"\ud800\u0041"`,
	`"\ud800"`, `"\ud800\ud800\udc00"`,
	`01`, `-0`, `-`, `1.`, `1e`, `1e+5`, `.5`, "\"\xff\"", `[1,]`, `{,}`, `{"a" 1}`, `{"a":}`, ` [ ] x`, "\xef\xbb\xbf{}", `tru`, `truex`, `[`,
	"\"a\x01\"", `"\x"`, `"\u12"`, `"\u+123"`, `""`, ``, ` `, "\x00", `{"\u0061":1}`, `"a\/b\"\\\b\f\n\r\t"`, "[\t1\r\n,2 ]", "\"\u2028\""}

// FuzzValidTexts: what is JSON here is JSON for the standard library, which makes the same values of it.
func FuzzValidTexts(f *testing.F) {
	for _, text := range samples {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := Parse(data, depthOfAll, ReplaceHalves)
		if !utf8.Valid(data) {
			if err == nil {
				t.Fatalf("%q is read, and no UTF-8", data)
			}
			return
		}
		if json.Valid(data) != (err == nil) {
			t.Fatalf("%q: %v here, and valid is %t", data, err, json.Valid(data))
		}
		if err != nil {
			return
		}
		var theirs any
		decoder := json.NewDecoder(strings.NewReader(string(data)))
		decoder.UseNumber()
		if err := decoder.Decode(&theirs); err != nil {
			t.Fatal(err)
		}
		if ours := toGo(&v); !reflect.DeepEqual(ours, theirs) {
			t.Fatalf("%q is %#v here, and %#v there", data, ours, theirs)
		}
		s := NewScanner(data, depthOfAll, ReplaceHalves)
		if err := s.SkipValue(); err != nil || s.End() != nil {
			t.Fatalf("%q is read, and not skipped: %v", data, err)
		}
	})
}

// toGo is a value as encoding/json makes it, which takes the last of several members of a name.
func toGo(v *Value) any {
	switch v.Kind {
	case Null:
		return nil
	case Bool:
		return v.Text == "true"
	case Number:
		return json.Number(v.Text)
	case Text:
		return v.Text
	case List:
		items := []any{}
		for i := range v.Items {
			items = append(items, toGo(&v.Items[i]))
		}
		return items
	}
	members := map[string]any{}
	for i, name := range v.Names {
		members[name] = toGo(&v.Items[i])
	}
	return members
}

// Both halves of a pair are one character; half of one is refused, or replaced where the caller says so.
func TestHalvesOfPairs(t *testing.T) {
	for text, replaced := range map[string]string{`"\ud83d\ude00"`: "😀", `"\ud83d"`: "\ufffd", `"\ud83d\u0041"`: "\ufffdA",
		`"\ude00x"`:            "\ufffdx",
		`"\ud83d\ud83d\ude00"`: "\ufffd😀", `"\ud83d\n"`: "\ufffd\n"} {
		v, err := Parse([]byte(text), 0, ReplaceHalves)
		if err != nil || v.Text != replaced {
			t.Errorf("%s is %q, want %q: %v", text, v.Text, replaced, err)
		}
		if _, err := Parse([]byte(text), 0, RefuseHalves); (err == nil) != !strings.Contains(replaced, "\ufffd") {
			t.Errorf("%s, halves refused: %v", text, err)
		}
	}
}

// As many lists and objects are read within each other as the caller says.
func TestDepthIsBounded(t *testing.T) {
	for depth := range 5 {
		nested := strings.Repeat(`[{"a":`, depth) + "1" + strings.Repeat("}]", depth)
		if _, err := Parse([]byte(nested), 2*depth, RefuseHalves); err != nil {
			t.Errorf("%s at depth %d: %v", nested, 2*depth, err)
		}
		if depth == 0 {
			continue
		}
		_, err := Parse([]byte(nested), 2*depth-1, RefuseHalves)
		if deep, is := errors.AsType[*Error](err); !is || !deep.IsDeep || len(deep.Path) != 2*depth-1 {
			t.Errorf("%s at depth %d: %v", nested, 2*depth-1, err)
		}
		side := "[" + strings.Repeat("[[]],", 3) + "1]" // what was closed counts no more
		if _, err := Parse([]byte(side), 3, RefuseHalves); err != nil {
			t.Errorf("%s: %v", side, err)
		}
	}
}

// An error says what is wrong, at which byte, and in which value.
func TestErrorsTellTheirPlace(t *testing.T) {
	for text, want := range map[string]string{
		``: "no value at byte 0 of ", `[1,{"a":tru}]`: "no value at byte 8 of [1].a", `{"a":{"b" 1}}`: "no colon at byte 10 of .a.b",
		`[1 2]`: "no comma at byte 3 of ", `{1:2}`: "no name in quotes at byte 1 of ", `1 1`: "text after the end at byte 2 of ",
		`["a`:        "a text without end at byte 3 of [0]",
		"[\"\x01\"]": "a control character at byte 2 of [0]", `["\q"]`: "no escape at byte 2 of [0]",
		"[\"\xff\"]": "no UTF-8 at byte 2 of [0]", `[-]`: "no number at byte 2 of [0]", `[[[]]]`: "nests too deep at byte 2 of [0][0]",
		`[1`: "no comma at byte 2 of ", `{"a":1,}`: "no name in quotes at byte 7 of ", `["\ud83d"]`: "half of a surrogate pair at byte 8 of [0]",
	} {
		_, err := Parse([]byte(text), 2, RefuseHalves)
		e, is := errors.AsType[*Error](err)
		if !is {
			t.Errorf("%s: %v", text, err)
			continue
		}
		path := ""
		for _, step := range e.Path {
			if step.IsItem {
				path = fmt.Sprintf("[%d]", step.Index) + path
			} else {
				path = "." + step.Name + path
			}
		}
		if got := e.Error() + " of " + path; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if ends := e.At >= len(text); e.IsEnd([]byte(text)) != (ends && !e.IsDeep) {
			t.Errorf("%s ends too early: %t", text, e.IsEnd([]byte(text)))
		}
	}
}

// An object is read member by member, with duplicates, without making values of what is passed over.
func TestMembersInTheirOrder(t *testing.T) {
	s := NewScanner([]byte(` {"b" : "x" , "a":[{"deep":1}],"b":"\u0079"} `), 3, RefuseHalves)
	var read []string
	err := s.ReadMembers(func(name string) error {
		if name != "b" {
			return s.SkipValue()
		}
		text, err := s.ReadText()
		read = append(read, text)
		return err
	})
	if err != nil || s.End() != nil || fmt.Sprint(read) != "[x y]" {
		t.Errorf("%v, %v", read, err)
	}
}
