// Package log is env.Log in a file: votes and block bodies, appended before
// they leave the node (decision C5).
//
// A record carries a checksum. Remains of the last Append before a crash are cut
// off and reported at the next reading. Any other difference is an error that names
// the place, for a forgotten vote may be contradicted.
//
// Invariants: when Append returns nil its records survive as the durability
// promises. A failed Append may have left anything, so the log is poisoned and
// takes no more until it is opened again. Rewrite leaves either the old or the new
// content. One process at a time has the file.
//
// The last Append itself, damaged after it was written whole, cannot be told
// from one that a crash interrupted: that takes a disk that loses what was
// synced.
package log

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Errors by phase. Open:
var (
	ErrLocked = errors.New("log: another process has the file open")
	ErrFormat = errors.New("log: not a log of this version")
)

// Replay:
var ErrDamaged = errors.New("log: the file is damaged")

// Append and Rewrite:
var (
	ErrTooLong  = errors.New("log: too many bytes at once")
	ErrPoisoned = errors.New("log: an earlier write failed")
	ErrClosed   = errors.New("log: closed")
)

// Log is an append-only file of records. It is safe for concurrent use.
type Log struct {
	path       string
	durability store.Durability

	mu       sync.Mutex
	file     file
	size     int64 // of the file as far as it is known to be good
	replayed bool  // size is known: no torn tail is left
	cut      int64 // bytes of a torn tail that were cut off
	failed   error // of the write that poisoned the log
	buf      []byte
}

// file is the part of an os.File that the log needs; tests replace it by failing
// ones.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Fd() uintptr
	Stat() (os.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

var _ env.Log = (*Log)(nil)

// Open opens or makes the log at path. It does not read the records.
func Open(path string, durability store.Durability) (*Log, error) {
	f, err := openWithLock(path)
	if err != nil {
		return nil, err
	}
	l := &Log{path: path, durability: durability, file: f}
	if err := l.checkHeader(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := os.Remove(l.rewritePath()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("log: remove what an interrupted rewrite left: %w", err), f.Close())
	}
	return l, nil
}

// openWithLock opens path and takes its lock. A rewrite may replace the file in
// between; then the lock locks no log.
func openWithLock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("log: open: %w", err)
		}
		if err := lockFile(f, path); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		opened, err := f.Stat()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("log: open %s: %w", path, err), f.Close())
		}
		if named, err := os.Stat(path); err == nil && os.SameFile(opened, named) {
			return f, nil
		}
		f.Close()
	}
}

func lockFile(f *os.File, path string) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%w: %s; stop the devnet that runs on this home, or use another", ErrLocked, path)
	}
	if err != nil {
		return fmt.Errorf("log: lock %s: %w", path, err)
	}
	return nil
}

// checkHeader reads the header, or writes it where the file is new or a crash
// left only a part of it.
func (l *Log) checkHeader() error {
	want := fileHeader()
	have := make([]byte, len(want))
	n, err := l.file.ReadAt(have, 0)
	if err != nil && err != io.EOF {
		return fmt.Errorf("log: read %s: %w", l.path, err)
	}
	switch {
	case string(have[:n]) == string(want):
		return nil
	case string(have[:n]) != string(want[:n]):
		return fmt.Errorf("%w: %s begins with %x, version %d with %x", ErrFormat, l.path, have[:n], version, want)
	}
	if _, err := l.file.WriteAt(want, 0); err != nil {
		return fmt.Errorf("log: write the header of %s: %w", l.path, err)
	}
	return l.syncFile(l.file, l.path, true)
}

// syncFile makes what was written to the file at a path survive what is promised; naming is true
// where the directory changed too.
func (l *Log) syncFile(f file, path string, naming bool) error {
	if l.durability != store.Disk {
		return nil
	}
	if err := store.SyncFile(f, path); err != nil {
		return fmt.Errorf("log: sync %s: %w", path, err)
	}
	if !naming {
		return nil
	}
	if err := store.SyncDir(filepath.Dir(l.path)); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	return nil
}

// Size is the bytes the log takes, header included; before the first Replay or
// Append a torn tail counts.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.replayed || l.file == nil {
		return l.size
	}
	info, err := l.file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// Cut is the bytes of a torn tail that Replay cut off, 0 for none.
func (l *Log) Cut() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// Close lets the file go. Nothing is lost: what was appended is written.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	// A process that is being forked holds the file, and with it the lock, until it
	// executes its program.
	err := errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
	l.file, l.buf = nil, nil
	if err != nil {
		return fmt.Errorf("log: close %s: %w", l.path, err)
	}
	return nil
}

func (l *Log) rewritePath() string { return l.path + ".new" }
