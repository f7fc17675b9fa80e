package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/pyhost"
)

// ownDifferences are the lines of testdata/own.txt: tests of CPython's that see another thing in the host, by reason. "any"
// stands for what chance decides.
func ownDifferences(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/own.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all
}

// judgeInstalled judges modules of CPython's tests on an interpreter; nil where they are not installed.
func judgeInstalled(t *testing.T, path string, modules []string) *ownTally {
	t.Helper()
	found, err := judgeOwnTests(path, t.TempDir(), modules)
	if err != nil {
		t.Fatal(err)
	}
	if found == nil {
		t.Logf("%s has no package test: CPython's own tests are not run (apt-get install libpython3-testsuite, or pyenv's)", path)
		return nil
	}
	t.Log(found)
	known := ownDifferences(t)
	for i, line := range found.different {
		test, _, _ := strings.Cut(line, ": ")
		if !slices.Contains(known, line) && !slices.Contains(known, test+": any") {
			t.Errorf("%s\n%s", line, found.where[i])
		}
	}
	return found
}

// Decision C22: CPython's own tests see in the host what they see in CPython, or a refusal. One module stands for all.
func TestC22CPythonsOwnTestsOfHeaps(t *testing.T) {
	if found := judgeInstalled(t, firstInstalled(t), []string{"test_heapq"}); found != nil && found.equal < 100 {
		t.Errorf("the checks reach too little:\n%s", found)
	}
}

// Decision C22: the same of JSON, whose tests ask a module that they imported once more.
func TestC22CPythonsOwnTestsOfJSON(t *testing.T) {
	modules := []string{"test_json.test_decode", "test_json.test_unicode", "test_json.test_separators"}
	if found := judgeInstalled(t, firstInstalled(t), modules); found != nil && found.equal < 40 {
		t.Errorf("the checks reach too little:\n%s", found)
	}
}

// Decision C22: the same of all modules that concern what actors may use, on every interpreter of this machine.
func TestC22SoakCPythonsOwnTests(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("DEVNET_SOAK=1 runs it")
	}
	for _, path := range pyhost.Installed() {
		judgeInstalled(t, path, ownModules)
	}
}

// A value that differs is told, with its test; an error of a name that a refused unit makes is none.
func TestADifferenceOfAnOwnTestIsFoundOut(t *testing.T) {
	test := &ownTest{Test: "test_x.X.test_y", Units: []ownUnit{{Text: "first"}, {Text: "second"}}, isCut: true}
	for _, c := range []struct {
		what         string
		wanted, told []string
		at           int
		isWhole      bool
		different    string
	}{
		{"equal", []string{"0|int 1", "1|int 2"}, []string{"0|int 1", "1|int 2"}, 0, true, ""},
		{"another value", []string{"0|int 1", "1|int 2"}, []string{"0|int 1", "1|int 3"}, 1, false,
			`test_x.X.test_y: CPython "int 2", host "int 3"`},
		{"another error", []string{"0|! KeyError: 1"}, []string{"0|! IndexError: no such index"}, 0, false,
			`test_x.X.test_y: CPython KeyError, host IndexError`},
		{"another way", []string{"0|int 1", "1|int 2"}, []string{"0|int 1", "0|int 2"}, 0, false,
			`test_x.X.test_y: CPython "nothing", host "int 2"`},
		{"an error of a unit that tells nothing", []string{"1|int 2"}, []string{"0|! TypeError: / makes a float: use //", "1|int 2"}, 0,
			false, ""},
		{"nothing", []string{"0|int 1"}, nil, 0, false, `test_x.X.test_y: CPython "int 1", host "nothing"`},
		{"a refusal", []string{"0|int 1"}, []string{"0|! TypeError: / makes a float: use // for integers"}, 0, false, ""},
		{"a unit of more than one entry, whose name is not there", []string{"0|int 1", "0|int 2", "1|int 3"},
			[]string{"0|! NameError: x", "1|int 3"}, 0, true, ""},
		{"a name that is not there", []string{"0|! NameError: name 'x' is not defined"}, []string{"0|! TypeError: x"}, 0, true, ""},
	} {
		found := &ownTally{version: "3.11.7", refused: map[string]int{}, known: map[string]int{}}
		at, isWhole := found.compareTest(test, c.wanted, c.told)
		if at != c.at || isWhole != c.isWhole || strings.Join(found.different, "\n") != c.different {
			t.Errorf("%s: unit %d, whole %v, %q", c.what, at, isWhole, found.different)
		}
	}
}
