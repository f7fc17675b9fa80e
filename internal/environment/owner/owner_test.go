package owner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// holds is an engine that holds what it is given, by kind.
type holds struct {
	all     map[Kind][]Held
	machine string
	refuses []error // the next answers of Remove
}

func (h *holds) engine() Engine { return Engine{h.list, h.remove} }

func (h *holds) list(_ context.Context, kind Kind, label string) (found []Held, err error) {
	for _, one := range h.all[kind] {
		if label == NetworkLabel+"="+one.Network || label == machineLabel+"="+h.machine {
			found = append(found, one)
		}
	}
	return found, nil
}

func (h *holds) remove(_ context.Context, kind Kind, ids []string) error {
	if kind == Networks && slices.ContainsFunc(h.all[Containers], func(c Held) bool { return strings.HasPrefix(ids[0], c.Network+"-") }) {
		return errors.New("network has active endpoints")
	}
	if len(h.refuses) > 0 {
		err := h.refuses[0]
		h.refuses = h.refuses[1:]
		return err
	}
	h.all[kind] = slices.DeleteFunc(h.all[kind], func(one Held) bool { return slices.Contains(ids, one.ID) })
	return nil
}

// of has one thing of each kind of a network.
func (h *holds) of(network, folder string) {
	for kind := range kinds {
		h.all[kind] = append(h.all[kind], Held{fmt.Sprintf("%s-%d", network, kind), network, folder, viewOf(folder)})
	}
}

const liveIn = "DEVNET_TEST_LIVE_IN"

