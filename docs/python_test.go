package docs

import (
	"os"
	"regexp"
	"testing"

	"github.com/cowboyinc/devnet/internal/checks/pythons/stated"
)

var notAsInPython = regexp.MustCompile(`(?s)(<!-- not as in python: go test ./docs -update -->\n).*?(<!-- end of not as in python -->\n)`)

// The section of ACTORS.md is what the comparison with CPython knows.
func TestWhatIsNotAsInPythonIsPrinted(t *testing.T) {
	data, err := os.ReadFile("ACTORS.md")
	if err != nil {
		t.Fatal(err)
	}
	if !notAsInPython.Match(data) {
		t.Fatal("ACTORS.md has no section of what is not as in Python")
	}
	written := notAsInPython.ReplaceAllString(string(data), "${1}"+regexp.MustCompile(`\$`).ReplaceAllString(stated.Markdown(), "$$$$")+"${2}")
	if written == string(data) {
		return
	}
	if !*update {
		t.Fatal("ACTORS.md does not print what is not as in Python: go test ./docs -update")
	}
	if err := os.WriteFile("ACTORS.md", []byte(written), 0o644); err != nil {
		t.Fatal(err)
	}
}
