package worker

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// polls is a runner that can bring results without a connection.
func polls(t *testing.T) *world {
	w := newWorld(t)
	w.config.Polls = true
	return w
}

func keyOf(validator int) types.PublicKey {
	return signerOf(nameOf(connection.ID(validator))).PublicKey()
}

// polled has a poll bring an assignment.
func (w *world) polled(validator int, id ID, change func(*push.JobSpec)) {
	w.Helper()
	s := spec()
	if change != nil {
		change(&s)
	}
	w.step(Polled{Validator: keyOf(validator),
		Job: polling.Job{ID: id, Spec: &s, Deadline: id.Drawn + 20}})
}

// J11: a polled job is worked on when the view shows it, and the result is brought
// without a stream.
func TestJ11AJobThatAPollBrought(t *testing.T) {
	w := polls(t)
	id := w.drawn(1)
	w.tell(100)
	w.polled(1, id, nil)
	if got := w.asked(); got != "execute 1 " {
		t.Fatalf("asked %q", got)
	}
	w.polled(2, id, nil)
	w.polled(1, id, nil)
	if got := w.asked(); got != "" {
		t.Errorf("asked again: %q", got)
	}
	out := w.Step(w.now, Finished{ID: id, Result: []byte("done")})
	if len(out.Bring) != 1 || out.Bring[0].ID != id || string(out.Bring[0].Result.ResultData) != "done" {
		t.Fatalf("brought %+v", out.Bring)
	}
	signer, ok := signatures.Recover(out.Bring[0].Result.Digest(chainID), out.Bring[0].Result.RunnerSigned)
	if !ok || signer != signerOf("r0").Address() {
		t.Error("it is not signed")
	}
	for n := range patienceBlocks {
		if out := w.Step(w.now, Head{headAt(w, 101+n)}); (len(out.Bring) == 1) != (n == patienceBlocks-1) {
			t.Errorf("%d blocks later it brings %+v", n+1, out.Bring)
		}
	}
}

// J21: work that shows that a job cannot be done refuses it, though it was accepted, until the
// chain has the refusal; a failure of the runner's own refuses nothing.
func TestJ21WorkThatShowsAJobImpossibleRefusesIt(t *testing.T) {
	w := polls(t)
	id, own := w.drawn(1), w.drawn(2)
	w.tell(100)
	for _, each := range []ID{id, own} {
		if _, status := w.deliver(1, each, nil); !status.Accepted {
			t.Fatalf("%+v", status)
		}
	}
	out := w.Step(w.now, Broke{ID: own, Why: "no network"})
	if len(out.Bring) != 0 {
		t.Fatalf("brought %+v", out.Bring)
	}
	out = w.Step(w.now, Broke{ID: id, Why: "x", Refusal: execution.Refuse(push.Unsupported, "it does not fit")})
	if len(out.Bring) != 1 || out.Bring[0].ID != id || out.Bring[0].Refusal == nil {
		t.Fatalf("brought %+v", out.Bring)
	}
	ack := out.Bring[0].Refusal
	refusal := push.Refusal{JobID: id.Job, Drawn: id.Drawn, Spec: hashOf(nil), Reason: push.Unsupported, Text: "it does not fit"}
	signer, ok := signatures.Recover(refusal.Digest(chainID), *ack.RefusalSigned)
	if !ok || signer != signerOf("r0").Address() || *ack.Status.Reject != push.Unsupported || *ack.Reason != refusal.Text {
		t.Errorf("%+v", ack)
	}
	for n := range patienceBlocks {
		if out := w.Step(w.now, Head{headAt(w, 101+n)}); (len(out.Bring) == 1) != (n == patienceBlocks-1) {
			t.Errorf("%d blocks later it brings %+v", n+1, out.Bring)
		}
	}
	delete(w.chain, id)
	w.chain[id] = Standing{}
	w.tell(101 + patienceBlocks)
	if w.jobs[id] != nil {
		t.Error("it is remembered after the chain has the refusal")
	}
}

func headAt(w *world, height int) *chainview.Head {
	h := *w.head
	h.Height = types.Height(height)
	return &h
}

