package log

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

// failingFile writes a part and fails, or fails to sync.
type failingFile struct {
	file
	write, sync error
}

func (f *failingFile) WriteAt(p []byte, at int64) (int, error) {
	if f.write == nil {
		return f.file.WriteAt(p, at)
	}
	n, _ := f.file.WriteAt(p[:len(p)/2], at)
	return n, f.write
}

func (f *failingFile) Sync() error {
	if f.sync != nil {
		return f.sync
	}
	return f.file.Sync()
}

func TestAFailedWritePoisonsTheLog(t *testing.T) {
	full := errors.New("no space left")
	for _, fail := range []failingFile{{write: full}, {sync: full}} {
		path := filepath.Join(t.TempDir(), "votes.log")
		l := open(t, path, store.Disk)
		if err := l.Append([]byte("one")); err != nil {
			t.Fatal(err)
		}
		sound := l.file
		fail.file = sound
		l.file = &fail
		if err := l.Append([]byte("two")); !errors.Is(err, full) {
			t.Fatalf("got %v", err)
		}
		l.file = sound
		for _, err := range []error{l.Append([]byte("three")), l.Rewrite(nil), l.Replay(func([]byte) error { return nil })} {
			if !errors.Is(err, ErrPoisoned) || !errors.Is(err, full) {
				t.Fatalf("got %v", err)
			}
		}
		l.Close()
		if got := storetest.Records(t, open(t, path, store.Disk)); len(got) == 0 || got[0] != "one" || slices.Contains(got, "three") {
			t.Fatalf("got %q", got)
		}
	}
}

func TestAFailedRewriteLeavesTheOldLog(t *testing.T) {
	l := fresh(t)
	if err := l.Append([]byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(l.rewritePath(), 0o755); err != nil { // in the way
		t.Fatal(err)
	}
	if err := l.Rewrite([][]byte{[]byte("two")}); err == nil {
		t.Fatal("it was rewritten")
	}
	if err := l.Append([]byte("three")); err != nil {
		t.Fatal(err)
	}
	if got := storetest.Records(t, l); !slices.Equal(got, []string{"one", "three"}) {
		t.Fatalf("got %q", got)
	}
}

func TestWhatAnInterruptedRewriteLeftIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "votes.log")
	if err := os.WriteFile(path+".new", []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, path, store.Process)
	if _, err := os.Stat(path + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v", err)
	}
}

// TestOneProcessHasTheFile, after a rewrite as well as before it. A second open
// file of this process replaces another process: the lock belongs to the file.
func TestOneProcessHasTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "votes.log")
	l := open(t, path, store.Process)
	for range 2 {
		if _, err := Open(path, store.Process); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
			t.Fatalf("got %v", err)
		}
		if err := l.Rewrite([][]byte{[]byte("one")}); err != nil {
			t.Fatal(err)
		}
	}
	l.Close()
	open(t, path, store.Process)
}

// A closed log can be opened although a second descriptor of its file exists, like that of a
// child in fork.
func TestAClosedLogIsUnlockedInForkedChildrenToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "votes.log")
	l := open(t, path, store.Process)
	child, err := syscall.Dup(int(l.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path, store.Process)
}

// TestAKilledProcessLeavesWhatItAppended runs this test binary as that process.
func TestAKilledProcessLeavesWhatItAppended(t *testing.T) {
	if path := os.Getenv("LOG_TEST_APPEND"); path != "" {
		l := open(t, path, store.Process)
		for i := uint64(0); ; i++ {
			if err := l.Append(binary.BigEndian.AppendUint64(nil, i)); err != nil {
				t.Fatal(err)
			}
			os.Stdout.Write([]byte{1}) // acknowledged
		}
	}
	path := filepath.Join(t.TempDir(), "votes.log")
	other := exec.Command(os.Args[0], "-test.run=^TestAKilledProcessLeavesWhatItAppended$")
	other.Env = append(os.Environ(), "LOG_TEST_APPEND="+path)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged, buf := 0, make([]byte, 64)
	for acknowledged < 500 {
		n, err := out.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		acknowledged += n
	}
	other.Process.Kill()
	other.Wait()
	got := storetest.Records(t, open(t, path, store.Process))
	for i, r := range got {
		if binary.BigEndian.Uint64([]byte(r)) != uint64(i) {
			t.Fatalf("record %d is %x", i, r)
		}
	}
	if len(got) < acknowledged {
		t.Fatalf("%d records of %d", len(got), acknowledged)
	}
}
