package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// without are the records of all kinds but one.
func without(t *testing.T, records [][]byte, kind recordKind) (kept [][]byte) {
	t.Helper()
	for i, data := range records {
		r, err := decodeRecord(i, data)
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != kind {
			kept = append(kept, data)
		}
	}
	return kept
}

// C1: "one that finalized it never nullifies it". While a validator runs, the
// certificate by which it finalizes takes it out of the view; after a restart from
// a log in which that is missing only its own vote tells.
func TestC1FinalizedIsNotNullifiedAfterARestartWithoutTheCertificate(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.settled()
	if !s.voted(types.Finalize, 1) {
		t.Fatal("no finalize vote")
	}
	records := without(t, s.all.Persist, certificateKind)
	s.all = Output{}
	s.restart(records)
	if s.m.view != 1 {
		t.Fatalf("it begins in view %d; this is about the one it finalized", s.m.view)
	}
	s.wait(time.Minute)
	if s.voted(types.Nullify, 1) {
		t.Error("it nullified a view it had finalized")
	}
}

// C5 for a leader's proposals: a proposal is in the log before it leaves; after a
// restart the same is sent again and no other is requested or proposed.
func TestC5ALeaderProposesTheSameAfterARestart(t *testing.T) {
	s := newSolo(t, 4, nil)
	var out Output
	for s.lastBuild() == nil {
		view := s.m.view
		if s.m.leaderIndex(view) != 0 {
			s.receive(1, s.certificate(types.Nullify, view, nil, 1, 2, 3))
		} else {
			s.wait(time.Second / 4)
		}
	}
	build := s.lastBuild()
	b := s.child(nil, build.View)
	out = s.step(Built{Epoch: s.m.set.Epoch, View: build.View, Block: b})
	sent := proposals(s.out)
	if len(sent) != 1 || len(without(t, out.Persist, proposalKind)) == len(out.Persist) {
		t.Fatalf("%d proposals leave, and something else is persisted with them", len(sent))
	}
	records := s.all.Persist
	s.all = Output{}
	s.restart(records)
	s.wait(time.Second)
	again := proposals(s.all)
	if len(again) == 0 || s.lastBuild() != nil {
		t.Fatalf("after the restart %d proposals leave; another block is asked for: %v", len(again), s.lastBuild() != nil)
	}
	for _, p := range again {
		if p.View != build.View || p.Block.Hash() != b.Hash() || p.Signature != sent[0].Signature {
			t.Errorf("after the restart view %d gets the block %s", p.View, p.Block.Hash())
		}
	}
}

func proposals(o Output) (found []*types.Proposal) {
	for _, send := range o.Send {
		if p, ok := send.Message.(*types.Proposal); ok {
			found = append(found, p)
		}
	}
	return found
}

// A validator's store is one commit short of a border. When the validator crosses the border
// again, it takes up the votes that it cast there before a crash (C5, C6).
func TestVotesBehindABorderSurviveACrash(t *testing.T) {
	s := newSolo(t, 4, nil)
	s.epochBlocks = 1
	b, next := s.child(nil, 1), testSet(1, 4)
	executed := Executed{Hash: b.Hash(), Valid: true, Runners: 8, Next: &next}
	s.propose(1, b)
	s.step(executed)
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	s.receive(1, s.certificate(types.Finalize, 1, b, 1, 2, 3))
	if s.m.set.Epoch != 1 {
		t.Fatalf("it is in epoch %d", s.m.set.Epoch)
	}
	if s.wait(time.Minute); s.m.rounds[2].ownVote(types.Nullify) == nil {
		t.Fatal("it does not vote in the first view after the border")
	}
	records := s.all.Persist
	s.all = Output{}
	s.restart(records)
	if s.m.set.Epoch != 0 {
		t.Fatalf("its store is in epoch 0, and it begins in epoch %d", s.m.set.Epoch)
	}
	s.step(executed)
	r := s.m.rounds[2]
	if s.m.set.Epoch != 1 || r == nil || r.ownVote(types.Nullify) == nil {
		t.Fatalf("in epoch %d it forgot that it nullified view 2, and may finalize it", s.m.set.Epoch)
	}
	c := s.child(b, 2)
	c.Header.SetEpoch, c.Header.Epoch = 1, 1
	s.receive(1, s.certificate(types.Notarize, 2, c, 1, 2, 3))
	if s.voted(types.Finalize, 2) {
		t.Error("it finalizes the view that it nullified")
	}
}
