// Package bolt is env.Store in a bbolt file: finalized state and what is derived
// from finalized blocks.
//
// One Commit is one transaction. bbolt never writes over a page that is in use.
// After any end of the process, the file thus has the last Commit or the one before
// it, even without syncing.
//
// Each value has a checksum. Open reads the whole file, its trees and its values,
// before bbolt does, and refuses damage with a *store.DamagedError. Every read of a value that was damaged later panics too.
//
// A Scan's callback must not use the store: a reader inside a reader can wait
// for a Commit that waits for the outer one.
package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
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
	path    string
	db      *bbolt.DB
	damaged atomic.Pointer[store.DamagedError] // what a read or a commit met
}

var _ env.Store = (*Store)(nil)

// Open opens or makes the file at path.
func Open(path string, durability store.Durability) (*Store, error) {
	made, err := inspectFile(path)
	if err != nil {
		return nil, err
	}
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
	if made && durability == store.Disk {
		if err := store.SyncDir(filepath.Dir(path)); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return &Store{path: path, db: db}, nil
}

// inspectFile verifies the file at path; made says that there is none yet. A file
// that another process writes is not looked at: Open waits for that, and refuses.
func inspectFile(path string) (made bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("bolt: open: %w", err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		return false, nil
	}
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("bolt: open: %w", err)
	}
	if info.Size() == 0 {
		return true, nil
	}
	if detail := verifyFile(f, info.Size(), checkValue); detail != "" {
		return false, &store.DamagedError{Path: path, Detail: detail}
	}
	return false, nil
}

// sumBytes is what a value's checksum takes, before the value.
const sumBytes = 4

// sumOf returns the checksum of a value with its place.
func sumOf[B ~string | ~[]byte](bucket B, key, value []byte) uint32 {
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // which package crc32 makes once
	sum := ^uint32(0)                               // of the head, byte by byte: it is short, and would have to be put together
	for i := range len(bucket) {
		sum = sumByte(castagnoli, sum, bucket[i])
	}
	for _, b := range [...]byte{byte(len(bucket)), byte(len(key)), byte(len(key) >> 8)} {
		sum = sumByte(castagnoli, sum, b)
	}
	return crc32.Update(crc32.Update(^sum, castagnoli, key), castagnoli, value)
}

// sumByte is a step of the checksum, before its last inversion.
func sumByte(table *crc32.Table, sum uint32, b byte) uint32 { return table[byte(sum)^b] ^ sum>>8 }

func checkValue[B ~string | ~[]byte](bucket B, key, stored []byte) error {
	if len(stored) < sumBytes || binary.LittleEndian.Uint32(stored) != sumOf(bucket, key, stored[sumBytes:]) {
		return fmt.Errorf("the value of key %x in %q is not what was written", key, bucket)
	}
	return nil
}

// guardDamage turns bbolt's reaction to damage, a panic or a fault in the file's mapping,
// into a *store.DamagedError; after that the store takes no more. A panic of the
// caller's own code, while outside is true, propagates.
func (s *Store) guardDamage(outside *bool, do func() error) (err error) {
	if damaged := s.damaged.Load(); damaged != nil {
		return damaged
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if value := recover(); value != nil {
			if *outside {
				panic(value)
			}
			s.damaged.CompareAndSwap(nil, &store.DamagedError{Path: s.path, Detail: fmt.Sprint(value)})
			err = s.damaged.Load()
		}
	}()
	return do()
}

// Commit applies all writes, in order, or none. A bucket appears with its first
// put. Keys are 1 to 32,768 bytes.
func (s *Store) Commit(writes []env.Write) error {
	if len(writes) == 0 {
		return nil
	}
	err := s.guardDamage(new(bool), func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			buckets, room := map[env.Bucket]*bbolt.Bucket{}, make([]byte, 0, storedBytes(writes))
			for i := range writes {
				if err := applyWrite(tx, buckets, &writes[i], &room); err != nil {
					return fmt.Errorf("write %d (bucket %q, key of %d bytes): %w", i, writes[i].Bucket, len(writes[i].Key), err)
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("bolt: commit to %s: %w", s.path, err)
	}
	return nil
}

// storedBytes is what the values take with their checksums.
func storedBytes(writes []env.Write) (n int) {
	for i := range writes {
		if writes[i].Value != nil {
			n += sumBytes + len(writes[i].Value)
		}
	}
	return n
}

// applyWrite makes one write; buckets remembers those of the transaction, and room is for
// the values, which bbolt reads until that ends.
func applyWrite(tx *bbolt.Tx, buckets map[env.Bucket]*bbolt.Bucket, w *env.Write, room *[]byte) error {
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
		if last, _ := b.Cursor().Last(); bytes.Compare(w.Key, last) > 0 {
			b.FillPercent = 1 // most of what follows is appended too: no page of it will be split
		}
		buckets[w.Bucket] = b
	}
	if w.Value == nil {
		return b.Delete(w.Key)
	}
	from := len(*room)
	*room = append(binary.LittleEndian.AppendUint32(*room, sumOf(w.Bucket, w.Key, w.Value)), w.Value...)
	return b.Put(w.Key, (*room)[from:len(*room):len(*room)])
}

// Get returns a copy of the value, or nil if there is none; an empty value is not
// nil.
func (s *Store) Get(b env.Bucket, key []byte) (value []byte, err error) {
	err = s.viewBucket(b, new(bool), func(bucket *bbolt.Bucket) error {
		v := bucket.Get(key)
		if v == nil {
			return nil
		}
		if err := checkValue(b, key, v); err != nil {
			return err
		}
		value = append([]byte{}, v[sumBytes:]...)
		return nil
	})
	return value, err
}

// Scan calls each for the keys in [from, to) in order, or backwards, until it
// returns false. It sees the store as of its beginning.
func (s *Store) Scan(b env.Bucket, from, to []byte, backwards bool, each func(key, value []byte) bool) error {
	outside := false
	return s.viewBucket(b, &outside, func(bucket *bbolt.Bucket) (err error) {
		checked := func(key, stored []byte) bool {
			if err = checkValue(b, key, stored); err != nil {
				return false
			}
			outside = true
			more := each(key, stored[sumBytes:])
			outside = false
			return more
		}
		if backwards {
			scanDown(bucket.Cursor(), from, to, checked)
		} else {
			scanUp(bucket.Cursor(), from, to, checked)
		}
		return err
	})
}

// viewBucket reads a bucket, if there is one; outside belongs to guard.
func (s *Store) viewBucket(b env.Bucket, outside *bool, read func(*bbolt.Bucket) error) error {
	var damage error
	err := s.guardDamage(outside, func() error {
		return s.db.View(func(tx *bbolt.Tx) error {
			if bucket := tx.Bucket([]byte(b)); bucket != nil {
				damage = read(bucket)
			}
			return nil
		})
	})
	if damage != nil {
		return &store.DamagedError{Path: s.path, Detail: damage.Error()}
	}
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
