package typo

import (
	"slices"
	"strings"
)

// Limits of the search for a mistyped name.
const (
	maxName    = 64 // bytes: longer names are not typos
	maxNearest = 3  // names suggested
	leastName  = 3  // bytes: shorter names are all near to each other
)

// Nearest returns the names that a person may have meant: those that begin so, otherwise those
// with the fewest letters wrong, missing or too many.
func Nearest(word string, known []string) []string {
	if len(word) < leastName || len(word) > maxName {
		return nil
	}
	most := 1 // more letters to change make another word
	if len(word) > 5 {
		most = 2
	}
	var best []string
	least := most
	for _, name := range known {
		if len(name) < leastName || len(name) > maxName || name == word || slices.Contains(best, name) {
			continue
		}
		d := Distance(strings.ToLower(word), strings.ToLower(name))
		if strings.HasPrefix(name, word) {
			d = 0
		}
		if d < least {
			best, least = nil, d
		}
		if d == least {
			best = append(best, name)
		}
	}
	return best[:min(len(best), maxNearest)]
}

// Suggestion asks at the end of a message for the name that may have been meant; "" for none.
func Suggestion(word string, known []string) string {
	if best := Nearest(word, known); len(best) > 0 {
		return "; did you mean " + strings.Join(best, " or ") + "?"
	}
	return ""
}
