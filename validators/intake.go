package validators

import (
	"errors"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/cowboyinc/devnet/internal/env"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Events of the intake role.
type (
	// frame is what the transport delivered.
	frame struct {
		from types.Address
		data []byte
	}
	// submission is a transaction that came in at this validator.
	submission struct {
		raw    []byte
		answer func(types.Hash, error)
	}
)

// verify asks to check finalized blocks that a peer sent.
type verify struct{ ask catchup.Verify }

// intake is the role that meets the outside: nothing passes it that is
// malformed or not signed by whom it names.
type intake struct {
	v    *Validator
	held []frame // of sets to come, until those are known
	size int     // of them, in bytes
}

// Limits of the frames of sets to come that wait. A crowd of them hints that
// this validator does not come to those by itself.
const (
	maxHeld      = 1024
	maxHeldBytes = 8 << 20
	crowd        = 32
)

// newSets says that the validator sets have changed.
type newSets struct{}

func (in *intake) receive(ctx actor.Context) {
	switch event := ctx.Message().(type) {
	case frame:
		in.frame(event)
	case submission:
		in.submission(event)
	case verify:
		in.verify(event.ask)
	case newSets:
		held := in.held
		in.held, in.size = nil, 0
		for _, f := range held {
			in.frame(f)
		}
	}
}

func (in *intake) frame(f frame) {
	read, err := in.v.memo.read(f.data)
	in.v.did(env.BytesRead, uint64(len(f.data)))
	if err != nil {
		in.refuse(f.from, err)
		return
	}
	switch message := read.message.(type) {
	case *transactions:
		in.transactions(f.from, message)
	case *catchup.RangeRequest:
		in.v.post(in.v.archive, rangeRequest{f.from, message})
	case *catchup.Batch:
		in.v.post(in.v.consensus, catchup.Answer{From: f.from, Batch: message})
	default:
		in.consensus(f, read)
	}
}

// consensus checks a message of the consensus.
func (in *intake) consensus(f frame, read *reading) {
	sets := *in.v.sets.Load()
	in.v.did(env.Recoveries, signaturesIn(read.message))
	verified, err := in.v.memo.check(read, sets, func() (simplex.Verified, error) {
		return simplex.Check(in.v.genesis.ChainID, in.v.node.Verifier, sets, read.message)
	})
	var unknown *simplex.UnknownEpoch
	switch {
	case errors.As(err, &unknown):
		in.ahead(f, unknown)
	case err != nil:
		in.refuse(f.from, err)
	default:
		in.v.post(in.v.consensus, simplex.Received{From: f.from, Message: verified})
	}
}

// ahead keeps a message of a set to come until that is known: whoever is a few
// blocks late at a border must lose nothing, or a view that it leads waits for it
// in vain. The first of them, and each crowd, hints that this validator lags
// behind their sender.
func (in *intake) ahead(f frame, unknown *simplex.UnknownEpoch) {
	if unknown.Epoch <= unknown.Current {
		return
	}
	if len(in.held) >= maxHeld || in.size+len(f.data) > maxHeldBytes {
		in.held, in.size = nil, 0
	}
	if len(in.held)%crowd == 0 {
		in.v.post(in.v.consensus, ahead{f.from, unknown.Epoch})
	}
	in.held = append(in.held, f)
	in.size += len(f.data)
}

// verify checks finalized blocks against the sets they were decided by.
func (in *intake) verify(ask catchup.Verify) {
	sets := simplex.Sets{ask.Root.Set}
	if ask.Root.Previous != nil {
		sets = append(sets, *ask.Root.Previous)
	}
	certificate := func(c *types.Certificate) error {
		in.v.did(env.Recoveries, uint64(len(c.Votes)))
		_, err := simplex.CheckCertificate(in.v.genesis.ChainID, in.v.node.Verifier, sets, c)
		return err
	}
	batch, err := catchup.Check(ask.Batch, &ask.Root, certificate)
	if err != nil {
		in.v.count.refusedFrames.Add(1)
		in.v.log.Warn("finalized blocks were refused", "error", err)
		in.v.post(in.v.consensus, catchup.Refused{ID: ask.ID})
		return
	}
	in.v.post(in.v.consensus, catchup.Verified{ID: ask.ID, Batch: batch})
}

func (in *intake) transactions(from types.Address, message *transactions) {
	if len(message.Raw) > maxTransactions {
		in.refuse(from, errors.New("too many transactions in one frame"))
		return
	}
	var checked []*ledger.Checked
	in.v.did(env.Recoveries, uint64(len(message.Raw)))
	for _, raw := range message.Raw {
		tx, err := in.v.admitter.Admit(in.v.head.Load().State, raw)
		if err != nil {
			in.v.count.refusedTransactions.Add(1)
			continue // the sender may have known an older state
		}
		checked = append(checked, tx)
	}
	if len(checked) > 0 {
		in.v.post(in.v.execution, admission{txs: checked})
	}
}

func (in *intake) submission(s submission) {
	in.v.did(env.Recoveries, 1)
	tx, err := in.v.admitter.Admit(in.v.head.Load().State, s.raw)
	if err != nil {
		in.v.count.refusedTransactions.Add(1)
		s.answer(types.Hash{}, err)
		return
	}
	in.v.post(in.v.execution, admission{txs: []*ledger.Checked{tx}, local: s.answer})
}

// refuse counts what a peer sent that no honest peer sends.
func (in *intake) refuse(from types.Address, err error) {
	in.v.count.refusedFrames.Add(1)
	in.v.log.Warn("a frame was refused", "from", from, "error", err)
}

// signaturesIn is how many signatures a message of the consensus holds to be
// checked.
func signaturesIn(message any) uint64 {
	switch message := message.(type) {
	case *types.Vote:
		return 1
	case *types.Certificate:
		return uint64(len(message.Votes))
	case *types.Proposal:
		return 1 + signaturesOf(message.Block)
	case *simplex.BlockAnswer:
		return signaturesOf(message.Block)
	}
	return 0
}

// signaturesOf is how many votes a block's certificates hold.
func signaturesOf(b *types.Block) (n uint64) {
	if b == nil {
		return 0
	}
	for _, c := range []*types.Certificate{b.Parent, b.Finalization} {
		if c != nil {
			n += uint64(len(c.Votes))
		}
	}
	return n
}
