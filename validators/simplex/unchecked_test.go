package simplex

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Step does not use the parts of a certificate that Unchecked leaves out. Given the whole of it, a machine
// files the votes that Unchecked named and continues with them, helps its sender if Unchecked said that, and
// does nothing more. So it is under loss, partitions and crashes, and over borders.
func TestWhatIsSiftedOutTeachesNothing(t *testing.T) {
	var useless, lacked, past int
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		w := newWorld(seed, []int{4, 5, 7}[seed%3], func(w *world) {
			w.epochBlocks = []uint64{3, 64}[seed%2]
			w.cfg.Timing.BlockTime, w.cfg.Timing.LinkDelay = 100*time.Millisecond, 100*time.Millisecond
			w.jitter, w.duplicate = 50*time.Millisecond, 0.1
		})
		w.whole = func(n *member, d delivery, s Unchecked) {
			w.step(n, Tick{})
			if n.down {
				return
			}
			c := d.raw.(*types.Certificate)
			s = n.machine.Unchecked(c)
			verified, err := CheckCertificate(testChain, testRecoverer{}, n.machine.Sets(), c)
			if err != nil || s.Whole {
				return
			}
			before, event := votesIn(n.machine, c), Received{From: testAddress(d.from), Message: verified}
			if len(s.Votes) > 0 {
				lacked++
				if w.step(n, event); n.down {
					return
				}
			} else {
				out := n.machine.Step(w.now, event)
				helps := len(out.Send) == 1 && s.Past != nil
				if len(out.Persist)+len(out.Ask)+len(out.Report)+len(out.Forget) > 0 || len(out.Send) > 0 && !helps {
					t.Errorf("seed %d: %s made it do more: %+v", seed, describe(c), out)
				}
				for _, send := range out.Send {
					w.send(n, send)
				}
			}
			if filed := votesIn(n.machine, c) - before; filed != len(s.Votes) {
				t.Errorf("seed %d: %s brought %d votes, not the %d that Unchecked named", seed, describe(c), filed, len(s.Votes))
			}
			if s.Past != nil {
				past++
			} else if len(s.Votes) == 0 {
				useless++
			}
		}
		chaos(w, rng, 40*time.Second)
		w.run(5*time.Second, nil)
	}
	if useless < 1000 || lacked < 100 || past < 10 {
		t.Errorf("only %d certificates were useless, %d brought votes, %d were old", useless, lacked, past)
	}
}

// votesIn is how many votes of a certificate's view and kind are held.
func votesIn(m *Machine, c *types.Certificate) (held int) {
	if r := m.rounds[c.View]; r != nil {
		for _, v := range r.ballotOf(c.Kind).votes {
			if v != nil {
				held++
			}
		}
	}
	return held
}

// C1: a certificate of which something is known is believed no more than any other.
// A forged one is checked whole and refused, or its new part is, and the rest is not used: it
// proves nothing, accuses no validator and brings no vote that its voter did not sign.
func TestForgedCertificatesOfWhatIsKnownCountForNothing(t *testing.T) {
	for name, forge := range forgeries {
		s := newSolo(t, 4, nil)
		b := s.settled()
		forged := s.certificate(types.Notarize, 1, b, 0, 1, 2)
		forge(forged)
		unchecked := s.m.Unchecked(forged)
		if unchecked.Past != nil {
			t.Errorf("%s: it passes as an old one", name)
		}
		if unchecked.Whole {
			if _, err := Check(testChain, testRecoverer{}, s.m.Sets(), forged); err == nil {
				t.Errorf("%s: it passes", name)
			}
		}
		s.all = Output{}
		for _, v := range unchecked.Votes {
			if verified, err := CheckVote(testChain, testRecoverer{}, s.m.Sets(), v); err == nil {
				s.step(Received{From: testAddress(1), Message: verified})
			}
		}
		for _, v := range s.m.rounds[1].ballotOf(types.Notarize).votes {
			if v != nil && v.Signature != (testKey{v.Validator}).Sign(v.Digest(testChain)) {
				t.Errorf("%s: a vote counts that %s did not sign", name, v.Validator)
			}
		}
		if len(s.all.Persist)+len(s.all.Report)+len(s.all.Send) > 0 {
			t.Errorf("%s: it made the machine do %+v", name, s.all)
		}
	}
}

