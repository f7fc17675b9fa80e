package params

import (
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/typo"
)

// Limits of the search for a mistyped key.
const (
	maxKeyBytes = 64 // longer keys are not typos
	maxNearest  = 3  // keys named
	maxTypos    = 4  // letters wrong, missing or too many
)

// nearestKeys returns the keys a person may have meant: those that end like it,
// then those few letters away, the nearest first.
func nearestKeys(key string) []string {
	type candidate struct {
		key   string
		typos int
	}
	var candidates []candidate
	_, name, found := strings.Cut(key, ".")
	if !found {
		name = key
	}
	for _, e := range readEntries() {
		known := e.Key
		_, knownName, _ := strings.Cut(known, ".")
		typos := min(typo.Distance(key, known), 1+typo.Distance(name, knownName))
		if typos <= maxTypos && typos < len(name) {
			candidates = append(candidates, candidate{known, typos})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return a.typos - b.typos })
	var keys []string
	for _, c := range candidates[:min(len(candidates), maxNearest)] {
		keys = append(keys, c.key)
	}
	return keys
}
