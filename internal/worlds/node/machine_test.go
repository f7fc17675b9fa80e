package node

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

var errFailed = errors.New("a disk")

// noting is a node of another kind than a validator: one role, which notes in its
// log what comes in by a mesh, and no store.
type noting struct {
	Machine
	runtime *roles.Runtime
	mesh    wire
	inbox   roles.Inbox[[]byte]
}

// wire is a mesh by which the test itself sends.
type wire struct {
	env.Mesh
	receive func(types.Address, []byte)
}

// Start implements env.Mesh.
func (w *wire) Start(receive func(types.Address, []byte)) error {
	w.receive = receive
	return nil
}

func newNoting(t *testing.T, files func() (home.Node, error)) *noting {
	t.Helper()
	verifier := crypto.NewVerifier(true)
	n := &noting{runtime: roles.New(slog.New(slog.DiscardHandler))}
	n.assembleParts(Parts{Name: "r0", Signer: verifier.Signer(crypto.DeriveKey(1, "r0")), Verifier: verifier, Clock: clock.New(),
		Files: files})
	t.Cleanup(func() {
		n.stop(t)
		n.runtime.Close()
	})
	return n
}

func (n *noting) start(t *testing.T) {
	t.Helper()
	if err := n.disk.openLog(); err != nil {
		t.Fatal(err)
	}
	base := n.beginProcess()
	inbox, err := roles.Spawn(n.runtime, n.Name+"/noting", base.Loops.Loop("noting"), roles.Steps[[]byte]{Each: func(frame []byte) {
		if err := base.Log.Append(frame); err != nil {
			n.Fail(err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	n.inbox = inbox
	if err := n.gate.gateMesh(&n.mesh).Start(func(_ types.Address, frame []byte) { inbox.Offer(frame) }); err != nil {
		t.Fatal(err)
	}
	n.noteRolesRun()
}

func (n *noting) stop(t *testing.T) {
	t.Helper()
	if n.noteEnding() {
		n.inbox.Stop()
	}
	if err := n.endLeftovers(); err != nil {
		t.Error(err)
	}
}

// noted is what the log holds, when all that was sent has come to rest.
func (n *noting) noted(t *testing.T) (all string) {
	t.Helper()
	synctest.Wait()
	if err := n.disk.log.Replay(func(record []byte) error { all += string(record); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

func (n *noting) send(frames ...string) {
	for _, f := range frames {
		n.mesh.receive(types.Address{}, []byte(f))
	}
}

func (n *noting) expect(t *testing.T, want, when string) {
	t.Helper()
	if got := n.noted(t); got != want {
		t.Fatalf("%s it has noted %q, not %q", when, got, want)
	}
}

// A machine's faults affect every kind of node on it.
func TestAMachinesFaultsKnowNoKindOfNode(t *testing.T) {
	for _, kept := range []string{"memory", "files"} {
		t.Run(kept, func(t *testing.T) {
			var files func() (home.Node, error)
			if kept == "files" {
				h, err := home.Open(t.TempDir(), home.Want{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { h.Close() })
				files = func() (home.Node, error) { return h.Node("r0") }
			}
			synctest.Test(t, func(t *testing.T) { suffer(t, newNoting(t, files)) })
		})
	}
}

func suffer(t *testing.T, n *noting) {
	var counts fault.Counts
	if err := n.Freeze(&counts); err == nil || n.Thaw() == nil {
		t.Error("what does not run was frozen")
	}
	n.start(t)
	n.send("a", "b")
	n.expect(t, "ab", "at first")

	if err := n.Freeze(&counts); err != nil || !n.Frozen() || !n.Running() {
		t.Fatal(err)
	}
	n.send("c", "d")
	n.inbox.Post([]byte("own")) // an event that was under way is not held at the gate
	n.expect(t, "ab", "frozen")
	if err := n.Freeze(&counts); err == nil {
		t.Error("it was frozen twice")
	}
	if n.Thaw() != nil || n.Thaw() == nil || counts.Held.Load() != 2 {
		t.Errorf("%d frames were held", counts.Held.Load())
	}
	n.send("e")
	n.expect(t, "abowncde", "thawed")

	if err := n.Wipe(&counts); err == nil {
		t.Error("it was wiped while it ran")
	}
	n.send("f")
	synctest.Wait()
	n.Kill()
	n.send("lost")
	n.stop(t)
	n.start(t)
	n.expect(t, "abowncdef", "killed and started again")

	n.Fail(errFailed)
	if n.Running() || !n.Started() || n.Failure() != errFailed {
		t.Error("it does not report that it stopped by itself")
	}
	n.stop(t)
	n.beginProcess() // and does not come up
	n.stop(t)
	if n.Started() || n.Failure() != errFailed {
		t.Error("its failure is forgotten before it runs again")
	}
	n.start(t)
	if !n.Running() || n.Failure() != nil {
		t.Errorf("it does not run: %v", n.Failure())
	}

	n.stop(t)
	if err := n.Wipe(&counts); err != nil || counts.Lost.Load() == 0 || !n.Lost {
		t.Errorf("%d bytes were lost: %v", counts.Lost.Load(), err)
	}
	n.start(t)
	n.expect(t, "", "wiped")
}
