// Package home is the directory in which a network keeps its files, with a version,
// so that no binary continues from files that it would misread.
//
//	home.json            format, the devnet version that made it, chain id, seed, time
//	lock                 held and named by the process that runs on the home
//	run.json             where that process answers; removed when it ends
//	genesis.cbor         the genesis of the chain
//	clock.json           by how much time travel has moved the network's clock
//	logs/NODE.log        what a node logs
//	net                  of a network whose nodes run in processes of their own: the
//	                     folder that devnet init would make of it; then there are
//	                     neither genesis nor nodes beside it
//	nodes/NODE/votes.log votes and block bodies
//	nodes/NODE/state.db  finalized state
//	snapshots/NAME       what Save kept of all that belongs to the chain
//
// Invariants: at most one process has a home open; a directory that is neither
// empty nor a home is never written to; Reset removes what the layout names and
// nothing else, of net all. It leaves snapshots.
package home

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Names of the layout.
const (
	metaFile    = "home.json"
	lockFile    = "lock"
	runFile     = "run.json"
	genesisFile = "genesis.cbor"
	clockFile   = "clock.json"
	logsDir     = "logs"
	nodesDir    = "nodes"
	netDir      = "net"
	votesFile   = "votes.log"
	stateFile   = "state.db"
	logSuffix   = ".log"
	newSuffix   = ".new" // of a file that is being replaced
)

// Want is the opener's requirement on a home, and the description of a new one.
type Want struct {
	Version string    // of this binary, for messages and home.json
	ChainID uint64    // 0: that of the home
	Seed    *uint64   // nil: that of the home
	Now     time.Time // when a new home is created
	Node    string    // that has the home for itself; "": a whole network
	Apart   bool      // each of its nodes runs in a separate process
	// Durability is what its own files and the names of its directories survive.
	Durability store.Durability
}

// Home is an open home directory.
type Home struct {
	Meta Meta
	New  bool // it was made by this Open
	dir  string
	lock *os.File

	durability store.Durability
}

// Open opens the home at dir, or makes it where there is nothing. A user can correct
// these errors: *IncompatibleError, *MismatchError, *OwnerError, *ApartError,
// *InUseError, *ForeignError and *BrokenError.
func Open(dir string, want Want) (*Home, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("home: %w", err)
	}
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	if err := makeDir(dir, want.Durability); err != nil {
		return nil, err
	}
	lock, err := takeLock(dir)
	if err != nil {
		return nil, err
	}
	h := &Home{dir: dir, lock: lock, durability: want.Durability}
	if err := h.prepareFiles(want); err != nil {
		return nil, errors.Join(err, h.releaseLock())
	}
	return h, nil
}

// prepareFiles reads or writes home.json and makes the directories.
func (h *Home) prepareFiles(want Want) error {
	meta, err := ReadMeta(h.dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		meta = Meta{Format: Format, Version: want.Version, ChainID: want.ChainID, Node: want.Node, Apart: want.Apart, Created: want.Now.UTC()}
		if want.Seed != nil {
			meta.Seed = *want.Seed
		}
		if err := h.writeMeta(meta); err != nil {
			return err
		}
		h.New = true
	case err != nil:
		return err
	}
	if err := meta.checkWanted(h.dir, want); err != nil {
		return err
	}
	if meta.Format != Format { // an older binary would execute what follows otherwise
		meta.Format = Format
		if err := h.writeMeta(meta); err != nil {
			return err
		}
	}
	h.Meta = meta
	for _, name := range []string{logsDir, nodesDir} {
		if err := makeDir(filepath.Join(h.dir, name), h.durability); err != nil {
			return err
		}
	}
	return nil
}

// refuseForeign refuses a directory that is neither a home nor empty. Remains of an
// interrupted start count as empty.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("home: %w", err)
	}
	foreign := ""
	for _, e := range entries {
		switch e.Name() {
		case metaFile:
			return nil
		case lockFile, metaFile + newSuffix:
		case snapshotsDir: // which a Reset leaves
			if all, err := Snapshots(dir); err != nil || len(all) == 0 {
				foreign = e.Name()
			}
		default:
			foreign = e.Name()
		}
	}
	if foreign != "" {
		return &ForeignError{Dir: dir, Name: foreign}
	}
	return nil
}

// Limits of waiting for the lock: User takes it for a moment, and who asked
// another devnet to stop need not wait by hand. A child of a process that was killed
// has its lock until it has begun its own program, which a busy machine delays.
const (
	lockAttempts = 10
	goneAttempts = 100
	lockInterval = 20 * time.Millisecond
)

// attemptsFor is how often the lock is tried whose file names a process.
func attemptsFor(pid int) int {
	if pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return goneAttempts
	}
	return lockAttempts
}

// takeLock locks the home and writes this process's id into the lock.
func takeLock(dir string) (*os.File, error) {
	for attempt := 1; ; attempt++ {
		f, err := tryLock(dir)
		var used *InUseError
		if err == nil || !errors.As(err, &used) || attempt >= attemptsFor(used.PID) {
			return f, err
		}
		<-time.After(lockInterval)
	}
}

func tryLock(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, fileMode)
	if errors.Is(err, syscall.ELOOP) {
		return nil, &LinkError{path}
	}
	if err != nil {
		return nil, fmt.Errorf("home: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || err == nil && !isSameFile(f, path) {
		err = &InUseError{Dir: dir, PID: readPID(f)}
		return nil, errors.Join(err, f.Close())
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("home: lock %s: %w", dir, err), f.Close())
	}
	return f, nil
}

// isSameFile reports whether path still names f: a Reset may have removed it in
// between, and then its lock excludes no other process.
func isSameFile(f *os.File, path string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(opened, named)
}

func readPID(f *os.File) int {
	data, _ := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return max(pid, 0)
}

// User returns the process that has the home open, 0 if that is unknown; ok is
// false if no process has it open.
func User(dir string) (pid int, ok bool) {
	for attempt := lockAttempts; ; attempt++ {
		if pid, ok = lockingUser(dir); !ok || attempt >= attemptsFor(pid) {
			return pid, ok
		}
		<-time.After(lockInterval)
	}
}

func lockingUser(dir string) (pid int, ok bool) {
	f, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return 0, false
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err == nil {
		return 0, false
	}
	return readPID(f), true
}

// Close lets the home go and removes run.json.
func (h *Home) Close() error {
	if h.lock == nil {
		return nil
	}
	err := removeIfThere(h.RunFile())
	return errors.Join(err, h.releaseLock())
}

func (h *Home) releaseLock() error {
	// A child that is being forked has the file too until it executes its program. The
	// file stays, or another's lock might be on a removed one.
	err := errors.Join(syscall.Flock(int(h.lock.Fd()), syscall.LOCK_UN), h.lock.Close())
	h.lock = nil
	return err
}
