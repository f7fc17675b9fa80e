package home

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/store"
)

var (
	seven = uint64(7)
	now   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want  = Want{Version: "1.2.3", ChainID: 8011, Seed: &seven, Now: now}
)

func open(t *testing.T, dir string, w Want) *Home {
	t.Helper()
	h, err := Open(dir, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestANewHomeIsMadeAndFoundAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "home")
	h := open(t, dir, want)
	if !h.New || h.Dir() != dir {
		t.Fatalf("home %+v", h)
	}
	text := fmt.Sprintf(`{
  "format": %d,
  "devnet_version": "1.2.3",
  "chain_id": 8011,
  "seed": 7,
  "created": "2026-01-02T03:04:05Z"
}
`, Format)
	if got := read(t, filepath.Join(dir, "home.json")); got != text {
		t.Fatalf("home.json is %s", got)
	}
	v0, err := h.Node("v0")
	if err != nil || v0.Votes != filepath.Join(dir, "nodes/v0/votes.log") || v0.State != filepath.Join(dir, "nodes/v0/state.db") {
		t.Fatalf("node %+v, %v", v0, err)
	}
	if h.Genesis() != filepath.Join(dir, "genesis.cbor") || h.NodeLog("v0") != filepath.Join(dir, "logs/v0.log") {
		t.Fatal("other paths")
	}
	if err := WriteFile(h.RunFile(), []byte("{}"), store.Process); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(h.RunFile()); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("run.json outlives the run")
	}
	again := open(t, dir, Want{Version: "1.2.4", Now: now.Add(time.Hour)})
	if again.New || again.Meta != h.Meta {
		t.Fatalf("found %+v, made %+v", again.Meta, h.Meta)
	}
	if nodes, err := again.Nodes(); err != nil || len(nodes) != 1 || nodes[0] != "v0" {
		t.Fatalf("nodes %v, %v", nodes, err)
	}
}

func TestARefusalNamesBothSidesAndTheWayOut(t *testing.T) {
	other := uint64(8)
	made := fmt.Sprintf(`{"format":%d,"devnet_version":"1.2.3","chain_id":8011,"seed":7}`, Format)
	newer := fmt.Sprintf(`{"format":%d,"devnet_version":"9.0.0"}`, Format+1)
	for _, c := range []struct {
		name, meta string
		want       Want
		says       []string
		as         any
	}{
		{"a newer format", newer, want, []string{fmt.Sprint("format ", Format+1), "9.0.0", "1.2.3", fmt.Sprint("format ", Format), "--reset",
			"--home"}, new(*IncompatibleError)},
		{"a format before the oldest", fmt.Sprintf(`{"format":%d,"devnet_version":"0.1"}`, OldestFormat-1), want, []string{"--reset"},
			new(*IncompatibleError)},
		{"an older format", `{"format":-1,"devnet_version":"0.1"}`, want, []string{"format -1", "0.1", "--reset"}, new(*IncompatibleError)},
		{"another chain", made, Want{ChainID: 5}, []string{"chain id 8011", "5 was asked for", "--reset"}, new(*MismatchError)},
		{"another seed", made, Want{Seed: &other}, []string{"seed 7", "8 was asked for"}, new(*MismatchError)},
		{"no JSON", `{`, want, []string{"home.json", "--reset"}, new(*BrokenError)},
		{"no format", `{}`, want, []string{"home.json", "no format"}, new(*BrokenError)},
		{"too long", strings.Repeat(" ", maxMetaBytes+1), want, []string{"home.json", "65537 bytes"}, new(*BrokenError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, metaFile), c.meta)
			_, err := Open(dir, c.want)
			if err == nil || !errors.As(err, c.as) {
				t.Fatalf("got %v", err)
			}
			for _, text := range append(c.says, dir) {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
			if _, used := User(dir); used {
				t.Error("a refused home stays locked")
			}
		})
	}
}

func TestADirectoryOfOthersIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "thesis.txt"), "years")
	_, err := Open(dir, want)
	var foreign *ForeignError
	if !errors.As(err, &foreign) || foreign.Name != "thesis.txt" {
		t.Fatalf("got %v", err)
	}
	if err := Reset(dir); err != nil {
		t.Fatal(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 || read(t, filepath.Join(dir, "thesis.txt")) != "years" {
		t.Fatalf("it holds %v", entries)
	}
}

func TestWhatAnInterruptedStartLeftIsNoObstacle(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, lockFile), "1\n")
	write(t, filepath.Join(dir, metaFile+newSuffix), "{")
	if h := open(t, dir, want); !h.New {
		t.Fatal("an interrupted start counts as a home")
	}
}

func TestResetRemovesOnlyWhatTheHomeMade(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, want)
	for _, name := range []string{"v0", "r1"} {
		node, err := h.Node(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, node.Votes, "x")
		write(t, node.Votes+newSuffix, "x")
		write(t, node.State, "x")
		write(t, h.NodeLog(name), "x")
	}
	write(t, h.Genesis(), "x")
	kept := []string{"notes.txt", "nodes/v0/notes.txt", "logs/notes.txt", "logs/Notes.log"}
	for _, name := range kept {
		write(t, filepath.Join(dir, name), "mine")
	}
	var used *InUseError
	if err := Reset(dir); !errors.As(err, &used) || used.PID != os.Getpid() {
		t.Fatalf("reset of a home in use: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Reset(dir); err != nil {
		t.Fatal(err)
	}
	var left []string
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			left = append(left, name)
		}
		return err
	})
	if got := strings.Join(left, " "); got != "logs/Notes.log logs/notes.txt nodes/v0/notes.txt notes.txt" {
		t.Fatalf("left: %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "nodes/r1")); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("an empty directory stays")
	}
}

