package nodetext

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

func TestRowsOfNamesAreToldByTheirEnds(t *testing.T) {
	for want, names := range map[string][]string{
		"":                    nil,
		"r0":                  {"r0"},
		"r0 to r3":            {"r0", "r1", "r2", "r3"},
		"r0, r2 to r3":        {"r0", "r2", "r3"},
		"r0 to r1, r9 to r11": {"r0", "r1", "r9", "r10", "r11"},
		"median, r0, x":       {"median", "r0", "x"},
	} {
		if got := nameRanges(names); got != want {
			t.Errorf("%v: %q, not %q", names, got, want)
		}
	}
}

// Whoever answers for itself alone says of the others whether they run, as far as it
// knows.
func TestValidatorsElsewhereHaveAState(t *testing.T) {
	var out bytes.Buffer
	PrintValidators(&out, []model.Validator{{Name: "v0", Status: "active", Running: true},
		{Name: "v1", Status: "active", Running: true, Elsewhere: true},
		{Name: "v2", Status: "active", Elsewhere: true}})
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{"NODE", " running ", " running ", " not connected "} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("%q is not in %q", want, lines[i])
		}
	}
}
