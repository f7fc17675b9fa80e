package sim

import (
	"bytes"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/oracle"
	"github.com/cowboyinc/devnet/internal/worlds/observe"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// watch is the oracles over a network.
type watch struct {
	*fleet
	Judge  *oracle.Judge
	rules  oracle.Rules
	audits *observe.Audits
	last   tappedFrame
}

// keep tells the oracles of a block that a validator has stored, once it is synced.
func (w *watch) keep(name string, r *ledger.Result) {
	one := w.find(name)
	kept := func() { w.Judge.Kept(one.address, r.Block.Header.Height, r.Hash) }
	if synced := one.disk.free; synced > w.now {
		process := one.process
		w.At(synced, func() {
			if process != nil && !process.dead {
				kept()
			}
		})
		return
	}
	kept()
}

// tappedFrame is the last frame that was overheard: one goes to many.
type tappedFrame struct {
	from  types.Address
	frame []byte
}

// overhear shows the oracles every vote that is sent, also those that no
// certificate will hold.
func (w *watch) overhear(from types.Address, frame []byte) {
	if w.last.from == from && bytes.Equal(w.last.frame, frame) {
		return // to another peer
	}
	w.last = tappedFrame{from, frame}
	if vote := observe.VoteIn(frame, from, w.chainID, w.scheme.Recover); vote != nil {
		w.Judge.Vote(*vote)
		w.Judge.Sends(vote, w.byAddress[from].disk.records)
	} else if p := observe.ProposalIn(frame); p != nil {
		w.Judge.Proposed(from, p.Block)
	}
}

// Err is the first thing that went wrong: a rule broken, as an oracle saw it, or
// a validator that stopped by itself.
func (w *watch) Err() error {
	if err := w.Judge.Err(); err != nil {
		return fmt.Errorf("sim: seed %d: %w", w.Seed(), err)
	}
	return w.failure
}