// J11, F56: no number of unsigned answers replaces the view. Before the chain shows an
// assignment nothing is done, and one that it never shows is forgotten.
func TestJ11AnAnswerIsBelievedAsFarAsTheViewShows(t *testing.T) {
	w := polls(t)
	for i := 1; i <= 4; i++ {
		w.validators = append(w.validators, types.Validator{PublicKey: keyOf(i)})
	}
	made := ID{Job: types.Hash{1}, Drawn: 101}
	w.tell(100)
	for i := 1; i <= 4; i++ {
		w.polled(i, made, nil)
	}
	if got := w.asked(); got != "" || len(w.followed) != 1 {
		t.Fatalf("asked %q, followed %v", got, w.followed)
	}
	w.tell(101)
	if got := w.asked(); got != "" || len(w.followed) != 0 {
		t.Errorf("asked %q, followed %v", got, w.followed)
	}
}

// One validator answers with another spec, first or later: the true one is worked on, and
// no answer has a runner hold much.
func TestALyingAnswerKeepsNoJobAway(t *testing.T) {
	lie := func(s *push.JobSpec) { s.TimeoutBlocks++ }
	unsupported := func(s *push.JobSpec) { s.JobType = push.JobType{Llm: &push.Llm{Model: "m", Prompt: "p", MaxTokens: 1}} }
	for name, change := range map[string]func(*push.JobSpec){"other": lie, "unsupported": unsupported} {
		t.Run(name, func(t *testing.T) {
			w := polls(t)
			early := ID{Job: types.Hash{1}, Drawn: 101}
			w.polled(1, early, change)
			w.polled(2, early, nil)
			w.chain[early] = Standing{Open: true, SpecHash: hashOf(nil), Deadline: 121, Alone: true}
			w.tell(101)
			if got := w.asked(); got != "execute 1 " {
				t.Fatalf("asked %q", got)
			}
			w.polled(1, early, change)
			if got := w.asked(); got != "" {
				t.Errorf("asked %q", got)
			}
		})
	}
	w := polls(t)
	for i := range 1_000 {
		w.polled(1, ID{Job: types.Hash{1, byte(i), byte(i >> 8)}, Drawn: 101}, nil)
		w.polled(1, ID{Job: types.Hash{2}, Drawn: 101}, func(s *push.JobSpec) { s.TimeoutBlocks = uint64(i + 1) })
		w.polled(1, ID{Job: types.Hash{3, byte(i), byte(i >> 8)}, Drawn: 100}, unsupported)
	}
	if len(w.order) > int(max(w.config.MaxJobs/4, 1)) || len(w.declined) > maxDeclined {
		t.Errorf("%d assignments are held, %d refusals", len(w.order), len(w.declined))
	}
}

func hashOf(change func(*push.JobSpec)) types.Hash {
	s := spec()
	if change != nil {
		change(&s)
	}
	return s.Hash()
}

// J11: an assignment that the view shows and no validator delivered is missing from
// that head on, unless it was delivered or refused, or there is no room for it.
func TestJ11WhatIsMissing(t *testing.T) {
	w := polls(t)
	first := w.drawn(1)
	w.tell(100)
	w.drawn(2)
	w.tell(101)
	if since, is := w.Missing(); !is || since != 100 {
		t.Fatalf("missing since %v, %v", since, is)
	}
	w.step(Drain{On: true})
	if _, is := w.Missing(); is {
		t.Error("a runner that drains misses a job")
	}
	w.step(Drain{})
	w.deliver(1, first, nil)
	if since, is := w.Missing(); !is || since != 101 {
		t.Errorf("missing since %v, %v", since, is)
	}
	llm := ID{Job: types.Hash{3}, Drawn: 101}
	other := func(f *push.JobAssignment) {
		f.JobSpec.JobType = push.JobType{Llm: &push.Llm{Model: "m", Prompt: "p", MaxTokens: 1}}
	}
	f := spec()
	f.JobType = push.JobType{Llm: &push.Llm{Model: "m", Prompt: "p", MaxTokens: 1}}
	w.chain[llm] = Standing{Open: true, SpecHash: f.Hash(), Deadline: 121}
	w.tell(102)
	if _, status := w.deliver(1, llm, other); status.Reject == nil {
		t.Fatalf("it answers %+v", status)
	}
	w.chain[ID{Job: types.Hash{2}, Drawn: 100}] = Standing{}
	w.tell(103)
	if since, is := w.Missing(); is {
		t.Errorf("what was refused, and what is over, is missing since %v", since)
	}
}

