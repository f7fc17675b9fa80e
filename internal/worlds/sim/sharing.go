package sim

import (
	"bytes"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/trie"
)

// maxShared is how many tables a world remembers the making of: some blocks'
// worth of all tables of a store.
const maxShared = 64

// sharedTrees remembers the latest changes of disks' tables. Validators that agree
// write the same to equal tables, and one making of a table that never changes
// serves them all.
type sharedTrees struct {
	made [maxShared]making
	next int
}

type making struct {
	from, to *trie.Tree
	changes  []trie.Change
}

// putChanges returns a table with changes made. It copies the changes if it keeps them.
func (s *sharedTrees) putChanges(from *trie.Tree, changes []trie.Change) *trie.Tree {
	for i := range s.made {
		if m := &s.made[i]; m.from == from && equalChanges(m.changes, changes) {
			return m.to
		}
	}
	to := from.Put(changes)
	s.made[s.next] = making{from, to, slices.Clone(changes)}
	s.next = (s.next + 1) % maxShared
	return to
}

// Limits of shared records of logs.
const (
	maxSharedRecords  = 64      // how many a world remembers: those of the bodies of some blocks
	leastSharedRecord = 4 << 10 // bytes; of shorter ones each log has its own
)

// sharedRecords remembers the long records that were written last, so that the logs
// of a hundred validators hold the body of a block once.
type sharedRecords struct {
	written [maxSharedRecords][]byte
	next    int
}

// shareRecord returns a record of the same bytes, which must not change.
func (s *sharedRecords) shareRecord(record []byte) []byte {
	if len(record) < leastSharedRecord {
		return record
	}
	for _, known := range s.written {
		if bytes.Equal(known, record) {
			return known
		}
	}
	s.written[s.next] = record
	s.next = (s.next + 1) % maxSharedRecords
	return record
}

func equalChanges(a, b []trie.Change) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i].Key, b[i].Key) || !bytes.Equal(a[i].Value, b[i].Value) || (a[i].Value == nil) != (b[i].Value == nil) {
			return false
		}
	}
	return true
}