// A symbolic link instead of a folder leads to files of others. The error names it, and
// nothing is removed, neither there nor here.
func TestResetFollowsNoLink(t *testing.T) {
	for _, part := range []string{"nodes", "nodes/v0", "logs", "net", "net" + newSuffix, "lock"} {
		t.Run(part, func(t *testing.T) {
			dir, others := t.TempDir(), t.TempDir()
			h := open(t, dir, want)
			node, err := h.Node("v0")
			if err != nil {
				t.Fatal(err)
			}
			write(t, node.State, "x")
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"votes.log", "state.db", "v0.log"} {
				write(t, filepath.Join(others, name), "theirs")
			}
			if err := os.Mkdir(filepath.Join(others, "v0"), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(others, "v0", "state.db"), "theirs")
			link, target := filepath.Join(dir, part), others
			if part == "lock" {
				target = filepath.Join(others, "state.db")
			}
			if err := errors.Join(os.RemoveAll(link), os.Symlink(target, link)); err != nil {
				t.Fatal(err)
			}
			var refused *LinkError
			if err := Reset(dir); !errors.As(err, &refused) || refused.Path != link {
				t.Fatalf("reset of a home with a link: %v", err)
			}
			for _, name := range []string{"votes.log", "state.db", "v0.log", "v0/state.db"} {
				if data, err := os.ReadFile(filepath.Join(others, name)); err != nil || string(data) != "theirs" {
					t.Errorf("%s has %q, %v", name, data, err)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, metaFile)); err != nil {
				t.Errorf("the home lost its %s: %v", metaFile, err)
			}
		})
	}
}

// Only the user of a home may read it.
func TestAHomeIsItsUsersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "of", "mine")
	h := open(t, dir, want)
	node, err := h.Node("v0")
	if err != nil {
		t.Fatal(err)
	}
	file := NewLogFile(dir, "v0")
	defer file.Close()
	if _, err := file.Write([]byte("a line\n")); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(node.Votes, []byte("x"), store.Process); err != nil {
		t.Fatal(err)
	}
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if info, wrong := d.Info(); err != nil || wrong != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
		return nil
	})
}

func TestAResetHomeIsANewOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	if err := Reset(dir); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, want).Close(); err != nil {
		t.Fatal(err)
	}
	if err := Reset(dir); err != nil {
		t.Fatal(err)
	}
	if h := open(t, dir, Want{ChainID: 5, Now: now}); !h.New || h.Meta.ChainID != 5 {
		t.Fatalf("home %+v", h.Meta)
	}
}

func TestNamesOfNodesStayInTheHome(t *testing.T) {
	h := open(t, t.TempDir(), want)
	for _, name := range []string{"", "../..", "a/b", "V0", strings.Repeat("a", 33)} {
		if _, err := h.Node(name); err == nil {
			t.Errorf("%q passes as a name", name)
		}
	}
}

// The remains of a killed process hold its lock for a moment: callers that open a
// home, or ask for its user, wait for a process that is gone.
func TestALockOfAProcessThatIsGoneIsWaitedFor(t *testing.T) {
	for name, free := range map[string]func(t *testing.T, dir string) bool{
		"opened": func(t *testing.T, dir string) bool { open(t, dir, want); return true },
		"asked":  func(_ *testing.T, dir string) bool { _, used := User(dir); return !used },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := open(t, dir, want)
			gone := exec.Command("true")
			if err := gone.Run(); err != nil {
				t.Fatal(err)
			}
			lock := h.lock
			if _, err := lock.WriteAt([]byte(strconv.Itoa(gone.Process.Pid)+"\n       "), 0); err != nil {
				t.Fatal(err)
			}
			child := exec.Command("sleep", "0.5") // which has the lock, as it is between fork and exec
			child.ExtraFiles = []*os.File{lock}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if !free(t, dir) {
				t.Error("it is in use by a process that is gone")
			}
			if err := child.Wait(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestAHomeInUseNamesTheProcess runs this test binary as the other process.
func TestAHomeInUseNamesTheProcess(t *testing.T) {
	if dir := os.Getenv("HOME_TEST_HOLD"); dir != "" {
		open(t, dir, want)
		os.Stdout.WriteString("held\n")
		os.Stdin.Read(make([]byte, 1)) // until killed
		return
	}
	dir := t.TempDir()
	other := exec.Command(os.Args[0], "-test.run=^TestAHomeInUseNamesTheProcess$")
	other.Env = append(os.Environ(), "HOME_TEST_HOLD="+dir)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	out.Read(make([]byte, 5))
	_, err = Open(dir, want)
	var used *InUseError
	if !errors.As(err, &used) || used.PID != other.Process.Pid || !strings.Contains(err.Error(), "devnet down") {
		t.Errorf("got %v, the process is %d", err, other.Process.Pid)
	}
	if pid, ok := User(dir); !ok || pid != other.Process.Pid {
		t.Errorf("user %d, %v", pid, ok)
	}
	other.Process.Kill()
	other.Wait()
	if _, ok := User(dir); ok {
		t.Error("a killed process still uses the home")
	}
	open(t, dir, want)
}

// C12: a home of the oldest format continues, and an older binary refuses it from then on.
func TestC12AHomeOfTheOldestFormatGoesOn(t *testing.T) {
	dir := t.TempDir()
	made := fmt.Sprintf(`{"format":%d,"devnet_version":"0.1","chain_id":8011,"seed":7,"created":"2026-01-01T00:00:00Z"}`, OldestFormat)
	if err := os.WriteFile(filepath.Join(dir, metaFile), []byte(made), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := Open(dir, Want{ChainID: 8011, Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if m, err := ReadMeta(dir); err != nil || m.Format != Format || m.Seed != 7 {
		t.Errorf("%+v, %v", m, err)
	}
}
