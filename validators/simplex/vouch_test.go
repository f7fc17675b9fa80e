package simplex

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// viewRequests are those that v0 sent, by recipient.
func (s *solo) viewRequests() (nonce uint64, to []types.Address) {
	for _, send := range s.out.Send {
		if r, ok := send.Message.(*ViewRequest); ok {
			nonce, to = r.Nonce, append(to, *send.To)
		}
	}
	return nonce, to
}

// sittingOut is v0 of four after the loss of its log, and the nonce of its requests.
func sittingOut(t *testing.T, more ...func(*Config)) (s *solo, nonce uint64) {
	t.Helper()
	s = newSolo(t, 4, func(c *Config) {
		c.Lost = true
		for _, set := range more {
			set(c)
		}
	})
	nonce, to := s.viewRequests()
	if nonce == 0 || len(to) != 3 {
		t.Fatalf("%v are asked for their views, with the nonce %d", to, nonce)
	}
	return s, nonce
}

// nullified is a nullification of a view by the other three.
func (s *solo) nullified(view types.View) *types.Certificate {
	return s.certificate(types.Nullify, view, nil, 1, 2, 3)
}

// votesAnywhere reports whether v0 voted in a view.
func (s *solo) votesAnywhere(view types.View) bool {
	return s.voted(types.Notarize, view) || s.voted(types.Nullify, view) || s.voted(types.Finalize, view)
}

// C5: n - f others vouch for a view. Two views after the highest certificate that they
// know a validator which forgot its votes votes again, and in no view before.
func TestC5OthersVouchForAView(t *testing.T) {
	s, nonce := sittingOut(t)
	s.receive(1, &ViewAnswer{Nonce: nonce})
	s.receive(2, &ViewAnswer{Nonce: nonce, Certificate: s.nullified(5)})
	s.receive(2, &ViewAnswer{Nonce: nonce, Certificate: s.nullified(5)})
	if s.m.floor.known {
		t.Fatal("two members vouch, and one of them twice: three are needed")
	}
	s.receive(3, &ViewAnswer{Nonce: nonce, Certificate: s.nullified(4)})
	if want := (floor{known: true, view: 7}); s.m.floor != want {
		t.Fatalf("the floor is %+v, want %+v", s.m.floor, want)
	}
	s.receive(1, s.nullified(6))
	s.wait(time.Minute)
	b := s.child(nil, 7)
	s.receive(1, s.certificate(types.Notarize, 7, b, 1, 2, 3))
	for view := types.View(1); view <= 7; view++ {
		if s.votesAnywhere(view) {
			t.Errorf("it votes in view %d, in which it may have voted before", view)
		}
	}
	if s.m.View() != 8 {
		t.Fatalf("it is in view %d", s.m.View())
	}
	late := s.child(nil, 6)
	s.receive(1, s.certificate(types.Notarize, 6, late, 1, 2, 3))
	if s.votesAnywhere(6) {
		t.Error("a late notarization of view 6 gets its vote")
	}
	if s.wait(time.Minute); !s.voted(types.Nullify, 8) {
		t.Error("it does not vote in view 8, in which it cannot have voted")
	}
}

// C20: a validator that cannot execute blocks as the network does votes for nothing after
// the loss of its log either, whatever others vouch for.
func TestC20VouchersLetNoUnfitValidatorVote(t *testing.T) {
	s, nonce := sittingOut(t, func(c *Config) { c.Follows = true })
	for from := 1; from <= 3; from++ {
		s.receive(from, &ViewAnswer{Nonce: nonce})
	}
	s.receive(1, s.nullified(3))
	if s.wait(time.Minute); s.m.View() != 4 || s.votesAnywhere(4) {
		t.Errorf("in view %d it votes: %v", s.m.View(), s.votesAnywhere(4))
	}
}

// An answer counts once a member, for the request of this life and for this epoch.
func TestC5OnlyAnswersToThisLifeVouch(t *testing.T) {
	s, nonce := sittingOut(t)
	for from := 1; from <= 3; from++ {
		s.receive(from, &ViewAnswer{Nonce: nonce + 1})
	}
	if s.m.floor.known {
		t.Error("answers to another life's request vouch")
	}
	if _, err := Check(testChain, testRecoverer{}, s.m.Sets(), &ViewAnswer{Nonce: nonce, Epoch: 1}); err == nil {
		t.Error("an answer of an epoch that is not known passes")
	}
	forged := s.nullified(9)
	forged.Votes = forged.Votes[:2]
	other := s.nullified(9)
	other.Epoch = 1
	for _, c := range []*types.Certificate{forged, other} {
		if _, err := Check(testChain, testRecoverer{}, s.m.Sets(), &ViewAnswer{Nonce: nonce, Certificate: c}); err == nil {
			t.Errorf("an answer with the certificate %s passes", describe(c))
		}
	}
}

// Members that did not answer are asked again, in 2Δ, and the others are not.
func TestC5VouchersAreAskedAgain(t *testing.T) {
	s, nonce := sittingOut(t)
	s.receive(2, &ViewAnswer{Nonce: nonce})
	s.wait(2*250*time.Millisecond - 1)
	s.out = Output{}
	s.wait(1)
	again, to := s.viewRequests()
	if again != nonce || len(to) != 2 || to[0] != testAddress(1) || to[1] != testAddress(3) {
		t.Errorf("%v are asked again, with the nonce %d", to, again)
	}
}

