package compat

import (
	"fmt"
	"strings"
	"testing"
)

// The table of changes: for arguments, for results and events, and for state.
func TestEveryChangeHasItsVerdict(t *testing.T) {
	const records = `"types":{"A":{"record":[{"name":"x","type":"u8"}]},"B":{"record":[{"name":"x","type":"u8"},` +
		`{"name":"y","type":"u8","default":1}]},"E":{"enum":[{"name":"P","value":"p"}]}}`
	const more = `"types":{"A":{"record":[{"name":"x","type":"u8"},{"name":"y","type":"u8","default":1}]},"B":{"record":[{"name":"x",` +
		`"type":"u8"}]},"E":{"enum":[{"name":"P","value":"p"},{"name":"Q","value":"q"}]}}`
	for _, row := range []struct {
		was, is                   string
		arguments, results, state Verdict // "" for no change
	}{
		{`"u8"`, `"u8"`, "", "", ""},
		{`"u8"`, `"u16"`, Safe, Readers, Safe},
		{`"u16"`, `"u8"`, Callers, Safe, NeedsMigrate},
		{`"u32"`, `"u64"`, Safe, Readers, Safe},
		{`"u8"`, `{"int":[0,255]}`, "", "", ""},
		{`"u8"`, `{"int":[1,255]}`, Callers, Safe, NeedsMigrate},
		{`"str"`, `{"optional":"str"}`, Safe, Readers, Safe},
		{`{"optional":"str"}`, `"str"`, Callers, Safe, NeedsMigrate},
		{`"str"`, `"bytes"`, Callers, Readers, NeedsMigrate},
		{`{"list":"u8"}`, `{"list":"u16"}`, Safe, Readers, Safe},
		{`{"list":"u8"}`, `{"dict":["str","u8"]}`, Callers, Readers, NeedsMigrate},
		{`{"dict":["str","u8"]}`, `{"dict":["int","u8"]}`, Callers, Readers, NeedsMigrate},
		{`{"tuple":["u8","u8"]}`, `{"tuple":["u8"]}`, Callers, Readers, NeedsMigrate},
		{`"A"`, `"A"`, Safe, Safe, Safe}, // a new field with a default
		{`"B"`, `"B"`, Callers, Readers, NeedsMigrate},
		{`"E"`, `"E"`, Safe, Readers, Safe},
	} {
		doc := func(types, t string) []byte {
			return fmt.Appendf(nil, `{"schema":1,%s,"handlers":[{"name":"f","arguments":[{"name":"a","type":%s}]},{"name":"g","arguments":[],`+
				`"returns":%s}],"state":[{"name":"s","type":%s}]}`, types, t, t, t)
		}
		changes, err := Compare(doc(records, row.was), doc(more, row.is))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Verdict{}
		for _, c := range changes {
			got[c.Where] = c.Verdict
		}
		for where, want := range map[string]Verdict{"argument a of f": row.arguments, "result of g": row.results, "state s": row.state} {
			if got[where] != want {
				t.Errorf("%s → %s, %s: %q, want %q", row.was, row.is, where, got[where], want)
			}
		}
	}
}

