// Package mem is env.Store and env.Log in memory, for a network that leaves no
// files (`up --ephemeral`) and for tests. Their content ends with them.
package mem

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// ErrClosed is the error of a closed store or log.
var ErrClosed = errors.New("mem: closed")

// Store keeps every bucket as a sorted table. It is safe for concurrent use.
// Readers wait while a Commit is applied, and a Commit waits for a Scan, so a
// Scan's callback must not use the store.
type Store struct {
	mu      sync.RWMutex
	buckets map[env.Bucket]*table // nil once closed
}

var _ env.Store = (*Store)(nil)

// NewStore returns an empty store.
func NewStore() *Store { return &Store{buckets: map[env.Bucket]*table{}} }

// Commit applies all writes, in order, or none. Keys and values are copied.
func (s *Store) Commit(writes []env.Write) error {
	for i, w := range writes {
		if err := store.CheckKey(w.Key); err != nil {
			return fmt.Errorf("mem: commit: write %d (bucket %q, key of %d bytes): %w", i, w.Bucket, len(w.Key), err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buckets == nil {
		return ErrClosed
	}
	for _, w := range writes {
		t := s.buckets[w.Bucket]
		if t == nil {
			t = &table{}
			s.buckets[w.Bucket] = t
		}
		if w.Value == nil {
			t.removeKey(string(w.Key))
			continue
		}
		t.putValue(string(w.Key), append([]byte{}, w.Value...))
	}
	return nil
}

// Get returns a copy of the value, or nil if there is none; an empty value is not
// nil.
func (s *Store) Get(b env.Bucket, key []byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.buckets == nil {
		return nil, ErrClosed
	}
	value, ok := s.findOrAddTable(b).getValue(string(key))
	if !ok {
		return nil, nil
	}
	return append([]byte{}, value...), nil
}

// Scan calls each for the keys in [from, to) in order, or backwards, until it
// returns false.
func (s *Store) Scan(b env.Bucket, from, to []byte, backwards bool, each func(key, value []byte) bool) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.buckets == nil {
		return ErrClosed
	}
	t := s.findOrAddTable(b)
	low, high := t.seekKey(string(from)), t.endPlace()
	if to != nil {
		high = t.seekKey(string(to))
	}
	if backwards {
		for at, ok := t.placeBefore(high); ok && !at.isBefore(low); at, ok = t.placeBefore(at) {
			if e := t.entryAt(at); !each([]byte(e.key), e.value) {
				break
			}
		}
		return nil
	}
	for at := low; at.isBefore(high); at = t.placeAfter(at) {
		if e := t.entryAt(at); !each([]byte(e.key), e.value) {
			break
		}
	}
	return nil
}

var empty = &table{}

func (s *Store) findOrAddTable(b env.Bucket) *table {
	if t := s.buckets[b]; t != nil {
		return t
	}
	return empty
}

// Close lets everything go.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buckets = nil
	return nil
}
