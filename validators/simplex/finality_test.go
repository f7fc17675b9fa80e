package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// finalityRequests are those that v0 sent, by recipient.
func (s *solo) finalityRequests() (to []types.Address) {
	for _, send := range s.all.Send {
		if r, ok := send.Message.(*CertificateRequest); ok && r.From > r.To && r.Block.IsZero() {
			to = append(to, *send.To)
		}
	}
	return to
}

// A notarized block whose finalize votes do not arrive is asked about, at one peer after
// another, once in 2Δ. Nothing is asked while blocks become final.
func TestC4FinalityIsAskedFor(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.settled()
	s.wait(2*250*time.Millisecond - 1)
	if to := s.finalityRequests(); len(to) != 0 {
		t.Fatalf("%v were asked at once", to)
	}
	s.wait(3 * 2 * 250 * time.Millisecond)
	to := s.finalityRequests()
	asked := map[types.Address]bool{}
	for _, peer := range to {
		asked[peer] = true
	}
	if len(to) != 3 || len(asked) != 3 {
		t.Errorf("in three intervals %v were asked", to)
	}
	s.receive(1, s.certificate(types.Finalize, 1, b, 1, 2, 3))
	if s.m.Root().Hash != b.Hash() {
		t.Fatal("the block is not final")
	}
	s.wait(time.Minute)
	if more := s.finalityRequests(); len(more) != len(to) {
		t.Errorf("%d peers are asked although nothing is notarized above the root", len(more)-len(to))
	}
}

// A request of certificates from a view up to the root's is answered by the root's
// finalization, however far the root is beyond the range.
func TestC4ARequestIsAnsweredByTheFinalization(t *testing.T) {
	s := newSolo(t, 4, nil)
	b := s.settled()
	answered := func(from types.View) bool {
		s.now = s.now.Add(time.Second)
		out := s.receive(2, &CertificateRequest{From: from, To: 0})
		for _, send := range out.Send {
			if c, ok := send.Message.(*types.Certificate); ok && c.Kind == types.Finalize && send.To != nil && *send.To == testAddress(2) {
				return true
			}
		}
		return false
	}
	if answered(1) {
		t.Error("a finalization is sent before there is one")
	}
	s.receive(1, s.certificate(types.Finalize, 1, b, 1, 2, 3))
	if !answered(1) {
		t.Error("a peer whose root is below does not get the finalization")
	}
	if answered(2) {
		t.Error("a peer that asks for the views after the root gets its finalization")
	}
}
