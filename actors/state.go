package actors

import (
	"bytes"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/trie"
)

// State is the writes of a block in the making over the tree before it. It is
// for one goroutine. Keys and values that it is given or gives belong to it.
type State struct {
	base    *trie.Tree
	writes  map[string][]byte // nil: deleted
	journal []undo
	order   [256]*keyOrder // the order of writes, by a key's first byte; nil: none
}

// undo restores one key of writes.
type undo struct {
	key   string
	value []byte
	known bool // writes had the key
}

// keyOrder sorts the written keys for a scan. It may hold keys that a revert has
// taken out of writes.
type keyOrder struct {
	sorted []string
	fresh  []string
}

// NewState returns a state that equals base.
func NewState(base *trie.Tree) *State {
	return &State{base: base, writes: map[string][]byte{}}
}

// Get returns the value of key, or nil.
func (s *State) Get(key []byte) []byte {
	if value, known := s.writes[string(key)]; known {
		return value
	}
	value, found := s.base.Get(key)
	if found && value == nil {
		return []byte{}
	}
	return value
}

// Set writes a value, or deletes the key where value is nil. The key is not
// empty.
func (s *State) Set(key, value []byte) {
	name := string(key)
	old, known := s.writes[name]
	if len(s.journal) == cap(s.journal) {
		s.journal = slices.Grow(s.journal, len(s.journal)+1)
	}
	s.journal = append(s.journal, undo{name, old, known})
	s.writes[name] = value
	if !known {
		order := s.order[key[0]]
		if order == nil {
			order = &keyOrder{}
			s.order[key[0]] = order
		}
		order.fresh = append(order.fresh, name)
	}
}

// Snapshot marks the state as it is now, for Revert.
func (s *State) Snapshot() int { return len(s.journal) }

// Revert undoes every write since the snapshot.
func (s *State) Revert(snapshot int) {
	for i := len(s.journal) - 1; i >= snapshot; i-- {
		u := &s.journal[i]
		if u.known {
			s.writes[u.key] = u.value
		} else {
			delete(s.writes, u.key)
		}
	}
	s.journal = s.journal[:snapshot]
}

// Scan calls each for every key in [from, to), in order, until it returns
// false; a nil to means the end. each must not write.
func (s *State) Scan(from, to []byte, each func(key, value []byte) bool) {
	written := s.writtenKeys(from, to)
	more := true
	// before hands out what was written at keys below bound, and reports
	// whether bound itself was written.
	before := func(bound []byte) (same bool) {
		for len(written) > 0 && more {
			order := -1
			if bound != nil {
				order = bytes.Compare([]byte(written[0]), bound)
			}
			if order > 0 {
				return false
			}
			if value := s.writes[written[0]]; value != nil {
				more = each([]byte(written[0]), value)
			}
			written = written[1:]
			if order == 0 {
				return true
			}
		}
		return false
	}
	s.base.Scan(from, to, func(key, value []byte) bool {
		if !before(key) && more {
			more = each(key, value)
		}
		return more
	})
	if more {
		before(nil)
	}
}

// Balance returns how many more of the keys in [from, to) that count asks for there
// are now than in the base.
func (s *State) Balance(from, to []byte, count func(key []byte) bool) (n int64) {
	for _, name := range s.writtenKeys(from, to) {
		key := []byte(name)
		if !count(key) {
			continue
		}
		if s.writes[name] != nil {
			n++
		}
		if _, had := s.base.Get(key); had {
			n--
		}
	}
	return n
}

// writtenKeys returns the keys of writes in [from, to), sorted.
func (s *State) writtenKeys(from, to []byte) (keys []string) {
	first, last := 0, 255
	if len(from) > 0 {
		first = int(from[0])
	}
	if len(to) > 0 {
		last = int(to[0])
	}
	for i := first; i <= last; i++ {
		if s.order[i] == nil {
			continue
		}
		for _, key := range s.order[i].keysFrom(string(from)) {
			if to != nil && key >= string(to) {
				break
			}
			if _, known := s.writes[key]; known {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// keysFrom returns the sorted keys that are not below bound.
func (o *keyOrder) keysFrom(bound string) []string {
	if len(o.fresh) > 0 {
		slices.Sort(o.fresh)
		o.sorted = unionOfSorted(o.sorted, o.fresh)
		o.fresh = nil
	}
	at, _ := slices.BinarySearch(o.sorted, bound)
	return o.sorted[at:]
}

// unionOfSorted returns the union of two sorted lists, each key once.
func unionOfSorted(a, b []string) []string {
	union := make([]string, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		var key string
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			key, a = a[0], a[1:]
		} else {
			key, b = b[0], b[1:]
		}
		if len(union) == 0 || union[len(union)-1] != key {
			union = append(union, key)
		}
	}
	return union
}

// Seal returns the tree with all writes, and the changes that lead to it from
// the base, by key, none of them without effect.
func (s *State) Seal() (*trie.Tree, []trie.Change) {
	keys := make([]string, 0, len(s.writes))
	for key := range s.writes { // order: sorted below
		keys = append(keys, key)
	}
	slices.Sort(keys)
	changes := make([]trie.Change, 0, len(keys))
	for _, key := range keys {
		value := s.writes[key]
		old, found := s.base.Get([]byte(key))
		if value == nil && !found || value != nil && found && bytes.Equal(old, value) {
			continue
		}
		changes = append(changes, trie.Change{Key: []byte(key), Value: value})
	}
	return s.base.Put(changes), changes
}
