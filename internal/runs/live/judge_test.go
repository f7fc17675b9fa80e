package live

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// begin opens a network of four and runs it for some blocks.
func begin(t *testing.T) *Stage {
	t.Helper()
	backend, err := Opener(context.Background())(scenario.Config{Seed: 7, Validators: 4, BlockTime: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := backend.(*Stage)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for h := types.Height(0); h < 4; {
		if h, err = s.Next(h, time.Second); err != nil || s.Violation() != nil {
			t.Fatal(err, s.Violation())
		}
	}
	return s
}

// says lets a validator be heard with a vote of its own in a view far ahead.
func (s *Stage) says(node string, kind types.VoteKind, block byte) {
	s.judge.hears(s.Network.Genesis().ChainID, node, kind, block)
}

func (j *judge) hears(chainID uint64, node string, kind types.VoteKind, block byte) {
	key := crypto.DeriveKey(7, "validator/"+node)
	vote := types.Vote{Kind: kind, View: 1 << 40, Height: 1 << 40, Validator: key.Address()}
	if kind != types.Nullify {
		vote.Block = types.Hash{block}
	}
	vote.Signature = key.Sign(vote.Digest(chainID))
	j.votes.keepFrame(key.Address(), append([]byte{2}, codec.Marshal(&vote)...))
}

// The live judge hears what is sent, and not only what certificates hold.
func TestTheJudgeHearsEveryVote(t *testing.T) {
	s := begin(t)
	if err := s.Check("certificates"); err != nil {
		t.Fatal(err)
	}
	s.judge.mu.Lock()
	counts := s.judge.oracles.Counts()
	s.judge.mu.Unlock()
	if counts.Votes <= counts.Signatures {
		t.Errorf("of %d votes %d are of certificates: it heard none", counts.Votes, counts.Signatures)
	}
	s.says("v1", types.Nullify, 0)
	s.says("v1", types.Finalize, 1)
	if err := s.Violation(); err == nil || !strings.Contains(err.Error(), "it finalized the view that it nullified") {
		t.Errorf("a vote against itself: %v", err)
	}
}

// Decision C1: who was told to lie is one of the f that may vote against themselves.
func TestTheJudgeExcusesTheFaulty(t *testing.T) {
	s := begin(t)
	s.says("v2", types.Notarize, 1)
	for _, err := range []error{order(s, fault.Misbehave, "v2", "equivocate"), order(s, fault.Misbehave, "v2", fault.Honest)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.says("v2", types.Notarize, 2)
	if err := s.Violation(); err != nil {
		t.Error(err)
	}
}

// Who lost its log of votes has to sit out, and is judged like any other.
func TestTheJudgeDoesNotExcuseTheWiped(t *testing.T) {
	s := begin(t)
	s.says("v1", types.Nullify, 0)
	for _, err := range []error{order(s, fault.Crash, "v1", ""), order(s, fault.Wipe, "v1", ""), order(s, fault.Restart, "v1", "")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s.says("v1", types.Finalize, 1)
	if err := s.Violation(); err == nil {
		t.Error("it finalizes the view that it nullified, and nobody says so")
	}
}

// A network that is driven by its API alone is judged as one that a script drives.
func TestTheOraclesWatchANetworkWithoutAScript(t *testing.T) {
	seed := uint64(7)
	w, err := Watch(t.Context(), box.Config{Plan: setup.Plan{Validators: 4, BlockTime: 50 * time.Millisecond, Seed: &seed}, Version: "test",
		Ephemeral: true},
		new(scenario.Timeline))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Do(fault.Order{Verb: fault.Misbehave, Node: "v2", Kind: "equivocate"}); err != nil {
		t.Fatal(err)
	}
	chain := w.Genesis().ChainID
	w.judge.hears(chain, "v2", types.Notarize, 1)
	w.judge.hears(chain, "v2", types.Notarize, 2)
	if err := w.Violation(); err != nil {
		t.Errorf("it was told to lie: %v", err)
	}
	w.judge.hears(chain, "v1", types.Notarize, 1)
	w.judge.hears(chain, "v1", types.Notarize, 2)
	if err := w.Violation(); err == nil {
		t.Error("v1 votes against itself, and nobody says so")
	}
}

// order is why a fault of a validator was not made, or nil.
func order(s *Stage, verb *fault.Verb, node, kind string) error {
	_, err := s.Do(fault.Order{Verb: verb, Node: node, Kind: kind})
	return err
}
