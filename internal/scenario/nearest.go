package scenario

import (
	"slices"
	"strings"
)

// Limits of the search for a mistyped name.
const (
	maxNearest = 3 // names offered
	maxTypos   = 3 // letters wrong, missing, swapped or too many
)

// meant offers the names that are nearest to one that is not there: "; did you
// mean run?", or "" where none is near.
func meant(name string, known []string) string {
	near := nearest(name, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(near, " or ") + "?"
}

func nearest(name string, known []string) []string {
	type candidate struct {
		name  string
		typos int
	}
	var found []candidate
	for _, k := range known {
		typos := distance(strings.ToLower(name), strings.ToLower(k))
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

// distance counts the letters to change, insert, delete or swap with their
// neighbour.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