func TestNamesThatComeAndGo(t *testing.T) {
	before := `{"schema":1,"handlers":[{"name":"f","arguments":[{"name":"a","type":"u8"},{"name":"b","type":"u8","default":1}]},{"name":"old"},` +
		`{"name":"raw","raw":true}],"events":["E","G"],"types":{"E":{"record":[{"name":"x","type":"u8"},{"name":"y","type":"u8"}]},` +
		`"G":{"record":[]}},"state":[{"name":"s","type":"u8"},{"name":"m","key":"str","type":"u8"},{"name":"l","list":"u8"}]}`
	after := `{"schema":1,"handlers":[{"name":"f","arguments":[{"name":"b","type":"u8"},{"name":"c","type":"u8"},{"name":"d","type":"u8","default":1}]},` +
		`{"name":"new"},{"name":"raw"}],"events":["E","F"],"types":{"E":{"record":[{"name":"x","type":"u8"},{"name":"z","type":"u8"}]},` +
		`"F":{"record":[]}},"state":[{"name":"m","key":"int","type":"u8"},{"name":"l","type":"u8"},{"name":"n","type":"u8"},` +
		`{"name":"o","type":"u8","default":1},{"name":"p","list":"u8"}]}`
	changes, err := Compare([]byte(before), []byte(after))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Verdict{"argument a of f": Callers, "argument b of f": Callers, "argument c of f": Callers, "argument d of f": Safe,
		"handler old": Callers, "handler raw": Callers, "handler new": Safe, "event G": Readers, "event F": Safe,
		"state s": NeedsMigrate, "state m": NeedsMigrate, "state l": NeedsMigrate, "state n": NeedsMigrate, "state o": Safe, "state p": Safe}
	got := map[string]Verdict{}
	for _, c := range changes {
		if c.Where != "event E" {
			got[c.Where] = c.Verdict
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// Records that name the next one many times have more ways through them than a machine
// can follow. Each pair is compared once.
func TestRecordsThatNameEachOtherAreComparedOnce(t *testing.T) {
	var types []string
	for level := range 15 {
		var fields []string
		for field := range 40 {
			kind := fmt.Sprintf(`"R%d"`, level+1)
			if level == 14 {
				kind = `"u8"`
			}
			fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":%s}`, field, kind))
		}
		types = append(types, fmt.Sprintf(`"R%d":{"record":[%s]}`, level, strings.Join(fields, ",")))
	}
	doc := fmt.Appendf(nil, `{"schema":1,"types":{%s},"handlers":[],"state":[{"name":"s","type":"R0"}]}`, strings.Join(types, ","))
	changes, err := Compare(doc, doc)
	if err != nil || len(changes) != 0 {
		t.Errorf("%v, %v; want no change", changes, err)
	}
	wider := []byte(strings.Replace(string(doc), `"f7","type":"u8"`, `"f7","type":"u16"`, 1))
	if changes, err = Compare(doc, wider); err != nil || len(changes) != 1 || changes[0].Verdict != Safe {
		t.Errorf("%v, %v; want one safe change", changes, err)
	}
}

// A code without a schema, as of Go samples, has neither handlers nor state to lose.
func TestCodeWithoutASchemaHasNothingToLose(t *testing.T) {
	doc := []byte(`{"schema":1,"handlers":[{"name":"f"}],"state":[{"name":"s","type":"u8","default":1}]}`)
	for _, c := range []struct {
		before, after []byte
		want          int
	}{{nil, nil, 0}, {nil, doc, 2}, {doc, nil, 2}} {
		if changes, err := Compare(c.before, c.after); err != nil || len(changes) != c.want {
			t.Errorf("%s → %s: %v, %v; want %d changes", c.before, c.after, changes, err, c.want)
		}
	}
	if _, err := Compare([]byte("{"), doc); err == nil {
		t.Error("a damaged schema was compared")
	}
}

// C25: a default that changes is what users read where nothing was written, and what a
// timer gets that leaves the argument out.
func TestC25AChangedDefaultIsAChange(t *testing.T) {
	doc := func(argument, value, entry, field string) []byte {
		return fmt.Appendf(nil, `{"schema":1,"types":{"R":{"record":[{"name":"x","type":"u8"%s}]}},"handlers":[{"name":"f","arguments":`+
			`[{"name":"a","type":"u8"%s}]}],"state":[{"name":"s","type":"u64"%s},{"name":"m","key":"str","type":"u8"%s},`+
			`{"name":"r","type":{"optional":"R"},"default":null}]}`, field, argument, value, entry)
	}
	five, seven := `,"default":5`, `,"default":7`
	before := doc(five, `,"default":"5"`, five, five)
	for _, c := range []struct {
		after []byte
		where string
		want  Verdict // "" for no change
	}{
		{before, "", ""},
		{doc(seven, `,"default":"5"`, five, five), "argument a of f", Timers},
		{doc(five, `,"default":"7"`, five, five), "state s", NeedsMigrate},
		{doc(five, "", five, five), "state s", NeedsMigrate},
		{doc(five, `,"default":"5"`, seven, five), "state m", NeedsMigrate},
		{doc(five, `,"default":"5"`, "", five), "state m", NeedsMigrate},
		{doc(five, `,"default":"5"`, five, seven), "state r", NeedsMigrate},
	} {
		changes, err := Compare(before, c.after)
		if err != nil {
			t.Fatal(err)
		}
		if len(changes) == 0 && c.want == "" {
			continue
		}
		if len(changes) != 1 || changes[0].Where != c.where || changes[0].Verdict != c.want {
			t.Errorf("%s: want %s %s, got %v", c.after, c.where, c.want, changes)
		}
		if c.want == Timers && (changes[0].Handler != "f" || changes[0].Argument != "a") {
			t.Errorf("%+v", changes[0])
		}
	}
	if changes, err := Compare(doc(five, "", "", five), doc(five, `,"default":"5"`, five, five)); err != nil || len(changes) != 0 {
		t.Errorf("the first default: %v %v", changes, err)
	}
}
