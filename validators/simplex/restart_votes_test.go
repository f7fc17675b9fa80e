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

// C5 of what a leader proposes: it is in the log before it leaves, and after a
// restart the same is sent again and nothing else is asked for or proposed.
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
		t.Fatalf("%d proposals leave, and with them is persisted what is no proposal", len(sent))
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
