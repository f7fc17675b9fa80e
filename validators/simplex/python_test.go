package simplex

import (
	"strings"
	"testing"
)

// What a peer says of its Python is shown to an operator: short, and nothing that moves a terminal.
func TestAPythonIsAShortPrintableWord(t *testing.T) {
	for _, said := range []struct {
		version string
		isFine  bool
	}{
		{"", true}, {"3.11.7", true}, {strings.Repeat("3", MaxPythonBytes), true},
		{strings.Repeat("3", MaxPythonBytes+1), false}, {"3.11\x1b[2J", false}, {"3 11", false}, {"3.11\u202e", false}, {"\xff", false},
	} {
		for _, message := range []Message{&LifeRequest{Python: said.version}, &LifeAnswer{Python: said.version}} {
			if _, err := Check(1, nil, nil, message); (err == nil) != said.isFine {
				t.Errorf("%T of %q: %v", message, said.version, err)
			}
		}
	}
}
