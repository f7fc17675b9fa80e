package ledger

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// J13: what a runner's view tells of a job through its life, to its members, to one
// who is none, and to one who is not registered.
func TestJ13WhatARunnerSeesOfAJob(t *testing.T) {
	w := newRunnerWorld(t, 4, nil)
	w.step()
	w.step(w.submit("bob", jobSpec(3)))
	w.ok()
	job := w.onlyJob()
	id := execution.ID{Job: job.ID, Drawn: job.Since}
	head := func(name string, followed ...execution.ID) *chainview.Head {
		return w.head.Outlook().Head(w.key(name).PublicKey(), followed)
	}
	member := func(i int) string { return w.name(job.Committee[i].Runner) }
	outsider := ""
	for i := range 4 {
		if !slices.ContainsFunc([]string{member(0), member(1), member(2)}, func(m string) bool { return m == runnerName(i) }) {
			outsider = runnerName(i)
		}
	}
	seen := head(member(0))
	s := seen.Assignments[id]
	if !seen.Registered || !seen.Staked || seen.Height != w.head.Height() || len(seen.Validators) != 3 || seen.Params.Push != "hot" ||
		seen.Params.BlockTime() == 0 || seen.Params.HelloTimeoutMS == 0 || len(seen.Assignments) != 1 {
		t.Fatalf("it sees %+v", seen)
	}
	if !s.Open || s.SpecHash != types.Keccak(w.head.JobSpec(job.ID)) || s.Deadline != job.Deadline() || s.Alone || len(s.Commitments) != 0 ||
		s.Reveals != job.CommitDeadline()+1 {
		t.Fatalf("of its job it sees %+v", s)
	}
	later := execution.ID{Job: types.Hash{1}, Drawn: w.head.Height() + 1}
	of := head(outsider, id, later)
	if s, told := of.Assignments[id]; !told || s.Open {
		t.Fatalf("who has no part in it sees %+v", of.Assignments)
	}
	if _, told := of.Assignments[later]; told || len(head(outsider).Assignments) != 0 {
		t.Fatal("it is told of what is later than the head, or what it did not ask for")
	}
	if of := head("stranger"); of.Registered || of.Staked {
		t.Fatalf("a stranger sees %+v", of)
	}
	for i := range 3 {
		w.step(w.commitment("v0", job.ID, job.Committee[i].Runner, "done"))
		w.ok()
	}
	s = head(member(1)).Assignments[id]
	want := push.Commitment([]byte("done"), w.signedResult(job.Committee[1].Runner, job.ID, "done"))
	if !slices.Equal(s.Commitments, []types.Hash{want}) || s.Reveals != w.head.Height()+1 {
		t.Fatalf("it sees %+v at height %d", s, w.head.Height())
	}
	w.step(w.result("v0", "reveal", job.ID, job.Committee[1].Runner, "done"))
	w.ok()
	if s, told := head(member(1), id).Assignments[id]; !told || s.Open {
		t.Fatalf("whose reveal is final sees %+v", s)
	}
	if s := head(member(2), id).Assignments[id]; !s.Open {
		t.Fatal("the reveal of another ended it")
	}
}
