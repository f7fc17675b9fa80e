package sim

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/internal/worlds/observe"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// watch is the oracles over a network.
type watch struct {
	*validatorNodes
	Judge    *oracle.Judge
	rules    oracle.Rules
	audits   *observe.Audits
	twinLogs map[types.Address]*mem.Log // of the last second process of each key
	gathers  bool                       // stores gather commits, which a crash loses
	last     tappedFrame
	keeps    bool   // what the oracles are told
	told     []word // all of it so far, if it is kept and at most maxTold
}

// word is one input of the oracles: the judge of a network that begins from
// another's rest gets it again.
type word func(*oracle.Judge)

// maxTold bounds the kept inputs of the oracles: some hours of four validators with
// blocks of a second.
const maxTold = 1 << 20

// tellOracles tells the oracles, and keeps it where that is wanted.
func (w *watch) tellOracles(told word) {
	told(w.Judge)
	switch {
	case !w.keeps:
	case len(w.told) == maxTold:
		w.keeps, w.told = false, nil
	default:
		w.told = append(w.told, told)
	}
}

// tellStoredBlock tells the oracles of a block that a validator has stored, once it is synced.
// It skips a disk that lies about its syncs.
func (w *watch) tellStoredBlock(name string, r *ledger.Result) {
	one := w.findNode(name)
	if one.disk.lying != nil {
		return
	}
	if w.gathers {
		log := one.disk.records
		w.tellOracles(func(j *oracle.Judge) { j.Showed(one.address, r.Block.Header.Height, r.Hash, log) })
		return
	}
	kept := func() { w.tellOracles(func(j *oracle.Judge) { j.Kept(one.address, r.Block.Header.Height, r.Hash) }) }
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

// showVote shows the oracles every vote that is sent, also those that no
// certificate will hold.
func (w *watch) showVote(from types.Address, frame []byte) {
	if w.last.from == from && bytes.Equal(w.last.frame, frame) {
		return // to another peer
	}
	w.last = tappedFrame{from, frame}
	if vote := observe.VoteIn(frame, from, w.chainID, w.scheme.Recover); vote != nil {
		log := w.logsOf(from)
		w.tellOracles(func(j *oracle.Judge) {
			j.Vote(*vote)
			j.Sends(vote, log)
		})
	} else if p := observe.ProposalIn(frame); p != nil {
		w.tellOracles(func(j *oracle.Judge) { j.Proposed(from, p.Block) })
	}
}

// logsOf returns the records of a key's logs: its node's, and that of a second process.
func (w *watch) logsOf(key types.Address) [][]byte {
	own := w.byAddress[key].disk.records
	twin := w.twinLogs[key]
	if twin == nil {
		return own
	}
	all := slices.Clone(own)
	if err := twin.Replay(func(record []byte) error {
		all = append(all, record)
		return nil
	}); err != nil {
		return own // it has ended, and sends nothing
	}
	return all
}

// Err is the first thing that went wrong: a rule broken, as an oracle saw it, or
// a validator that stopped by itself.
func (w *watch) Err() error {
	if err := w.Judge.Err(); err != nil {
		return fmt.Errorf("sim: seed %d: %w", w.Seed(), err)
	}
	return w.failure
}

// excuseValidator tells the oracles that a validator may contradict itself.
func (w *watch) excuseValidator(name string) {
	address := w.keys[name].Address()
	w.tellOracles(func(j *oracle.Judge) { j.Excuse(address) })
}

// tellDiskLoss tells them that its disk was emptied or damaged.
func (w *watch) tellDiskLoss(name string) {
	address := w.keys[name].Address()
	w.tellOracles(func(j *oracle.Judge) { j.Lost(address) })
}
