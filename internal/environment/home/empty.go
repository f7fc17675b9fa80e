package home

import "os"

// AreEmpty reports whether a node has both files, and nothing in either: a power cut may leave of files their names.
func (n Node) AreEmpty() bool {
	for _, path := range []string{n.Votes, n.State} {
		if info, err := os.Stat(path); err != nil || info.Size() > 0 {
			return false
		}
	}
	return true
}
