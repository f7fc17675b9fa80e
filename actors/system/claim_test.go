package system

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

func text(s string) *string { return &s }

// agreed are the positions of the results that agree with one another. The first byte of a
// member's address is its position.
func agreed(mode push.Verification, format push.DataFormat, results ...string) (positions []int) {
	s := &push.JobSpec{Verification: mode, ResultSchema: push.ResultSchema{DataFormat: format}}
	j := &Job{Terms: Terms{Mode: mode.Mode}}
	for _, check := range mode.Checks {
		if check.Tolerance != nil {
			j.Terms.Tolerances = append(j.Terms.Tolerances, check.Tolerance.Permille)
		}
	}
	for i, result := range results {
		j.Committee = append(j.Committee, Member{Runner: types.Address{byte(i)}, RevealedAt: 1, Claim: claimOf(s, []byte(result))})
	}
	group, _ := j.agreeingMembers()
	for _, m := range group {
		positions = append(positions, int(m.Runner[0]))
	}
	slices.Sort(positions)
	return positions
}

// J5: the six modes, and formats, by the parts of results that they compare.
func TestJ5Modes(t *testing.T) {
	match := func(checks ...push.Check) push.Verification {
		return push.Verification{Mode: push.StructuredMatch, Checks: checks}
	}
	pointers := func(p ...string) *[]string { return &p }
	vote := push.Verification{Mode: push.MajorityVote, Field: text("/answer")}
	near := match(push.Check{Tolerance: &push.Tolerance{Pointer: "/n", Permille: 100}})
	for name, c := range map[string]struct {
		mode    push.Verification
		format  push.DataFormat
		results []string
		want    []int
	}{
		"one result":           {push.Verification{Mode: push.None}, push.FormatBytes, []string{"\xff"}, []int{0}},
		"a bond is one result": {push.Verification{Mode: push.EconomicBond}, push.FormatText, []string{"x"}, []int{0}},
		"invalid text":         {push.Verification{Mode: push.None}, push.FormatText, []string{"\xff"}, nil},
		"invalid json":         {push.Verification{Mode: push.None}, push.FormatJSON, []string{"{"}, nil},
		"bytes that are equal": {push.Verification{Mode: push.Deterministic}, push.FormatBytes, []string{"a", "b", "b"}, []int{1, 2}},
		"a tie is the lowest lot's": {push.Verification{Mode: push.Deterministic}, push.FormatBytes, []string{"b", "a", "b", "a"},
			[]int{1, 3}},
		"a field alone":               {vote, push.FormatJSON, []string{`{"answer":1,"x":2}`, `{"answer":2}`, `{"x":5,"answer":1.0e0}`}, []int{0, 2}},
		"a field that is missing":     {vote, push.FormatJSON, []string{`{"x":1}`, `{"x":1}`, `{"answer":null}`}, []int{2}},
		"the whole without a field":   {push.Verification{Mode: push.MajorityVote}, push.FormatBytes, []string{"1", "1.0", "1"}, []int{0, 2}},
		"equal fields":                {match(push.Check{Equal: pointers("/a", "/b/0")}), push.FormatJSON, []string{`{"a":"x","b":[1]}`, `{"b":[1,7],"a":"x"}`, `{"a":"x","b":[2]}`}, []int{0, 1}},
		"equal fields, one missing":   {match(push.Check{Equal: pointers("/a")}), push.FormatJSON, []string{`{}`, `{}`}, nil},
		"a tenth apart":               {near, push.FormatJSON, []string{`{"n":100}`, `{"n":90}`, `{"n":80}`}, []int{0, 1}},
		"of either sign":              {near, push.FormatJSON, []string{`{"n":-100}`, `{"n":100}`, `{"n":-90.0}`}, []int{0, 2}},
		"near zero only zero is near": {near, push.FormatJSON, []string{`{"n":0}`, `{"n":1e-9}`, `{"n":0.0}`}, []int{0, 2}},
		"no number is near none":      {near, push.FormatJSON, []string{`{"n":"1"}`, `{"n":1}`}, []int{1}},
		"a range, both ends": {match(push.Check{Range: &push.Range{Pointer: "", Min: 2, Max: 4}}, push.Check{Equal: pointers()}),
			push.FormatJSON, []string{"2", "4.0", "4.01", "1.999"}, []int{0, 1}},
		"a schema": {match(push.Check{Schema: text(`{"type":"object","required":["a"],"properties":{"a":{"type":"integer","minimum":3}},"additionalProperties":false}`)}), push.FormatJSON, []string{`{"a":3}`, `{"a":2}`, `{"a":3,"b":1}`, `{}`, `{"a":4}`, `[3]`}, []int{0, 4}},
		"similar words": {push.Verification{Mode: push.SemanticSimilarity}, push.FormatText,
			[]string{"The quick brown fox jumps over the lazy dog today.", "the quick brown fox jumps over the lazy dog, today",
				"Prices of wheat fell sharply in the north last week"}, []int{0, 1}},
		"similarity applies to text": {push.Verification{Mode: push.SemanticSimilarity}, push.FormatBytes, []string{"a b c", "\xff\xfe", "a b c"},
			[]int{0, 2}},
	} {
		if got := agreed(c.mode, c.format, c.results...); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A result is JSON in one reading or in none.
func TestJSONIsReadInOneWay(t *testing.T) {
	for _, bad := range []string{"", " ", "{", `{"a":1,"a":2}`, `{"a":1,}`, "[1,]", "01", "1.", ".5", "+1", "1e", "nul", "1 2", `"\x"`, `"\ud800"`, `"\udc00\ud800"`, "\"\n\"",
		`"`, `"\`, `"\u12`, "NaN", "Infinity", strings.Repeat("[", 40) + strings.Repeat("]", 40), "\xff", "'a'", "[1}",
		`{1:2}`, "-"} {
		if v, err := parseJSON([]byte(bad)); err == nil {
			t.Errorf("%q is read as %+v", bad, v)
		}
	}
	for _, same := range [][]string{{"1", "1.0", "10e-1", " 1 "}, {"0", "-0", "0.00e5"}, {`"é"`, `"\u00e9"`}, {`"😀"`, `"\ud83d\ude00"`},
		{`{"a":1,"b":[]}`, `{ "b" : [ ] , "a" : 1e0 }`}, {"12300", "1.23e4"}, {"[true,false,null]", "[ true , false , null ]"}} {
		first, err := parseJSON([]byte(same[0]))
		if err != nil {
			t.Fatal(same[0], err)
		}
		for _, other := range same[1:] {
			if v, err := parseJSON([]byte(other)); err != nil || v.hashOf() != first.hashOf() {
				t.Errorf("%s and %s differ: %v", same[0], other, err)
			}
		}
	}
	for _, apart := range [][2]string{{"1", `"1"`}, {"[]", "{}"}, {"[1,2]", "[12]"}, {`["a","b"]`, `["ab"]`}, {"null", "false"}, {`{"a":1}`, `{"a":-1}`}, {"1", "10"}} {
		a, _ := parseJSON([]byte(apart[0]))
		b, _ := parseJSON([]byte(apart[1]))
		if a.hashOf() == b.hashOf() {
			t.Errorf("%s and %s are one", apart[0], apart[1])
		}
	}
}

// Numbers of up to 256 bits are read, whatever zeros they have. Longer ones are not.
func TestJSONNumbersHaveAtMost256Bits(t *testing.T) {
	most := "115792089237316195423570985008687907853269984665640564039457584007913129639935" // 2^256 - 1
	for _, read := range []string{most, "-" + most, most + "e78", most + "e-78", "1e78", "0." + strings.Repeat("0", 77) + "1",
		"1" + strings.Repeat("0", 100)} {
		if v, err := parseJSON([]byte(read)); err != nil || v.exceedsLimits() {
			t.Errorf("%s is not read: %v", read, err)
		}
	}
	over := "115792089237316195423570985008687907853269984665640564039457584007913129639937" // 2^256 + 1
	for _, unread := range []string{over, "1e79", "1e-79", "1e99999999", strings.Repeat("9", 79), "0." + strings.Repeat("0", 160) + "1"} {
		if v, err := parseJSON([]byte("[" + unread + "]")); err != nil || !v.exceedsLimits() || !v.items[0].exceedsLimits() {
			t.Errorf("%s is read as %+v: %v", unread, v, err)
		}
	}
}

// J19: results that are equal byte for byte agree, or their job fails by their fault. Only
// numbers that a check reads have to fit.
func TestJ19EqualResultsNeverDisagree(t *testing.T) {
	most := "115792089237316195423570985008687907853269984665640564039457584007913129639935"
	vote := push.Verification{Mode: push.MajorityVote, Field: text("/price")}
	near := push.Verification{Mode: push.StructuredMatch, Checks: []push.Check{{Tolerance: &push.Tolerance{Pointer: "/price", Permille: 1}}}}
	equal := push.Verification{Mode: push.StructuredMatch, Checks: []push.Check{{Equal: &[]string{"/price"}}}}
	schema := push.Verification{Mode: push.StructuredMatch, Checks: []push.Check{
		{Schema: text(`{"properties":{"price":{"type":"integer","maximum":5}}}`)}}}
	exact := push.Verification{Mode: push.Deterministic}
	deep := strings.Repeat("[", 33) + strings.Repeat("]", 33)
	for _, test := range []struct {
		mode          push.Verification
		result, fault string
	}{
		{vote, `{"price": 1, "balance": ` + most + `}`, ""},
		{vote, `{"price": ` + most + `}`, ""},
		{vote, `{"price": 1, "x": 1e-700}`, ""},
		{vote, `{"price": 1, "x": ` + most + `0}`, ""},
		{vote, `{"price": [` + most + `1]}`, faultNumber},
		{vote, `{"price": 1, "x": ` + deep + `}`, faultJSON},
		{vote, `{"prise": 1}`, faultMissing},
		{near, `{"price": ` + most + `, "x": 1e99}`, ""},
		{near, `{"price": 1e79}`, faultNumber},
		{near, `{"price": "1"}`, faultMissing},
		{equal, `{"price": {"a": 1e79}}`, faultNumber},
		{equal, `{"price": ` + most + `, "x": 1e99}`, ""},
		{schema, `{"price": 5, "x": 1e99}`, ""},
		{schema, `{"price": 1e79}`, faultCheck},
		{exact, `{"price": 1e99}`, ""},
		{exact, `{"price": ` + deep + `}`, faultJSON},
	} {
		s := &push.JobSpec{Verification: test.mode, ResultSchema: push.ResultSchema{DataFormat: push.FormatJSON}}
		j := &Job{Terms: Terms{Mode: test.mode.Mode, Threshold: 2, Tolerances: []uint64{1}}}
		for i := range 3 {
			j.Committee = append(j.Committee, Member{Runner: types.Address{byte(i)}, RevealedAt: 1, Claim: claimOf(s, []byte(test.result))})
		}
		group, _ := j.agreeingMembers()
		if got := j.Committee[0].Claim.Fault; got != test.fault {
			t.Errorf("%s: the fault is %q, want %q", test.result, got, test.fault)
		}
		if test.fault == "" && len(group) != 3 {
			t.Errorf("%s: %d of 3 agree", test.result, len(group))
		}
		if code := j.whyIncomplete(len(group)); test.fault != "" && (code != ErrorInvalidResults || j.Why != "3 of 3, the first is "+test.fault) {
			t.Errorf("%s: the job fails by %s: %s", test.result, code, j.Why)
		}
	}
}

// RFC 6901's own examples.
func TestPointersAreThoseOfRFC6901(t *testing.T) {
	v, err := parseJSON([]byte(`{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"~1":9}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{"/foo/0": `"bar"`, "/": "0", "/a~1b": "1", "/m~0n": "8", "/~01": "9"} {
		expected, _ := parseJSON([]byte(want))
		if got := v.valueAtPointer(pointer); got == nil || got.hashOf() != expected.hashOf() {
			t.Errorf("%s leads to %+v", pointer, got)
		}
	}
	for _, nowhere := range []string{"/foo/2", "/foo/00", "/foo/-", "/x", "/foo/0/0"} {
		if v.valueAtPointer(nowhere) != nil {
			t.Errorf("%s leads somewhere", nowhere)
		}
	}
}

// A claim has one encoding, whatever a result says, and never panics.
func FuzzClaim(f *testing.F) {
	for _, seed := range []string{`{"n":1.5e3,"a":["x"]}`, "words and words", "\xff", `{"n":-0.001}`, `"\ud83d\ude00"`} {
		f.Add([]byte(seed))
	}
	pointers := []string{"/a", ""}
	modes := []push.Verification{{Mode: push.Deterministic}, {Mode: push.MajorityVote, Field: text("/a")}, {Mode: push.SemanticSimilarity},
		{Mode: push.StructuredMatch, Checks: []push.Check{{Equal: &pointers}, {Tolerance: &push.Tolerance{Pointer: "/n", Permille: 10}},
			{Range: &push.Range{Pointer: "/n", Max: 5}}, {Schema: text(`{"properties":{"a":{"items":{"maxLength":2}}}}`)}}}}
	f.Fuzz(func(t *testing.T, result []byte) {
		for _, mode := range modes {
			s := &push.JobSpec{Verification: mode}
			terms := Terms{Mode: mode.Mode, Tolerances: []uint64{10}}
			claim := claimOf(s, bytes.Clone(result))
			if claim.Valid() != terms.doAgree(&claim, &claim) {
				t.Fatalf("%s: %q is valid %t, and that it agrees with itself is not", mode.Mode, result, claim.Valid())
			}
		}
	})
}

// FuzzSchema: what is read as a schema judges any value.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":["object","null"],"enum":[1],"items":{"minItems":1}}`, `[1]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := parseSchema(text)
		v, wrong := parseJSON([]byte(value))
		if err == nil && wrong == nil {
			s.allowsValue(&v)
		}
	})
}

// Numbers survive their way through state, and nearness is symmetric.
func TestNumbersKeepTheirValueInState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) jsonDecimal {
			written := fmt.Sprintf("%d.%de%d", rapid.Int64().Draw(t, name), rapid.Uint32().Draw(t, name), rapid.IntRange(-64, 64).Draw(t, name))
			v, err := parseJSON([]byte(written))
			if err != nil {
				t.Fatal(written, err)
			}
			return v.number
		}
		x, y := draw("x"), draw("y")
		a, b := numberOf(x), numberOf(y)
		if a.asDecimal().compareTo(x) != 0 || a.asDecimal().compareTo(y) != x.compareTo(y) {
			t.Fatal("a number is another in state")
		}
		permilles := rapid.Uint64Range(0, 1000).Draw(t, "permille")
		if differByAtMost(&a, &b, permilles) != differByAtMost(&b, &a, permilles) || !differByAtMost(&a, &a, 0) {
			t.Fatal("nearness has a direction")
		}
	})
}

// listed is a JSON list of n equal items.
func listed(item string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

// judging is how much is allocated to make a claim: what the work is measured by here.
func judging(result string, checks ...push.Check) float64 {
	spec := &push.JobSpec{Verification: push.Verification{Mode: push.StructuredMatch, Checks: checks},
		ResultSchema: push.ResultSchema{DataFormat: push.FormatJSON}}
	return testing.AllocsPerRun(1, func() {
		if claim := claimOf(spec, []byte(result)); !claim.Valid() {
			panic("a fitting result is not a claim")
		}
	})
}

// A spec may have 256 KiB and a result as much. Were the one gone through for each value
// of the other, one job would keep every validator busy for hours.
func TestASchemaIsNotGoneThroughForEachValue(t *testing.T) {
	work := func(n int) float64 {
		enum := strings.TrimSuffix(listed("0", n), "]") + ",1]"
		return judging(listed("1", n), push.Check{Schema: text(`{"items":{"enum":` + enum + `}}`)})
	}
	if small, large := work(200), work(400); large > 2.5*small {
		t.Errorf("twice the values and twice the enum take %.0f allocations, and half of them %.0f", large, small)
	}
	s, err := parseSchema(`{"required":` + listed(`"a"`, 1000) + `,"type":` + strings.Replace(listed(`"null"`, 1000), "null", "object", 1) + `}`)
	if err != nil || len(s.required) != 1 || len(s.kinds) != 2 {
		t.Errorf("a result given a thousand times is read %d and %d times: %v", len(s.required), len(s.kinds), err)
	}
}

// 16 checks may name 16 pointers each, and all of them the whole result.
func TestAValueIsHashedOnceWhereManyPointersLeadToIt(t *testing.T) {
	result := listed("[1]", 200)
	one, many := []string{""}, make([]string, maxPointers)
	if once, often := judging(result, push.Check{Equal: &one}), judging(result, push.Check{Equal: &many}); often > once+maxPointers {
		t.Errorf("one pointer takes %.0f allocations, and %d to the same value %.0f", once, maxPointers, often)
	}
}

// J19: the sketch of a text of one word is the word's 256 bits: FNV-1a, from which the reference
// splitmix64 draws four little-endian words. It is in state, so its bits are consensus.
func TestJ19TheSketchOfOneWordIsItsBits(t *testing.T) {
	for _, word := range []string{"fox", "über", "42"} {
		hash := fnv.New64a()
		hash.Write([]byte(word))
		var want types.Hash
		for i, x := 0, hash.Sum64(); i < 4; i++ {
			x += 0x9e3779b97f4a7c15
			z := x
			z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
			z = (z ^ (z >> 27)) * 0x94d049bb133111eb
			binary.LittleEndian.PutUint64(want[8*i:], z^(z>>31))
		}
		if got := simhashOf([]byte("  " + word + ", ")); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
