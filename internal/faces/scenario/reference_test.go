package scenario

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

const (
	page  = "../../../docs/SCENARIOS.md"
	begin = "<!-- reference: go test ./internal/faces/scenario -run Reference -write -->\n"
	end   = "<!-- end of reference -->"
)

var rewrite = flag.Bool("write", false, "write the reference into docs/SCENARIOS.md")

// The page has the builtins' own descriptions. After a change:
//
//	go test ./internal/faces/scenario -run Reference -write
func TestTheReferenceIsThatOfTheBuiltins(t *testing.T) {
	holds(t, begin, end, "\n"+reference()+"\n", "Reference")
}

// The page lists every scenario of the library with its two lines. After a change:
//
//	go test ./internal/faces/scenario -run Library -write
func TestThePageListsTheLibrary(t *testing.T) {
	scripts, err := filepath.Glob("../../../fixtures/scenarios/*.star")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scenarios: %v", err)
	}
	var list strings.Builder
	for _, path := range scripts { // sorted
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		fmt.Fprintf(&list, "- **[%s](../fixtures/scenarios/%s)**", name, name)
		for i, line := range strings.SplitN(string(data), "\n", 3)[:2] {
			text, comment := strings.CutPrefix(line, "# ")
			if !comment || !strings.HasSuffix(text, ".") {
				t.Errorf("%s does not begin with two lines, each a comment and a sentence", name)
			}
			fmt.Fprintf(&list, "%s\n  %s", []string{"  ", ""}[i], text)
		}
		list.WriteString("\n")
	}
	holds(t, "<!-- library: go test ./internal/faces/scenario -run Library -write -->\n", "<!-- end of library -->", list.String(), "Library")
}

// holds wants text between two markers of the page, or writes it there.
func holds(t *testing.T, begin, end, want, run string) {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	have, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks the markers %s", page, begin)
	}
	switch {
	case have == want:
	case *rewrite:
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the code says; run go test ./internal/faces/scenario -run %s -write", page, run)
	}
}

// Everything a script can call is documented, and nothing twice.
func TestEveryBuiltinIsDocumentedOnce(t *testing.T) {
	for _, verbs := range [][]*verb{tables().global, tables().network, tables().validator, tables().runner, tables().job} {
		seen := map[string]bool{}
		for _, v := range verbs {
			if seen[v.name] {
				t.Errorf("%s is twice in its table", v.name)
			}
			seen[v.name] = true
			if !strings.HasSuffix(v.doc, ".") || v.do == nil {
				t.Errorf("%s: %q", v.name, v.doc)
			}
		}
	}
}

// Every argument of a fault's verb can be given, and makes an order of that verb.
func TestEveryFaultCanBeOrdered(t *testing.T) {
	for _, v := range fault.Verbs() {
		for _, a := range v.Takes {
			if faultArguments[a].read == nil || faultArguments[a].signature == "" {
				t.Errorf("%s takes an argument that no script can give", v.Name)
			}
		}
		all := tables()
		for whose, verbs := range map[fault.Whose][]*verb{0: all.network, fault.Validators: all.validator, fault.Runners: all.runner} {
			if v.OfNode() == (whose != 0) && (whose == 0 || v.Of.Has(whose)) && findVerb(verbs, v.Name) == nil {
				t.Errorf("scripts do not have %s of %s", v.Name, whose)
			}
		}
	}
}
