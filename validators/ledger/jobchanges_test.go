package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// changes is what the last block did to jobs, in words.
func (w *world) changes() string {
	var all []string
	for _, c := range w.last.Jobs {
		text := fmt.Sprintf("%s %s %d", c.Kind, c.Status, c.Attempts)
		if c.Error != nil {
			text += " " + c.Error.Code
		}
		if c.At != w.head.Height() {
			text += fmt.Sprintf(" at %d", c.At)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func (w *world) expectChanges(want string) {
	w.t.Helper()
	if got := w.changes(); got != want {
		w.t.Errorf("height %d: %s; want %s", w.head.Height(), got, want)
	}
}

// A block reports its changes of jobs, from submission to callback, in order, each
// with the facts that the state no longer has.
func TestABlockTellsWhatItDidToJobs(t *testing.T) {
	w := newRunnerWorld(t, 3, nil)
	w.step(w.deploy("alice", "counter", "c", 1000))
	s := jobSpec(2)
	s.Callback = &push.Callback{Actor: w.address("c"), Handler: "increment", CorrelationID: []byte{}, Context: []byte{}}
	before := w.balance("bob")
	w.propose(w.shown(), w.submit("bob", s))
	w.expectChanges("submitted Pending 0, drawn Assigned 1")
	job, submitted := w.onlyJob(), w.last.Jobs[0].Submitted
	if string(submitted.Spec) != string(w.head.JobSpec(job.ID)) || *w.last.Jobs[0].Submitter != w.address("bob") ||
		submitted.TimeoutBlocks != 10 || submitted.CommitBlocks != 6 || before.Less(submitted.Escrow) || submitted.Escrow.IsZero() {
		t.Errorf("%+v", submitted)
	}
	members := []types.Address{job.Committee[0].Runner, job.Committee[1].Runner}
	if drawn := w.last.Jobs[1]; !slices.Equal(drawn.Committee, members) || drawn.Since != w.head.Height() || drawn.ID != job.ID {
		t.Errorf("%+v", drawn)
	}
	w.step(w.commitment("v1", job.ID, members[0], "same"), w.commitment("v2", job.ID, members[1], "same"))
	w.expectChanges("committed Executing 1, committed Executing 1")
	if c := w.last.Jobs[1]; *c.Runner != members[1] || *c.Validator != w.address("v2") || c.Commitment == (types.Hash{}) {
		t.Errorf("%+v", c)
	}
	w.step(w.result("v1", system.OpReveal, job.ID, members[0], "same"), w.result("v3", system.OpReveal, job.ID, members[1], "same"))
	w.expectChanges("revealed Executing 1, revealed Executing 1, completed Completed 1")
	end := w.last.Jobs[2]
	lot := func(a types.Address) string { return selection.Lot(job.Seed, a).String() }
	winner := slices.MinFunc(members, func(a, b types.Address) int { return strings.Compare(lot(a), lot(b)) })
	if string(w.last.Jobs[0].Result) != "same" || *end.Runner != winner || end.Price != types.WeiOf(400) || len(end.Agreed) != 2 {
		t.Errorf("%+v", end)
	}
	w.step()
	w.expectChanges("called_back  0")
	if w.last.Jobs[0].ID != job.ID {
		t.Errorf("%+v", w.last.Jobs)
	}
}

// Jobs that wait for runners, are drawn again, or end without a result, are
// reported too.
func TestABlockTellsOfJobsThatNobodyDid(t *testing.T) {
	w := newRunnerWorld(t, 1, nil)
	w.step() // P(0) is empty
	w.propose(w.shown(0), w.submit("bob", jobSpec(1)))
	w.expectChanges("submitted Pending 0, waiting Pending 0")
	w.propose(w.shown(0))
	w.expectChanges("")
	w.step()
	w.expectChanges("drawn Assigned 1")
	id, runner := w.last.Jobs[0].ID, w.last.Jobs[0].Committee[0]
	for w.head.Height() < w.onlyJob().Deadline() {
		w.step()
	}
	w.step() // it was silent, and is the only one
	w.expectChanges("retried Pending 1 timeout, waiting Pending 1")
	if c := w.last.Jobs[0]; len(c.Committee) != 1 || c.Committee[0] != runner || c.Since != w.head.Height() {
		t.Errorf("%+v", c)
	}
	for w.head.OpenJobs() > 0 {
		w.step()
	}
	w.expectChanges("failed Failed 1 timeout")
	w.propose(w.shown(0), w.submit("bob", jobSpec(1)))
	id = w.onlyJob().ID
	to := types.DispatcherAddress
	cancel := w.checked("bob", w.tx("bob", &to, &types.Execute{Kind: types.KindExecute, Handler: "cancel", Payload: id[:]}))
	w.step(cancel, w.submit("bob", jobSpec(7)))
	w.expectChanges("cancelled Failed 0 cancelled, submitted Pending 0, waiting Pending 0")
}

// The parent's presence is told with the rule and the threshold that made it.
func TestABlockTellsPresenceOfItsParent(t *testing.T) {
	w := newRunnerWorld(t, 3, nil)
	w.step()
	w.propose(w.shown(1))
	p := w.last.Presence
	if p.Bitmap.Has(1) || !p.Bitmap.Has(0) || !p.Bitmap.Has(2) || p.Rule != "quorum" || p.Threshold != 2 ||
		p.Bitmap.Hash() != w.head.header.Presence {
		t.Errorf("%+v", p)
	}
}
