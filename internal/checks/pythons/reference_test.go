package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/checks/pythons/stated"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// few and many are the checks against CPython of make test and of make soak.
const few, many = 2000, 100_000

// firstInstalled is one of this machine's interpreters.
func firstInstalled(t *testing.T) string {
	t.Helper()
	paths := pyhost.Installed()
	if len(paths) == 0 {
		needed.Python(t, &pyhost.MissingError{})
	}
	return paths[0]
}

// Decision C22: an allowed operation gives CPython's value, or is refused loudly.
func TestC22AnAllowedOperationDiffersNowhereInSilence(t *testing.T) {
	found, err := judgeSequences(firstInstalled(t), newSequences(22, few))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found.silent {
		t.Error(s)
	}
	if found.equal < few || len(found.refused) < 5 {
		t.Errorf("the checks reach too little:\n%s", found)
	}
}

// Decision C22: the same over a hundred thousand checks on every interpreter of this machine.
func TestC22SoakAllowedOperations(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("DEVNET_SOAK=1 runs it")
	}
	for _, path := range pyhost.Installed() {
		found, err := judgeSequences(path, newSequences(40, many))
		if err != nil {
			t.Fatal(err)
		}
		t.Log(found)
		for _, s := range found.silent {
			t.Error(s)
		}
	}
}

// A difference is told, whatever both sides are, and only a known one is not.
func TestAVerdictTellsDifferences(t *testing.T) {
	for _, c := range []struct {
		what, want, got string
		is              outcome
	}{
		{"one value", "int 1", "int 1", same},
		{"another value", "int 1", "int 2", different},
		{"another type", "int 1", "bool True", different},
		{"a value for an error", "! TypeError: x", "int 1", different},
		{"another error", "! KeyError: 1", "! IndexError: no such index", different},
		{"the same error with other words", "! KeyError: 1", "! KeyError: 'a'", same},
		{"an error for a value", "int 1", "! TypeError: not for values of these types", refused},
		{"a refusal for another error", "! ZeroDivisionError: division by zero",
			"! TypeError: / makes a float: use // for integers", refused},
		{"no text", "<map object at 0x7f0000000000>", "! TypeError: iterator has no text that all nodes share", unbounded},
		{"no memory", "! MemoryError: ", "list [1]", unbounded},
		{"an OrderedDict", "OrderedDict([('a', 1)])", "OrderedDict({'a': 1})", known},
		{"an OrderedDict of other values", "OrderedDict([('a', 1)])", "OrderedDict([('a', 2)])", different},
		{"the words of an error", "NameError(\"name 'x' is not defined\")", "NameError('the name x is not defined')", known},
		{"the words of another error", "NameError(\"name 'x' is not defined\")", "KeyError('the name x is not defined')", different},
		{"another text", "str 'a'", "str 'b'", different},
	} {
		if how, _ := verdictOf(stated.Seen{Value: "q", Steps: []string{"step"}, Minor: "3.11", Want: c.want, Got: c.got}); how != c.is {
			t.Errorf("%s: the verdict is %d, want %d", c.what, how, c.is)
		}
	}
}

// A host that answers otherwise is found out: the check is of what it says.
func TestAChangedAnswerIsFoundOut(t *testing.T) {
	c := sequence{value: "[1]", steps: []string{"q.pop()"}}
	found := &tally{version: "3.11.7"}
	found.compareCheck(c, []string{"made", "int 1", "[]"}, []string{"made", "int 1", "[1]"})
	if len(found.silent) != 1 || !strings.Contains(found.silent[0], "q.pop()") {
		t.Errorf("%q", found.silent)
	}
}

// Every name of the grammar that is a place has alternatives, and each kind has steps.
func TestTheGrammarIsWhole(t *testing.T) {
	for _, kind := range kinds {
		names := strings.Fields(kind)
		if len(grammar[names[0]]) == 0 {
			t.Errorf("the kind %s has no values", names[0])
		}
		for _, steps := range names[1:] {
			if len(grammar["steps:"+steps]) == 0 {
				t.Errorf("%s has no steps %s", names[0], steps)
			}
		}
	}
}

// The parameters of what actors may call are CPython's, but for those of the table that ACTORS.md prints.
func TestC22ParametersAreCPythonsOrListed(t *testing.T) {
	out, err := exec.Command(firstInstalled(t), "-I", "-S", "-B", "signatures.py", "../../../python-host").Output()
	if err != nil {
		t.Fatal(err)
	}
	told, seen, ok := strings.Cut(string(out), "\n\t")
	if !ok || len(strings.TrimSpace(seen)) < 3 {
		t.Fatalf("hundreds of functions are asked, and %q are told", seen)
	}
	if *rewrite {
		if err := os.WriteFile("stated/signatures.txt", []byte(told+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var listed strings.Builder
	for _, s := range stated.Signatures() {
		listed.WriteString(s[0] + "\t" + s[1] + "\n")
	}
	if told+"\n" != listed.String() {
		t.Errorf("parameters are\n%s\nand stated/signatures.txt has\n%s"+
			"-rewrite writes it again, and go test ./docs -update prints it", told, listed.String())
	}
}

// The tree on which a pattern's cycles are counted is our own, and the same that each Python reads (C20).
func TestC20PatternsAreReadAsPythonReadsThem(t *testing.T) {
	many := "5000"
	if os.Getenv("DEVNET_SOAK") != "" {
		many = "500000"
	}
	firstInstalled(t)
	for _, python := range pyhost.Installed() {
		out, err := exec.Command(python, "-I", "-S", "-B", "patterns.py", "../../../python-host", many, "20").CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", python, err, out)
		}
	}
}
