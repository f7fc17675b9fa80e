package ledger

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// J13: the reports of a runner's view on a job through its life, to its members, to
// another runner, and to an unregistered one.
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
		t.Fatal("it reports changes after the head, or unrequested ones")
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

// J21: no poll offers a runner a job that it refused, and it sees no assignment of the
// job, also while its place is empty because there is no other runner.
func TestJ21ARefusedJobIsOfferedNoMore(t *testing.T) {
	w := newRunnerWorld(t, 3, nil)
	w.step()
	w.step(w.submit("bob", jobSpec(3)), w.submit("carol", jobSpec(3)))
	w.ok()
	var jobs []*system.Job
	w.head.Jobs(func(j *system.Job) bool { jobs = append(jobs, j); return true })
	refuser := jobs[0].Committee[0].Runner
	said := push.Refusal{JobID: jobs[0].ID, Drawn: jobs[0].Since, Spec: types.Keccak(w.head.JobSpec(jobs[0].ID)), Reason: push.Capacity}
	w.step(w.reporting("v0", system.OpRefuse, system.Refusal{JobID: said.JobID, Drawn: said.Drawn, Spec: said.Spec, Runner: refuser,
		Reason: said.Reason, RefusalSigned: w.key(w.name(refuser)).Sign(said.Digest(8011))}))
	w.ok()
	for _, m := range jobs[0].Committee {
		want := []types.Hash{jobs[0].ID, jobs[1].ID}
		if m.Runner == refuser {
			want = want[1:]
		}
		var offered, shown []types.Hash
		for _, j := range w.head.Assignments(m.Runner) {
			offered = append(offered, j.ID)
		}
		assignments := w.head.Outlook().Head(w.key(w.name(m.Runner)).PublicKey(), nil).Assignments
		for _, j := range jobs {
			if assignments[execution.ID{Job: j.ID, Drawn: j.Since}].Open {
				shown = append(shown, j.ID)
			}
		}
		for _, ids := range [][]types.Hash{offered, want, shown} {
			slices.SortFunc(ids, func(a, b types.Hash) int { return bytes.Compare(a[:], b[:]) })
		}
		if !slices.Equal(offered, want) || !slices.Equal(shown, want) {
			t.Errorf("%s is offered %v and sees %v; want %v", w.name(m.Runner), offered, shown, want)
		}
	}
}
