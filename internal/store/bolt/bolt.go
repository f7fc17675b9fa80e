// Package bolt is env.Store in a bbolt file: finalized state and what is derived
// from finalized blocks.
//
// One Commit is one transaction. bbolt never writes over a page that is in use,
// so whatever ends the process leaves the last Commit or the one before it,
// also where nothing is synced.
//
// A Scan's callback must not use the store: a reader inside a reader can wait
// for a Commit that waits for the outer one.
package bolt

import (
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/cowboyinc/devnet/internal/env"
	"github.com/cowboyinc/devnet/internal/store"
)

// lockTimeout is how long Open waits for a process that is about to end.
const lockTimeout = 500 * time.Millisecond

// mapBytes is the address space a file is mapped to at first: below that size a
// Commit never waits for readers. It takes no memory.
const mapBytes = 256 << 20

// ErrLocked says that another process has the file open.
var ErrLocked = errors.New("bolt: another process has the file open")

// Store is a bbolt file. It is safe for concurrent use.
type Store struct {
	path string
	db   *bbolt.DB
}

var _ env.Store = (*Store)(nil)

// Open opens or makes the file at path.
func Open(path string, durability store.Durability) (*Store, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:         lockTimeout,
		FreelistType:    bbolt.FreelistMapType,
		NoFreelistSync:  true, // it is found again when the file is opened
		NoSync:          durability == store.Process,
		NoGrowSync:      durability == store.Process,
		InitialMmapSize: mapBytes,
	})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%w: %s; stop the devnet that runs on this home, or use another", ErrLocked, path)
	}
	if err != nil {
		return nil, fmt.Errorf("bolt: open %s: %w", path, err)
	}
	return &Store{path, db}, nil
}

// Commit applies all writes, in order, or none. A bucket appears with its first
// put. Keys are 1 to 32,768 bytes.
func (s *Store) Commit(writes []env.Write) error {
	if len(writes) == 0 {
		return nil
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		buckets := map[env.Bucket]*bbolt.Bucket{}
		for i := range writes {
			if err := apply(tx, buckets, &writes[i]); err != nil {
				return fmt.Errorf("write %d (bucket %q, key of %d bytes): %w", i, writes[i].Bucket, len(writes[i].Key), err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("bolt: commit to %s: %w", s.path, err)
	}
	return nil
}

// apply makes one write; buckets remembers those of the transaction.
func apply(tx *bbolt.Tx, buckets map[env.Bucket]*bbolt.Bucket, w *env.Write) error {
	if err := store.CheckKey(w.Key); err != nil {
		return err
	}
	b := buckets[w.Bucket]
	if b == nil {
		if b = tx.Bucket([]byte(w.Bucket)); b == nil && w.Value == nil {
			return nil
		}
		if b == nil {
			var err error
			if b, err = tx.CreateBucket([]byte(w.Bucket)); err != nil {
				return err
			}
		}
		buckets[w.Bucket] = b
	}
	if w.Value == nil {
		return b.Delete(w.Key)
	}
	return b.Put(w.Key, w.Value)
}

// Get returns a copy of the value, or nil where there is none; an empty value
// is not nil.
func (s *Store) Get(b env.Bucket, key []byte) (value []byte, err error) {
	err = s.view(b, func(bucket *bbolt.Bucket) {
		if v := bucket.Get(key); v != nil {
			value = append([]byte{}, v...)
		}
	})
	return value, err
}

// Scan calls each for the keys in [from, to) in order, or backwards, until it
// returns false. It sees the store as of its beginning.
func (s *Store) Scan(b env.Bucket, from, to []byte, backwards bool, each func(key, value []byte) bool) error {
	return s.view(b, func(bucket *bbolt.Bucket) {
		if backwards {
			scanDown(bucket.Cursor(), from, to, each)
		} else {
			scanUp(bucket.Cursor(), from, to, each)
		}
	})
}

// view reads a bucket, if there is one.
func (s *Store) view(b env.Bucket, read func(*bbolt.Bucket)) error {
	err := s.db.View(func(tx *bbolt.Tx) error {
		if bucket := tx.Bucket([]byte(b)); bucket != nil {
			read(bucket)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("bolt: read %s: %w", s.path, err)
	}
	return nil
}

func scanUp(c *bbolt.Cursor, from, to []byte, each func(key, value []byte) bool) {
	for k, v := c.Seek(from); k != nil && (to == nil || string(k) < string(to)); k, v = c.Next() {
		if !each(k, v) {
			return
		}
	}
}

func scanDown(c *bbolt.Cursor, from, to []byte, each func(key, value []byte) bool) {
	var k, v []byte
	switch {
	case to == nil:
		k, v = c.Last()
	default:
		if k, _ = c.Seek(to); k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
	}
	for ; k != nil && string(k) >= string(from); k, v = c.Prev() {
		if !each(k, v) {
			return
		}
	}
}

// Close lets the file go, when its readers are done.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("bolt: close %s: %w", s.path, err)
	}
	return nil
}