// A validator answers with the certificate by which it entered its view. A validator that
// sits out does not answer: its view proves nothing.
func TestC5AValidatorSaysItsView(t *testing.T) {
	answer := func(s *solo) *ViewAnswer {
		for _, send := range s.receive(2, &ViewRequest{Nonce: 77}).Send {
			if a, ok := send.Message.(*ViewAnswer); ok && *send.To == testAddress(2) {
				return a
			}
		}
		return nil
	}
	s := newSolo(t, 4, nil)
	if a := answer(s); a == nil || a.Nonce != 77 || a.Certificate != nil {
		t.Errorf("in view 1 it answers %+v", a)
	}
	s.receive(1, s.nullified(6))
	if a := answer(s); a == nil || a.Certificate == nil || a.Certificate.View != 6 {
		t.Errorf("in view 7 it answers %+v", a)
	}
	for range 2 * MaxRequests {
		answer(s)
	}
	if answer(s) != nil {
		t.Error("it answers without end")
	}
	out, _ := sittingOut(t)
	if a := answer(out); a != nil {
		t.Errorf("sitting out it answers %+v", a)
	}
}

// A view that others vouched for survives a crash, with the votes since. If the log is lost
// again, it does not.
func TestC5TheFloorSurvivesACrash(t *testing.T) {
	s, nonce := sittingOut(t)
	for from := 1; from <= 3; from++ {
		s.receive(from, &ViewAnswer{Nonce: nonce})
	}
	s.receive(1, s.nullified(2))
	if s.wait(time.Minute); !s.voted(types.Nullify, 3) {
		t.Fatal("it does not vote in view 3")
	}
	kept, err := Compact(s.all.Persist, s.m.Root())
	if err != nil {
		t.Fatal(err)
	}
	s.cfg.Lost = false
	s.restart(kept)
	if s.m.me < 0 || s.m.floor.view != 2 || s.m.rounds[3].ownVote(types.Nullify) == nil {
		t.Errorf("after a crash it is member %d, its floor %+v", s.m.me, s.m.floor)
	}
	s.cfg.Lost = true
	s.now = s.now.Add(time.Second)
	s.all = Output{}
	s.restart(kept)
	if s.m.me >= 0 {
		t.Error("its log is lost again, and it votes")
	}
	again, err := Compact(append(kept, s.all.Persist...), s.m.Root())
	if err != nil {
		t.Fatal(err)
	}
	s.cfg.Lost = false
	if s.restart(again); s.m.floor.known || s.m.me >= 0 {
		t.Errorf("the floor of a former life counts: %+v", s.m.floor)
	}
}

// A floor belongs to one epoch: in the next one this validator may have voted as well.
func TestC5AnotherEpochNeedsVouchersOfItsOwn(t *testing.T) {
	s, nonce := sittingOut(t)
	s.cfg.Root.Block.Header.Timestamp = 0
	for from := 1; from <= 3; from++ {
		s.receive(from, &ViewAnswer{Nonce: nonce})
	}
	s.receive(1, s.nullified(2))
	if s.m.me < 0 {
		t.Fatal("it does not take part")
	}
	next := testSet(1, 4)
	border := &types.Block{Header: types.Header{ChainID: testChain, Height: 64, View: 70, Timestamp: -1, NextSet: next.Hash()}}
	set := testSet(0, 4)
	s.step(CaughtUp{Root: Root{Block: border, Hash: border.Hash()}, Set: next, Previous: &set})
	if s.m.set.Epoch != 1 || s.m.me >= 0 {
		t.Errorf("in epoch %d it is member %d", s.m.set.Epoch, s.m.me)
	}
	if _, to := s.viewRequests(); len(to) != 3 {
		t.Errorf("%d members are asked in the next epoch", len(to))
	}
}

// nullifiesOnly is four validators. v3 votes nullify in every view and proposes nothing,
// while one after the other of the rest loses its log. It returns the violation and the
// smallest progress after a loss.
func nullifiesOnly(seed uint64) (violation string, least int) {
	rng := rand.New(rand.NewPCG(seed, 9))
	w := newWorld(seed, 4, func(w *world) {
		w.cfg.Timing.BlockTime, w.cfg.Timing.LinkDelay = 200*time.Millisecond, 50*time.Millisecond
		w.jitter, w.loss = 60*time.Millisecond, 0.02
		w.nodes[3].fails, w.nodes[3].invalid = true, func(*types.Block) bool { return true }
	})
	least = 1 << 30
	for range 4 {
		w.run(time.Duration(1000+rng.IntN(2000))*time.Millisecond, nil)
		n := w.nodes[rng.IntN(3)]
		w.stop(n)
		n.log, n.lost = nil, true
		w.start(n)
		made := len(n.chain)
		w.run(90*time.Second, func() bool { return len(n.chain) >= made+5 })
		least = min(least, len(n.chain)-made)
	}
	return w.violation, least
}

// C5: a validator which lost its log votes again, and contradicts nothing. The chain
// continues, though a liar lets no block become final without its victim.
func TestC5AWipedValidatorBesideALiarVotesAgain(t *testing.T) {
	for seed := range uint64(20) {
		if violation, least := nullifiesOnly(seed); violation != "" || least < 5 {
			t.Errorf("seed %d: %d blocks after a loss; %s", seed, least, violation)
		}
	}
}
