package page

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// words returns the quoted words of a list in a file of the page.
func words(t *testing.T, file, list, of string) []string {
	t.Helper()
	text, err := fs.ReadFile(files, "assets/"+file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "const "+list+" = {")
	table, _, _ := strings.Cut(rest, "};")
	_, rest, _ = strings.Cut(table, of+": [")
	row, _, found := strings.Cut(rest, "]")
	if !found {
		t.Fatalf("%s has no %s of %s", file, list, of)
	}
	return regexp.MustCompile(`\w+`).FindAllString(row, -1)
}

// The page offers the ways to misbehave, and the roles, of the table of faults, and no others.
func TestThePageOffersWhatTheTableOfFaultsHas(t *testing.T) {
	for of, kind := range map[string]fault.Whose{"validator": fault.Validators, "runner": fault.Runners} {
		for list, want := range map[string][]string{"LIES": fault.KindsOf(kind), "ROLES": fault.RolesOf(kind)} {
			got := words(t, "faults.js", list, of)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s of a %s are\n%q, want\n%q", list, of, got, want)
			}
		}
	}
}
