package scenario

import (
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/typo"
)

// Limits of the search for a mistyped name.
const (
	maxNearest = 3 // names offered
	maxTypos   = 3 // letters wrong, missing, swapped or too many
)

// suggestNames offers the known names closest to an unknown one: "; did you mean run?", or
// "" if none is close.
func suggestNames(name string, known []string) string {
	near := nearestNames(name, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

func nearestNames(name string, known []string) []string {
	type candidate struct {
		name  string
		typos int
	}
	var found []candidate
	for _, k := range known {
		typos := typo.Distance(strings.ToLower(name), strings.ToLower(k))
		if len(name) >= 3 && (strings.HasPrefix(k, name) || strings.HasPrefix(name, k) && len(k) >= 3) {
			typos = min(typos, 1)
		}
		if typos <= maxTypos && 2*typos <= max(len(name), 2) {
			found = append(found, candidate{k, typos})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		if a.typos != b.typos {
			return a.typos - b.typos
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, c := range found[:min(len(found), maxNearest)] {
		if c.typos <= found[0].typos+1 {
			out = append(out, c.name)
		}
	}
	return out
}
