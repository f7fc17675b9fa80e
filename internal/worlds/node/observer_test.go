package node

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// told is a view by which the test itself tells heads.
type told struct {
	env.ChainView
	receive func(*chainview.Head)
	closed  bool
}

// Start implements env.ChainView.
func (v *told) Start(receive func(*chainview.Head)) error {
	v.receive = receive
	return nil
}

// Close implements env.ChainView.
func (v *told) Close() error {
	v.closed = true
	return nil
}

func TestAnObserverIsToldOfHeads(t *testing.T) {
	view, heights, verifier := &told{}, uint64(0), crypto.NewVerifier(true)
	o := NewObserver(ObserverConfig{Parts: Parts{Name: "o0", Signer: verifier.Signer(crypto.DeriveKey(1, "o0")), Verifier: verifier,
		Clock: clock.New()}, Chain: func() (env.ChainView, error) { return view, nil },
		Boot: func(e env.Observer) (func(), error) {
			return func() {}, e.Chain.Start(func(h *chainview.Head) { heights += uint64(h.Height) })
		}})
	if err := o.Start(); err != nil {
		t.Fatal(err)
	}
	view.receive(&chainview.Head{Height: 7})
	if err := o.Stop(); err != nil || heights != 7 || !view.closed {
		t.Fatalf("heights %d, closed %v: %v", heights, view.closed, err)
	}
}
