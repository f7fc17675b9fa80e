package scenario

import (
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of a network's snapshots. Each holds on to the states that it goes back to.
const (
	maxSnapshots     = 64
	maxSnapshotBytes = 64 // of a name
)

// snapshot is a state that a script can return to.
type snapshot struct {
	restore func() error
	height  types.Height
	actors  []*actorValue   // deployed before it
	unsound map[string]bool // as in the network
}

// netSnapshot is net.snapshot(name).
func netSnapshot(c *call) (starlark.Value, error) {
	n, name := netOf(c), argOf[string](c, "name")
	switch {
	case name == "" || len(name) > maxSnapshotBytes:
		return nil, newMistake("net.snapshot: a name has 1 to %d bytes, and got %d", maxSnapshotBytes, len(name))
	case n.snapshots[name] == nil && len(n.snapshots) == maxSnapshots:
		return nil, newMistake("net.snapshot: a network keeps at most %d snapshots: save under a name again", maxSnapshots)
	}
	if err := n.resubmitWaiting(n.highestFinal()); err != nil {
		return nil, err
	}
	if len(n.waiting) > 0 {
		return nil, newMistake("net.snapshot: a transaction that the script sent is not final; let it become final first: net.run by some blocks")
	}
	restore, err := n.backend.Snapshot()
	if err != nil {
		return nil, err
	}
	n.snapshots[name] = &snapshot{restore, n.highestFinal(), slices.Clone(n.actors), maps.Clone(n.unsound)}
	return starlark.None, nil
}

// netRestore is net.restore(name).
func netRestore(c *call) (starlark.Value, error) {
	n, name := netOf(c), argOf[string](c, "name")
	kept := n.snapshots[name]
	if kept == nil {
		return nil, newMistake("net.restore: there is no snapshot %q%s", name, n.snapshotNames(name))
	}
	if broken := n.backend.Violation(); broken != nil {
		return nil, newFailure("%v", broken)
	}
	if err := kept.restore(); err != nil {
		return nil, &internal{err}
	}
	if broken := n.backend.Violation(); broken != nil {
		return nil, newFailure("%v", broken)
	}
	n.actors, n.unsound, n.waiting, n.last = slices.Clone(kept.actors), maps.Clone(kept.unsound), nil, kept.height
	n.timeline.rewindTo(kept.height)
	return starlark.None, nil
}

// snapshotNames lists the known snapshots, for the error about an unknown one.
func (n *network) snapshotNames(name string) string {
	known := slices.Sorted(maps.Keys(n.snapshots))
	if len(known) == 0 {
		return ": take one with net.snapshot(name) first"
	}
	if near := suggestNames(name, known); near != "" {
		return near
	}
	return "; there are: " + strings.Join(known, ", ")
}
