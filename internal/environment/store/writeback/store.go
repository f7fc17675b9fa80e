// Package writeback is an env.Store in front of another. Commits gather in memory, where every reader
// sees them at once. Flush writes them in one transaction of the store behind, which takes the last value
// of each key.
//
// What has gathered is lost with the process. Its owner therefore keeps elsewhere what is needed to commit it again: a
// validator has bodies, votes and finalizations in its log before it commits a block, and flushes
// before it cuts the log (decision C5).
package writeback

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/google/btree"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// ErrClosed is the error of a closed store.
var ErrClosed = errors.New("writeback: closed")

// treeDegree is how many children a node of a tree of rows has at most, halved.
const treeDegree = 32

// Store gathers commits for the store behind it. It is safe for concurrent use. A reader
// delays no commit, and a flush only until the reader's transaction has begun.
type Store struct {
	behind env.Store

	flushing sync.Mutex   // held while rows are written to the store behind
	turning  sync.RWMutex // locked to hand gathered rows to a flush; read-locked while a scan begins

	mu       sync.Mutex // guards what follows
	gathered tables     // commits since the last flush
	written  tables     // what a flush writes; nil otherwise
	failure  error      // of a flush: the store takes no more
	closed   bool
}

var _ env.WriteBack = (*Store)(nil)

// tables has the rows of each bucket by key.
type tables map[env.Bucket]*btree.BTreeG[row]

// row is the last value of a key; nil says that the key was deleted. Neither is changed once the row is made.
type row struct{ key, value []byte }

func isLess(a, b row) bool { return string(a.key) < string(b.key) }

// New returns a store in front of behind, which belongs to it from then on.
func New(behind env.Store) *Store { return &Store{behind: behind, gathered: tables{}} }

// Commit gathers all writes, or none. Keys and values are copied.
func (s *Store) Commit(writes []env.Write) error {
	size := 0
	for i := range writes {
		w := &writes[i]
		if err := store.CheckKey(w.Key); err != nil {
			return fmt.Errorf("writeback: commit: write %d (bucket %q, key of %d bytes): %w", i, w.Bucket, len(w.Key), err)
		}
		size += len(w.Key) + len(w.Value)
	}
	room := make([]byte, 0, size)
	copyOf := func(from []byte) []byte {
		begin := len(room)
		room = append(room, from...)
		return room[begin:len(room):len(room)]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkOpen(); err != nil {
		return err
	}
	for i := range writes {
		w := &writes[i]
		changed := row{key: copyOf(w.Key)}
		if w.Value != nil {
			changed.value = copyOf(w.Value)
		}
		s.gathered.treeOf(w.Bucket).ReplaceOrInsert(changed)
	}
	return nil
}

// checkOpen returns why the store takes no commit; mu is held.
func (s *Store) checkOpen() error {
	if s.closed {
		return ErrClosed
	}
	return s.failure
}

func (t tables) treeOf(b env.Bucket) *btree.BTreeG[row] {
	tree := t[b]
	if tree == nil {
		tree = btree.NewG(treeDegree, isLess)
		t[b] = tree
	}
	return tree
}

// findRow returns the row of a key, if the tables have one.
func (t tables) findRow(b env.Bucket, key []byte) (row, bool) {
	if tree := t[b]; tree != nil {
		return tree.Get(row{key: key})
	}
	return row{}, false
}

// Flush writes what has gathered in one transaction of the store behind. An error ends the store: it takes no
// more commits, and what it had gathered stays readable.
func (s *Store) Flush() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	if err := s.handToFlush(); err != nil || s.written == nil {
		return err
	}
	err := s.behind.Commit(s.written.listWrites())
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failure = err
		return err
	}
	s.written = nil
	return nil
}

// handToFlush makes what has gathered what is written. Only who holds flushing writes written, and may read it
// without mu.
func (s *Store) handToFlush() error {
	s.turning.Lock()
	defer s.turning.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkOpen(); err != nil {
		return err
	}
	if len(s.gathered) > 0 {
		s.written, s.gathered = s.gathered, tables{}
	}
	return nil
}

// listWrites returns all rows as writes, by bucket and key, so that the store behind meets each page once.
func (t tables) listWrites() []env.Write {
	names, total := make([]env.Bucket, 0, len(t)), 0
	for name, tree := range t { // order: sorted below
		names = append(names, name)
		total += tree.Len()
	}
	slices.Sort(names)
	all := make([]env.Write, 0, total)
	for _, name := range names {
		t[name].Ascend(func(r row) bool {
			all = append(all, env.Write{Bucket: name, Key: r.key, Value: r.value})
			return true
		})
	}
	return all
}

