package scenario

import (
	"flag"
	"os"
	"strings"
	"testing"
)

const (
	page  = "../../docs/SCENARIOS.md"
	begin = "<!-- reference: go test ./internal/scenario -run Reference -write -->\n"
	end   = "<!-- end of reference -->"
)

var rewrite = flag.Bool("write", false, "write the reference into docs/SCENARIOS.md")

// The page holds what the builtins say of themselves. After a change:
//
//	go test ./internal/scenario -run Reference -write
func TestTheReferenceIsThatOfTheBuiltins(t *testing.T) {
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	have, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s lacks the markers of the reference", page)
	}
	want := "\n" + Reference() + "\n"
	switch {
	case have == want:
	case *rewrite:
		if err := os.WriteFile(page, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has another reference than the builtins; run go test ./internal/scenario -run Reference -write", page)
	}
}

// Everything a script can call is documented, and nothing twice.
func TestEveryBuiltinIsDocumentedOnce(t *testing.T) {
	for _, verbs := range [][]*verb{globalVerbs, networkVerbs, validatorVerbs} {
		seen := map[string]bool{}
		for _, v := range verbs {
			if seen[v.name] {
				t.Errorf("%s stands twice in its table", v.name)
			}
			seen[v.name] = true
			if !strings.HasSuffix(v.doc, ".") || v.do == nil {
				t.Errorf("%s: %q", v.name, v.doc)
			}
		}
	}
}
