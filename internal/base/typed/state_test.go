package typed_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/typed"
)

const stateSchema = `{"schema":1,"actor":"Club","handlers":[{"name":"join","callers":"anyone","arguments":[{"name":"amount","type":"Amount"}],` +
	`"returns":"int"},{"name":"raw","callers":"anyone","raw":true}],"events":["Joined"],"types":{` +
	`"Joined":{"record":[{"name":"members","type":"int"}]},"Color":{"enum":[{"name":"RED","value":"red"}]},` +
	`"Level":{"enum":[{"name":"HIGH","value":7}]},` +
	`"Member":{"record":[{"name":"who","type":"Address"},{"name":"paid","type":"Amount"},` +
	`{"name":"note","type":{"optional":"str"},"default":null}]}},"state":[` +
	`{"name":"price","type":"Amount","default":"5"},{"name":"prices","type":{"tuple":["u8","bool"]}},` +
	`{"name":"members","list":"Address"},{"name":"log","key":"Address","type":"Member"},{"name":"by","key":"int","type":"str"},` +
	`{"name":"words","key":"str","type":{"dict":["str","Level"]}},` +
	`{"name":"pairs","key":{"tuple":["Address","str"]},"type":{"list":{"optional":"Color"}}}]}`

func schemaOf(t *testing.T, text string) *typed.Schema {
	t.Helper()
	s, err := typed.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// An attribute is one key, or a key for each entry, in the bytes that the host writes.
func TestKeysOfStateHaveTheirAttributesNames(t *testing.T) {
	s := schemaOf(t, stateSchema)
	who := strings.Repeat("\xab", 20)
	hex := `"0x` + strings.Repeat("ab", 20) + `"`
	minusOne := strings.Repeat("\xff", 32)
	for key, want := range map[string]string{
		"price":    "price",
		"prices":   "prices",
		"members#": "len(members)",
		"members/\x00\x00\x00\x00\x00\x00\x00\x03": "members[3]",
		"log/" + who:     "log[" + hex + "]",
		"by/" + minusOne: `by["-1"]`,
		"words/a\"/b":    `words["a\"/b"]`,
		"pairs/\x00\x00\x00\x14" + who + "\x00\x00\x00\x01x": `pairs[` + hex + `,"x"]`,

		"pric": "", "price/": "", "price#": "", "unknown": "", "": "", "members": "", "members/\x00": "", "log#": "", "log/": "",
		"log/" + who[1:]: "", "by/1": "", "words/\xff": "", "pairs/\x00\x00\x00\x14" + who: "",
		"pairs/\xff\xff\xff\xff" + who: "", "pairs/\x00\x00\x00\x14" + who + "\x00\x00\x00\x01xy": "",
	} {
		what, of := s.StateKey([]byte(key))
		if what != want || (of == nil) != (want == "") {
			t.Errorf("%q is %q, want %q", key, what, want)
		}
	}
}

func TestValuesOfStateAreJSONByTheirTypes(t *testing.T) {
	s := schemaOf(t, stateSchema)
	who := []byte(strings.Repeat("\xab", 20))
	hex := strings.Repeat("ab", 20)
	big256 := new(big.Int).Lsh(big.NewInt(1), 200)
	for _, row := range []struct {
		key  string
		held any
		want string // "": it does not fit
	}{
		{"price", 7, `"7"`},
		{"price", *big256, `"` + big256.String() + `"`},
		{"price", -1, ""},
		{"price", "7", ""},
		{"price", true, ""},
		{"prices", []any{255, true}, `[255,true]`},
		{"prices", []any{256, true}, ""},
		{"prices", []any{1}, ""},
		{"prices", []any{1, 1}, ""},
		{"members#", 3, `"3"`},
		{"members/\x00\x00\x00\x00\x00\x00\x00\x03", who, `"0x` + hex + `"`},
		{"members/\x00\x00\x00\x00\x00\x00\x00\x03", who[1:], ""},
		{"log/" + string(who), map[string]any{"who": who, "paid": 5, "note": "hé"}, `{"note":"hé","paid":"5","who":"0x` + hex + `"}`},
		{"log/" + string(who), map[string]any{"who": who, "paid": 5}, `{"note":null,"paid":"5","who":"0x` + hex + `"}`},
		{"log/" + string(who), map[string]any{"who": who, "paid": 5, "older": 1}, `{"note":null,"paid":"5","who":"0x` + hex + `"}`},
		{"log/" + string(who), map[string]any{"who": who}, ""},
		{"log/" + string(who), map[int]any{1: who}, ""},
		{"words/a", map[string]any{"k": 7}, `{"k":7}`},
		{"words/a", map[string]any{"k": 8}, ""},
		{"words/a", []any{}, ""},
		{"pairs/\x00\x00\x00\x14" + string(who) + "\x00\x00\x00\x00", []any{nil, "red"}, `[null,"red"]`},
		{"pairs/\x00\x00\x00\x14" + string(who) + "\x00\x00\x00\x00", []any{"blue"}, ""},
	} {
		_, of := s.StateKey([]byte(row.key))
		if of == nil {
			t.Fatalf("no attribute has %q", row.key)
		}
		got, fits := s.Unpack(of, codec.Marshal(row.held))
		if string(got) != row.want || fits != (row.want != "") {
			t.Errorf("%q with %v is %q, want %q", row.key, row.held, got, row.want)
		}
	}
	_, price := s.StateKey([]byte("price"))
	for _, wrong := range []string{"", "\x01\x01", "\x9f\xff", "\xff", "\x78", "\xc2\x58\x21" + strings.Repeat("\xff", 33)} {
		if got, fits := s.Unpack(price, []byte(wrong)); fits {
			t.Errorf("%q is %s", wrong, got)
		}
	}
}

func TestAnIntegerOfStateIsPackedAsTheHostWritesIt(t *testing.T) {
	s := schemaOf(t, stateSchema)
	integer, amount := &s.Attribute("by").Key, &s.Attribute("price").Type
	for digits, want := range map[string]string{"0": "\x00", "9": "\x09", "-1": "\x20", "1000": "\x19\x03\xe8",
		"18446744073709551615": "\x1b\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551616": "\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00"} {
		raw, err := s.PackInteger(integer, digits)
		if err != nil || string(raw) != want {
			t.Errorf("%s: %x, %v, want %x", digits, raw, err, want)
		}
		if text, fits := s.Unpack(integer, raw); !fits || strings.Trim(string(text), `"`) != digits {
			t.Errorf("%s is unpacked as %s", digits, text)
		}
	}
	for _, digits := range []string{"", "nine", "09", "1.5", "-1"} {
		if raw, err := s.PackInteger(amount, digits); err == nil {
			t.Errorf("%q is packed as %x", digits, raw)
		}
	}
}

func TestPayloadsThatDoNotFitHaveNoView(t *testing.T) {
	s := schemaOf(t, stateSchema)
	for _, row := range []struct {
		got  []byte
		want string
	}{
		{s.ArgumentsView("join", []byte(` {"amount": 5}`)), `{"amount":"5"}`},
		{s.ArgumentsView("join", []byte(`{"amount":-5}`)), ""},
		{s.ArgumentsView("raw", []byte(`{}`)), ""},
		{s.ArgumentsView("none", []byte(`{}`)), ""},
		{s.ReturnedView("join", []byte(`"3"`)), `"3"`},
		{s.ReturnedView("join", []byte(`x`)), ""},
		{s.ReturnedView("raw", []byte(`"3"`)), ""},
		{s.EventView("Joined", []byte(`{"members":"3"}`)), `{"members":"3"}`},
		{s.EventView("Joined", []byte(`{}`)), ""},
		{s.EventView("Member", []byte(`{}`)), ""},
	} {
		if string(row.got) != row.want {
			t.Errorf("%q, want %q", row.got, row.want)
		}
	}
}

func TestAnAttributeOfTwoKindsIsRefused(t *testing.T) {
	for _, state := range []string{`{"name":"a"}`, `{"name":"a","key":"str"}`, `{"name":"a","list":"str","type":"str"}`,
		`{"name":"a","list":"str","key":"str"}`, `{"name":"a/","type":"str"}`} {
		if _, err := typed.Parse([]byte(`{"schema":1,"handlers":[],"state":[` + state + `]}`)); err == nil {
			t.Errorf("%s was taken", state)
		}
	}
}

// What StateKey writes, Ask reads, and names the same key.
func TestAStateIsAskedForByTheTextOfItsKey(t *testing.T) {
	s := schemaOf(t, stateSchema)
	hex := "0x" + strings.Repeat("ab", 20)
	who := strings.Repeat("\xab", 20)
	for text, key := range map[string]string{
		"price": "price", "prices": "prices", "len(members)": "members#", "members[3]": "members/\x00\x00\x00\x00\x00\x00\x00\x03",
		`members["3"]`:       "members/\x00\x00\x00\x00\x00\x00\x00\x03",
		`log["` + hex + `"]`: "log/" + who, "log[" + hex + "]": "log/" + who, "by[-1]": "by/" + strings.Repeat("\xff", 32),
		`by["255"]`: "by/" + strings.Repeat("\x00", 31) + "\xff", `words["a\"/b"]`: `words/a"/b`, "words[5]": "words/5",
		`pairs["` + hex + `","x"]`: "pairs/\x00\x00\x00\x14" + who + "\x00\x00\x00\x01x",
	} {
		a, ok := s.Ask(text)
		if !ok || a.Whole() != "" {
			t.Errorf("%s: %v, %q", text, ok, a.Whole())
			continue
		}
		got, of, err := s.AskedKey(&a, a.KeyJSON())
		if err != nil || string(got) != key {
			t.Errorf("%s is %q, %v; want %q", text, got, err, key)
		}
		if what, want := s.StateKey(got); what == "" || of.String() != want.String() {
			t.Errorf("%s is %q of %v, want %v", text, what, of, want)
		}
	}
	for text, say := range map[string]string{"members": "read len(members) or members[INDEX]", "log": "read log[KEY], and its KEY is Address",
		"price[1]": "one value: read price", "len(price)": "one value", "len(log)": "read log[KEY]"} {
		if a, ok := s.Ask(text); !ok || !strings.Contains(a.Whole(), say) {
			t.Errorf("%s: %v, %q", text, ok, a.Whole())
		}
	}
	for _, none := range []string{"", "pric", "join", "price[", "len(price", "[3]", "len()", "price]"} {
		if _, ok := s.Ask(none); ok {
			t.Errorf("%q is taken for state", none)
		}
	}
	for _, wrong := range []string{"members[-1]", "members[x]", "members[]", "log[0xab]", "by[x]", `pairs["` + hex + `"]`,
		"members[18446744073709551616]"} {
		a, ok := s.Ask(wrong)
		if key, _, err := s.AskedKey(&a, a.KeyJSON()); !ok || err == nil {
			t.Errorf("%s is %q", wrong, key)
		}
	}
	for text, want := range map[string]string{"price": `"5"`, "prices": "", "len(members)": `"0"`, "members[3]": "", "log[0xab]": ""} {
		if a, _ := s.Ask(text); string(s.Initial(&a)) != want {
			t.Errorf("%s begins with %s, want %s", text, s.Initial(&a), want)
		}
	}
}