// A runner without room leaves an assignment to a later poll, and one of another spec than
// the chain's to another validator.
func TestAPolledJobWaitsForRoom(t *testing.T) {
	w := polls(t)
	w.config.MaxJobs = 1
	busy, id := w.drawn(1), w.drawn(2)
	w.tell(100)
	w.polled(1, busy, nil)
	if got := w.asked(); got != "execute 1 " {
		t.Fatalf("asked %q", got)
	}
	w.reports = nil
	w.polled(1, id, func(s *push.JobSpec) { s.TimeoutBlocks++ })
	w.polled(1, id, nil)
	if got := w.asked(); got != "" || len(w.order) != 1 || len(w.reports) != 0 || len(w.declined) != 0 {
		t.Errorf("asked %q, reported %+v", got, w.reports)
	}
	w.chain[busy] = Standing{}
	w.tell(101)
	w.asked()
	w.polled(1, id, nil)
	if got := w.asked(); got != "execute 2 " {
		t.Errorf("asked %q", got)
	}
}

// J11, J21: what a poll brought and the runner cannot do is refused in a way that counts on
// chain: signed for the draw and the spec that the view shows. While polls bring it, the
// refusal is brought again.
func TestJ21WhatAPollBroughtIsRefused(t *testing.T) {
	unsupported := func(s *push.JobSpec) { s.JobType = push.JobType{Llm: &push.Llm{Model: "m", Prompt: "p", MaxTokens: 1}} }
	for name, test := range map[string]struct {
		before func(*world)
		change func(*push.JobSpec)
		reason push.RejectReason
	}{
		"unsupported": {func(*world) {}, unsupported, push.Unsupported},
		"draining":    {func(w *world) { w.step(Drain{On: true, Reason: "maintenance"}) }, nil, push.Capacity},
	} {
		t.Run(name, func(t *testing.T) {
			w := polls(t)
			id := ID{Job: types.Hash{1}, Drawn: 100}
			test.before(w)
			brought := func() (all []Bring) {
				s := spec()
				if test.change != nil {
					test.change(&s)
				}
				return w.Step(w.now, Polled{Validator: keyOf(1), Job: polling.Job{ID: id, Spec: &s, Deadline: id.Drawn + 20}}).Bring
			}
			w.tell(100)
			if all := brought(); len(all) != 0 {
				t.Fatalf("before the view shows it, brought is %+v", all)
			}
			w.chain[id] = Standing{Open: true, SpecHash: hashOf(test.change), Deadline: 120}
			w.tell(101)
			all := brought()
			if len(all) != 1 || all[0].ID != id || all[0].Result != nil || all[0].Refusal == nil {
				t.Fatalf("brought %+v", all)
			}
			f := all[0].Refusal
			said := push.Refusal{JobID: id.Job, Drawn: id.Drawn, Spec: hashOf(test.change), Reason: test.reason, Text: *f.Reason}
			signer, ok := signatures.Recover(said.Digest(chainID), *f.RefusalSigned)
			if *f.Status.Reject != test.reason || *f.Reason == "" || !ok || signer != signerOf("r0").Address() {
				t.Errorf("it refuses by %+v", f)
			}
			for n := range patienceBlocks {
				w.tell(types.Height(102 + n))
				if again := brought(); (len(again) == 1) != (n == patienceBlocks-1) {
					t.Errorf("%d blocks later it brings %+v", n+1, again)
				}
			}
			w.chain[id] = Standing{}
			w.tell(120)
			if all := brought(); len(all) != 0 || len(w.order) != 0 {
				t.Errorf("after its end it brings %+v", all)
			}
		})
	}
}
