package typed

import (
	"fmt"
	"strings"
	"testing"
)

// wrap is a schema of one handler with an argument of a type.
func wrap(kind string) string {
	return `{"schema":1,"handlers":[{"name":"f","arguments":[{"name":"a","type":` + kind + `}]}]}`
}

// chained returns n records, each of which has the next one a number of times.
func chained(n, times int) string {
	var all []string
	for i := range n {
		var fields []string
		for j := range times {
			kind := fmt.Sprintf("R%d", i+1)
			if i == n-1 {
				kind = "int"
			}
			fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":%q}`, j, kind))
		}
		all = append(all, fmt.Sprintf(`"R%d":{"record":[%s]}`, i, strings.Join(fields, ",")))
	}
	return `{"schema":1,"types":{` + strings.Join(all, ",") + `},"handlers":[]}`
}

func TestTypedSchemasThatAreNotUnderstoodAreRefusedByName(t *testing.T) {
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	for document, want := range map[string]string{
		`{}`:                                    "schema has version",
		`{"schema":2,"handlers":[]}`:            `version "2": this devnet knows version 1`,
		`{"schema":1}`:                          "handlers is missing",
		`{"schema":1,"handlers":{}}`:            "handlers is not a list",
		`{"schema":1,"handlers":[]}x`:           "text after the end",
		`{"schema":1,"handlers":[],"more":1}`:   "more is not known",
		wrap(`"float"`):                         `"float", which is neither a type`,
		wrap(`{"set":"int"}`):                   "set is a form of type that is not known",
		wrap(`{"optional":{"optional":"int"}}`): "optional twice",
		wrap(`{"dict":["bool","int"]}`):         "the first is str, int, Address or Hash",
		wrap(`{"int":[5,1]}`):                   "the lower first",
		wrap(`{"str":[-1,5]}`):                  "outside the lengths of a text",
		wrap(`{"tuple":[]}`):                    "not a list of 1 to 32",
		wrap(strings.Repeat(`{"list":`, 17) + `"int"` + strings.Repeat("}", 17)):        "nests deeper than 16",
		strings.Replace(wrap(`"int"`), `"name":"a"`, `"name":"_a"`, 1):                  "not a valid name",
		strings.Replace(wrap(`"int"`), `"name":"a"`, `"name":"class"`, 1):               "not a valid name",
		strings.Replace(wrap(`"int"`), `"name":"f"`, `"name":"f() {}"`, 1):              "not a valid name",
		strings.Replace(wrap(`"u8"`), `"type":"u8"`, `"type":"u8","default":256`, 1):    "default is an integer from 0 to 255: this is 256",
		`{"schema":1,"types":{"int":{"record":[]}},"handlers":[]}`:                      "the name of a type that every schema has",
		`{"schema":1,"types":{"A":{"record":[],"enum":[]}},"handlers":[],"b":1}`:        "b is not known",
		`{"schema":1,"types":{"A":{"enum":[]}},"handlers":[]}`:                          "either a record or an enum",
		`{"schema":1,"types":{"A":{"enum":[{"name":"X","value":1.5}]}},"handlers":[]}`:  "not a whole number",
		`{"schema":1,"types":{"A":{"record":[{"name":"a","type":"A"}]}},"handlers":[]}`: "within itself",
		`{"schema":1,"handlers":[],"events":["A"]}`:                                     `"A", which is not a record`,
		chained(17, 1): "nests deeper than 16",
		`{"schema":1,"handlers":[` + many(257, `{"name":"f"}`) + `]}`: "257 entries: at most 256",
		wrap(`"` + strings.Repeat("x", MaxSchemaBytes) + `"`):         "at most 65536 are read",
	} {
		if _, err := Parse([]byte(document)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.120s: %v, and not %s", document, err, want)
		}
	}
}

// Each record is measured once: 64 fields fifteen deep would be 10^27 paths.
func TestTypedSchemasAreReadInTheTimeOfTheirBytes(t *testing.T) {
	document := chained(15, 18)
	if _, err := Parse([]byte(document)); err != nil {
		t.Errorf("%d bytes: %v", len(document), err)
	}
}

// Output is bounded also if defaults make it long.
func TestTypedValuesAreNotWrittenWithoutEnd(t *testing.T) {
	s, err := Parse([]byte(wrap(`{"list":"str"}`)))
	if err != nil {
		t.Fatal(err)
	}
	long := []any{strings.Repeat("x", MaxPayloadBytes), "y"}
	if out, err := s.Encode(s.Handler("f"), map[string]any{"a": long}); err == nil {
		t.Errorf("%d bytes were written", len(out))
	}
}