// Get returns a copy of the value, or nil if there is none; an empty value is not
// nil.
func (s *Store) Get(b env.Bucket, key []byte) ([]byte, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	found, ok := s.gathered.findRow(b, key)
	if !ok {
		found, ok = s.written.findRow(b, key)
	}
	s.mu.Unlock()
	if ok {
		return bytes.Clone(found.value), nil
	}
	// A flush in between is no harm: the store behind then has a value that this key had meanwhile.
	return s.behind.Get(b, key)
}

// Scan calls each for the keys in [from, to) in order, or backwards, until it
// returns false. It sees the store as of its beginning.
func (s *Store) Scan(b env.Bucket, from, to []byte, backwards bool, each func(key, value []byte) bool) error {
	s.turning.RLock()
	release := sync.OnceFunc(s.turning.RUnlock)
	defer release()
	m, err := s.startMerge(b, from, to, backwards, each)
	if err != nil {
		return err
	}
	err = s.behind.Scan(b, from, to, backwards, func(key, value []byte) bool {
		release() // the transaction behind has begun: it sees no later flush
		return m.passUpTo(key, value)
	})
	if err != nil {
		return err
	}
	release()
	m.passAll()
	return nil
}

// startMerge begins a merge of the rows that are in memory now.
func (s *Store) startMerge(b env.Bucket, from, to []byte, backwards bool, each func(key, value []byte) bool) (*merge, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	m := &merge{each: each, direction: 1}
	if backwards {
		m.direction = -1
	}
	for _, t := range []tables{s.gathered, s.written} {
		if tree := t[b]; tree != nil {
			m.newest = append(m.newest, newCursor(tree.Clone(), from, to, backwards))
		}
	}
	return m, nil
}

// Close writes what has gathered, and closes the store behind. The error of an earlier flush was returned by that.
func (s *Store) Close() error {
	s.mu.Lock()
	ended := s.checkOpen() != nil
	s.mu.Unlock()
	if ended {
		return s.closeBoth()
	}
	return errors.Join(s.Flush(), s.closeBoth())
}

// Abandon closes the store behind without what has gathered, as the end of a process does.
func (s *Store) Abandon() error { return s.closeBoth() }

// closeBoth closes both stores.
func (s *Store) closeBoth() error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	s.mu.Lock()
	s.closed, s.gathered, s.written = true, nil, nil
	s.mu.Unlock()
	return s.behind.Close()
}

// merge puts rows that are in memory between those of the store behind.
type merge struct {
	each      func(key, value []byte) bool
	newest    []*cursor // newer rows first
	direction int       // 1 upwards, -1 backwards
	ended     bool      // each wants no more
}

// passUpTo passes the rows in front of a key of the store behind, then the newest row of that key. It
// reports whether more is wanted.
func (m *merge) passUpTo(key, value []byte) bool {
	for !m.ended {
		next := m.firstRow()
		if next == nil {
			break
		}
		order := m.direction * bytes.Compare(next.key, key)
		if order > 0 {
			break
		}
		m.passFirst(next)
		if order == 0 {
			return !m.ended
		}
	}
	if !m.ended && !m.each(key, value) {
		m.ended = true
	}
	return !m.ended
}

// passAll passes the rows behind the last key of the store behind.
func (m *merge) passAll() {
	for next := m.firstRow(); next != nil && !m.ended; next = m.firstRow() {
		m.passFirst(next)
	}
}

// firstRow returns the next row in memory, the newest of its key, or nil.
func (m *merge) firstRow() *row {
	var first *row
	for _, c := range m.newest {
		if r := c.peekRow(); r != nil && (first == nil || m.direction*bytes.Compare(r.key, first.key) < 0) {
			first = r
		}
	}
	return first
}

// passFirst passes a row on unless it is deleted, and leaves all older ones of its key.
func (m *merge) passFirst(r *row) {
	key, value := r.key, r.value
	for _, c := range m.newest {
		if other := c.peekRow(); other != nil && bytes.Equal(other.key, key) {
			c.skipRow()
		}
	}
	if value != nil && !m.each(key, value) {
		m.ended = true
	}
}