// C3: the next leader carries a certificate's new votes, except forged ones.
func TestSiftKeepsTheVotesThatAreNew(t *testing.T) {
	s := newSolo(t, 7, nil)
	b := s.child(nil, 1)
	s.propose(1, b)
	s.execute(true)
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3, 4, 5))
	all := s.certificate(types.Notarize, 1, b, 0, 1, 2, 3, 4)
	if unchecked := s.m.Unchecked(all); unchecked.Whole || len(unchecked.Votes) > 0 || unchecked.Past != nil {
		t.Errorf("of votes that are known something is new: %+v", unchecked)
	}
	brings := s.certificate(types.Notarize, 1, b, 1, 2, 3, 4, 6)
	unchecked := s.m.Unchecked(brings)
	if unchecked.Whole || len(unchecked.Votes) != 1 || unchecked.Votes[0].Validator != testAddress(6) {
		t.Fatalf("of the one vote that is new %+v is to be checked", unchecked)
	}
	s.receive(2, unchecked.Votes[0])
	if again := s.m.Unchecked(brings); len(again.Votes) > 0 {
		t.Errorf("the same votes are to be checked again: %+v", again)
	}
	other := *b
	other.Header.Timestamp++
	if !s.m.Unchecked(s.certificate(types.Notarize, 1, &other, 1, 2, 3, 4, 5)).Whole ||
		!s.m.Unchecked(s.certificate(types.Nullify, 1, nil, 1, 2, 3, 4, 5)).Whole {
		t.Error("a message that contradicts a certificate of its view, or has another kind, is skipped")
	}
	if full := s.m.rounds[1].fullNotarization(s.m.set); len(full.Votes) != 7 {
		t.Errorf("a leader would carry %d votes of seven", len(full.Votes))
	}
}

// A peer that forwards a certificate of a view before a final one is helped, without
// proof, and once per resend interval: as for a vote of that view. Two finalizations that
// contradict one another are checked, however old.
func TestSiftOfThePast(t *testing.T) {
	s := newSolo(t, 4, nil)
	first := s.settled()
	second := s.child(first, 2)
	s.propose(2, second)
	s.execute(true)
	s.receive(1, s.certificate(types.Notarize, 2, second, 1, 2, 3))
	s.receive(1, s.certificate(types.Finalize, 2, second, 1, 2, 3))
	if s.m.rootView() != 2 {
		t.Fatalf("the root belongs to view %d", s.m.rootView())
	}
	old := s.m.Unchecked(s.certificate(types.Notarize, 1, first, 1, 2, 3))
	if old.Past == nil || old.Whole || len(old.Votes) > 0 {
		t.Fatalf("a certificate of the past is %+v", old)
	}
	for turn, want := range []int{1, 0} {
		out := s.step(Received{From: testAddress(3), Message: old.Past})
		if len(out.Send) != want || want == 1 && out.Send[0].Message != Message(s.m.root.Finalization) {
			t.Errorf("time %d: it sends %+v", turn+1, out.Send)
		}
	}
	if out := s.step(Received{From: testAddress(9), Message: old.Past}); len(out.Send) > 0 {
		t.Errorf("a stranger is sent %+v", out.Send)
	}
	fork := s.child(nil, 1)
	fork.Header.Timestamp++
	if !s.m.Unchecked(s.certificate(types.Finalize, 1, fork, 1, 2, 3)).Whole {
		t.Error("the finalization of another block of a final height is not looked at")
	}
}
