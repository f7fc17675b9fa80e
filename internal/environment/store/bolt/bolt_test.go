package bolt

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

func open(t testing.TB, path string, d store.Durability) *Store {
	t.Helper()
	s, err := Open(path, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storetest.Store(t, func(t testing.TB) env.Store {
		return open(t, filepath.Join(t.TempDir(), "state.db"), store.Process)
	})
}

func TestWhatWasCommittedIsThereAgain(t *testing.T) {
	for _, d := range []store.Durability{store.Process, store.Disk} {
		path := filepath.Join(t.TempDir(), "state.db")
		s := open(t, path, d)
		if err := s.Commit([]env.Write{{Bucket: "b", Key: []byte("k"), Value: []byte("v")}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if v, err := open(t, path, d).Get("b", []byte("k")); string(v) != "v" || err != nil {
			t.Fatalf("%v: got %q, %v", d, v, err)
		}
	}
}

func TestWhatIsNoStoreIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, store.Process); err == nil || !strings.Contains(err.Error(), path) {
		t.Fatalf("got %v", err)
	}
}

// TestAKilledProcess runs this test binary as the other process: while it lives,
// its file is refused in time; when it is killed, its commits are in the file.
func TestAKilledProcess(t *testing.T) {
	if path := os.Getenv("BOLT_TEST_HOLD"); path != "" {
		s := open(t, path, store.Process)
		s.Commit([]env.Write{{Bucket: "b", Key: []byte("k"), Value: []byte("v")}})
		os.Stdout.WriteString("held\n")
		os.Stdin.Read(make([]byte, 1)) // until killed
		return
	}
	path := filepath.Join(t.TempDir(), "state.db")
	other := exec.Command(os.Args[0], "-test.run=^TestAKilledProcess$")
	other.Env = append(os.Environ(), "BOLT_TEST_HOLD="+path)
	out, _ := other.StdoutPipe()
	in, _ := other.StdinPipe()
	defer in.Close()
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	out.Read(make([]byte, 5))
	start := time.Now()
	_, err := Open(path, store.Process)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v", took)
	}
	other.Process.Kill()
	other.Wait()
	if v, err := open(t, path, store.Process).Get("b", []byte("k")); string(v) != "v" || err != nil {
		t.Fatalf("got %q, %v", v, err)
	}
}

func BenchmarkStore(b *testing.B) {
	for _, d := range []store.Durability{store.Process, store.Disk} {
		b.Run(d.String(), func(b *testing.B) {
			storetest.BenchStore(b, open(b, filepath.Join(b.TempDir(), "state.db"), d))
		})
	}
}

// Under disk a commit is on the disk when it returns; under process the system
// may still hold it. A test cannot cut the power, so it checks the settings that
// bbolt follows.
func TestDiskSyncsEachCommit(t *testing.T) {
	for _, d := range []store.Durability{store.Process, store.Disk} {
		s := open(t, filepath.Join(t.TempDir(), "state.db"), d)
		if synced := !s.db.NoSync && !s.db.NoGrowSync; synced != (d == store.Disk) {
			t.Errorf("%v: commits are synced: %v", d, synced)
		}
	}
}
