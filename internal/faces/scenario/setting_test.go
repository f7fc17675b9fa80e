package scenario

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// scripted is a script in a folder of its own.
func scripted(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.star")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestASettingIsThatFromOutsideOrTheDefault(t *testing.T) {
	path := scripted(t, `
print(setting("gain", 8), setting("lag", 0.5), setting("rule", "median"), setting("on", True), setting("off", False))
print(setting("gain", 8) + 1)
`)
	for _, c := range []struct {
		given []Setting
		want  string
		read  []Setting
	}{
		{nil, "8 0.5 median True False\n9\n",
			[]Setting{{Name: "gain", Text: "8"}, {Name: "lag", Text: "0.5"}, {Name: "rule", Text: "median"}, {Name: "on", Text: "true"},
				{Name: "off", Text: "false"}}},
		{[]Setting{{Name: "off", Text: "True"}, {Name: "gain", Text: "-010"}, {Name: "rule", Text: ""}, {Name: "lag", Text: "1e3"}},
			"-10 1000.0  True True\n-9\n",
			[]Setting{{Name: "gain", Text: "-10"}, {Name: "lag", Text: "1000"}, {Name: "rule", Text: ""}, {Name: "on", Text: "true"},
				{Name: "off", Text: "true"}}},
	} {
		var out bytes.Buffer
		report, err := Run(path, Options{Settings: c.given, Out: &out})
		if err != nil || out.String() != c.want {
			t.Errorf("%v: %q, %v, want %q", c.given, out.String(), err, c.want)
		}
		if !reflect.DeepEqual(report.Settings, c.read) {
			t.Errorf("it read %v, want %v", report.Settings, c.read)
		}
	}
}

func TestAWrongSettingIsAMistakeOfTheRun(t *testing.T) {
	for text, want := range map[string]string{
		`setting("gain", None)`:                         `the default of "gain" is a whole number, a number, a string, True or False; got NoneType`,
		`setting("lag", 8); setting("lag", 9)`:          `the default of "lag" was 8 before; got 9`,
		`setting("lag", 1); setting("lag", 1.0)`:        `the default of "lag" was 1 before; got 1.0`,
		`setting("", 8)`:                                `a name has 1 to 64 letters`,
		`setting("a b", 8)`:                             `a name has 1 to 64 letters`,
		`setting("a=b", 8)`:                             `a name has 1 to 64 letters`,
		`setting("seed", 8)`:                            `"seed" is a column of the results`,
		`[setting("n%d" % i, i) for i in range(65)]`:    `at most 64 names; "n64" is one more`,
		`name = "gain"; setting(name, 8)`:               `--set gain=many: gain takes a whole number, as its default 8 is`,
		`name = "gain"; setting(name, 8.5)`:             `--set gain=many: gain takes a number, as its default 8.5 is`,
		`name = "gain"; setting(name, default = False)`: `--set gain=many: gain takes true or false, as its default False is`,
	} {
		_, err := Run(scripted(t, text), Options{Settings: []Setting{{Name: "gain", Text: "many"}}})
		var wrong *Mistake
		if !errors.As(err, &wrong) || !strings.Contains(wrong.What, want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// What a script has written out is judged before it runs, and the rest is left to its runs.
func TestSettingsAreJudgedBeforeAnyRun(t *testing.T) {
	plain := scripted(t, `gain, lag = setting("gain", 8), setting(default = 0.5, name = "lag")`)
	none, computed := scripted(t, `print("on")`), scripted(t, `[setting("g%d" % i, i) for i in range(2)]`)
	aliased := scripted(t, `s = setting; print(s("gain", 8))`)
	for _, c := range []struct {
		paths []string
		given Setting
		want  string
	}{
		{[]string{plain}, Setting{Name: "gain", Text: "9"}, ""},
		{[]string{plain}, Setting{Name: "gian", Text: "9"}, "no script reads the setting gian; did you mean gain?"},
		{[]string{plain}, Setting{Name: "temperature", Text: "9"}, "no script reads the setting temperature; the settings are gain, lag"},
		{[]string{none}, Setting{Name: "gain", Text: "9"}, `no script reads the setting gain; a script reads one by setting("gain", default)`},
		{[]string{none, plain}, Setting{Name: "gain", Text: "9"}, ""},
		{[]string{plain}, Setting{Name: "gain", Text: "9.5"}, "--set gain=9.5: gain takes a whole number, as its default 8 is"},
		{[]string{plain}, Setting{Name: "lag", Text: "9"}, ""},
		{[]string{plain}, Setting{Name: "lag", Text: "inf"}, "--set lag=inf: lag takes a number, as its default 0.5 is"},
		{[]string{plain}, Setting{Name: "a b", Text: "9"}, `--set: a name has 1 to 64 letters, digits, _, . and -; got "a b"`},
		{[]string{computed}, Setting{Name: "g1", Text: "9"}, ""},
		{[]string{aliased}, Setting{Name: "gain", Text: "9"}, ""},
	} {
		err := CheckSettings(c.paths, []Setting{c.given})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.given, err, c.want)
		}
	}
}

func TestASeriesHasOneFigureAHeight(t *testing.T) {
	report, err := Run(scripted(t, `
[measure("fee", h * 10, unit = "wei", at = h) for h in [3, 4, 4, 7]]
measure("fee", 5, unit = "wei", at = 7)
`), Options{})
	if err != nil || len(report.Measures) != 1 {
		t.Fatal(report.Measures, err)
	}
	m := report.Measures[0]
	if !reflect.DeepEqual(m.Samples, []float64{30, 40, 5}) || len(m.At) != 3 || m.At[0] != 3 || m.At[1] != 4 || m.At[2] != 7 {
		t.Errorf("%v at %v", m.Samples, m.At)
	}
	for text, want := range map[string]string{
		`measure("a", 1, at = 2); measure("a", 1, at = 1)`:     `"a" has a figure at height 2, and this one is at 1`,
		`measure("a", 1, at = 2); measure("a", 1)`:             `"a" has samples with and without at`,
		`measure("a", 1); measure("a", 1, at = 2)`:             `"a" has samples with and without at`,
		`measure("a", [1, 2], at = 2)`:                         `with at "a" takes one number a height; got a list`,
		`[measure("a", 1, at = h) for h in range(10001)]`:      `at most 10000 samples`,
		`[measure("a", 1, at = 9) for h in range(20000)]`:      ``,
		`measure("a", 1, at = -1)`:                             `is a block's height`,
		`measure("a", 1, unit = "s", at = 1); measure("a", 1)`: `the unit of "a" was "s" before`,
	} {
		_, err := Run(scripted(t, text), Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