// The things of a killed process are removed. Things of live processes stay, for this
// one and for another.
func TestOnlyWhatTheDeadLeftIsRemoved(t *testing.T) {
	if dir := os.Getenv(liveIn); dir != "" {
		f, err := Claim(dir)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("claimed")
		_, _ = io.ReadAll(os.Stdin) // until the parent is gone; Go ends a process that waits for nothing outside
		runtime.KeepAlive(f)
		return
	}
	other := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", t.Name()+"$")
	cmd.Env = append(os.Environ(), liveIn+"="+other)
	held, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	said, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "claimed\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	mine, err := ClaimNew()
	if err != nil {
		t.Fatal(err)
	}
	h := &holds{all: map[Kind][]Held{}, machine: machineID()}
	h.of("mine", filepath.Dir(mine.Name()))
	h.of("theirs", other)
	h.of("gone", filepath.Join(other, "gone"))
	h.of("", "/nobody")
	if removed, err := Reap(t.Context(), h.engine()); err != nil || !slices.Equal(removed, []string{filepath.Join(other, "gone")}) {
		t.Fatalf("removed %v, %v", removed, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if removed, err := Reap(t.Context(), h.engine()); err != nil || !slices.Equal(removed, []string{other}) {
		t.Fatalf("after the kill: removed %v, %v", removed, err)
	}
	for kind := range kinds {
		if left := len(h.all[kind]); left != 2 {
			t.Errorf("%d things of the kind %d are left, want those of live owners and without one", left, kind)
		}
	}
	if err := Release(mine); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(mine.Name())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the lock is left: %v", err)
	}
}

// What is left since its owner sees other files is told: it is no network of a live owner that is seen, of a dead one, or
// of nobody.
func TestWhatIsNotJudgedIsTold(t *testing.T) {
	mine, err := ClaimNew()
	if err != nil {
		t.Fatal(err)
	}
	defer Release(mine)
	above := t.TempDir()
	if identityOf(above) == "" {
		t.Skip("this system identifies no folder")
	}
	h := &holds{all: map[Kind][]Held{}, machine: machineID()}
	h.of("mine", filepath.Dir(mine.Name()))
	h.of("gone", filepath.Join(above, "gone"))
	h.of("", "/nobody")
	elsewhere := filepath.Join(above, "elsewhere")
	h.all[Volumes] = append(h.all[Volumes], Held{"v", "apart", elsewhere, strings.Replace(viewOf(elsewhere), identityOf(above), "0.1", 1)})
	unseen, err := ListUnseen(t.Context(), h.engine())
	if err != nil || len(unseen) != 1 || unseen[0].Network != "apart" || unseen[0].Folder != elsewhere {
		t.Fatalf("%v, %v", unseen, err)
	}
	if _, err := Reap(t.Context(), h.engine()); err != nil || !slices.Contains(h.all[Volumes], unseen[0]) {
		t.Errorf("it was removed: %v", err)
	}
}

// A process that sees other files than the owner does removes nothing of it: its /tmp is another. After
// another boot, and where only folders above are gone, nothing can be there.
func TestWhoSeesOtherFilesDoesNotJudge(t *testing.T) {
	above := t.TempDir()
	folder := filepath.Join(above, "runs", "one")
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	view := viewOf(folder)
	if identityOf(above) == "" {
		t.Skip("this system identifies no folder")
	}
	boot, ids, _ := strings.Cut(view, "/")
	other := strings.Replace(view, identityOf(above), "0.1", 1)
	for name, c := range map[string]struct {
		view string
		want bool
	}{
		"the same view": {view, false}, "another folder above": {other, true}, "another root": {boot + "/0.1/" + ids, true},
		"another boot": {"another" + strings.TrimPrefix(other, boot), false}, "a label without one": {"", false},
	} {
		if got := isOwned(folder, c.view); got != c.want {
			t.Errorf("%s: owned %v", name, got)
		}
		h := &holds{all: map[Kind][]Held{}, machine: machineID()}
		h.all[Volumes] = []Held{{"a volume", "a network", folder, c.view}}
		if removed, err := Reap(t.Context(), h.engine()); err != nil || len(removed) == 0 != c.want {
			t.Errorf("%s: removed %v, %v", name, removed, err)
		}
	}
	if err := os.RemoveAll(filepath.Dir(folder)); err != nil {
		t.Fatal(err)
	}
	if isOwned(folder, view) {
		t.Error("the folders above are gone, and the owner lives")
	}
}

// A folder of ClaimNew is removed with the things of its dead owner; other folders stay.
func TestTheFolderOfADeadTestIsRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	f, err := ClaimNew()
	if err != nil {
		t.Fatal(err)
	}
	dead, own := filepath.Dir(f.Name()), t.TempDir()
	if err := f.Close(); err != nil { // as the system does
		t.Fatal(err)
	}
	h := &holds{all: map[Kind][]Held{}, machine: machineID()}
	h.of("dead", dead)
	h.of("own", own)
	if removed, err := Reap(t.Context(), h.engine()); err != nil || len(removed) != 2 {
		t.Fatalf("removed %v, %v", removed, err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", dead, err)
	}
	if _, err := os.Stat(own); err != nil {
		t.Errorf("%s is gone: %v", own, err)
	}
}

func TestAFolderHasOneOwner(t *testing.T) {
	dir := t.TempDir()
	f, err := Claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Claim(dir); err == nil || !strings.Contains(err.Error(), "run already, of another process") {
		t.Errorf("it has two owners: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if again, err := Claim(dir); err != nil || again.Close() != nil {
		t.Error(err)
	}
}

// Two may remove the same at once: one is refused for as long as the other takes.
func TestARemovalByAnotherIsWaitedFor(t *testing.T) {
	for said, waits := range map[string]bool{"removal of container 12 is already in progress": true, "No such container: 12": true,
		"network n not found": true, "permission denied": false} {
		h := &holds{all: map[Kind][]Held{}, refuses: slices.Repeat([]error{errors.New(said)}, 3)}
		h.of("n", "/n")
		if err := Remove(t.Context(), h.engine(), NetworkLabel+"=n"); (err == nil) != waits {
			t.Errorf("%q: %v", said, err)
		}
	}
}

// An engine that keeps the network of a dead owner, whose containers are gone, delays no other
// network. Docker does so after a container was removed amid its start.
func TestWhatTheEngineKeepsDelaysNobody(t *testing.T) {
	h := &holds{all: map[Kind][]Held{}, machine: machineID()}
	h.of("gone", filepath.Join(t.TempDir(), "gone"))
	engine := h.engine()
	engine.Remove = func(ctx context.Context, kind Kind, ids []string) error {
		if kind == Networks {
			return errors.New("network gone-1 has active endpoints")
		}
		return h.remove(ctx, kind, ids)
	}
	if err := Clear(t.Context(), engine); err != nil {
		t.Error(err)
	}
	if len(h.all[Containers]) != 0 || len(h.all[Volumes]) != 0 {
		t.Errorf("containers %v and volumes %v are left", h.all[Containers], h.all[Volumes])
	}
	if _, err := Reap(t.Context(), engine); err == nil || !strings.Contains(err.Error(), "active endpoints") {
		t.Errorf("who asks for the removal is told %v", err)
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	if err := Clear(over, engine); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
}
