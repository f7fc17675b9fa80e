package oracle

import "github.com/cowboyinc/devnet/internal/base/types"

// judgeLeader judges a block's proposer and view (decisions C1, C6). The epoch follows from the
// height, and views rise along the chain. The view's turn decides the proposer: the judge
// counts it separately over the set sorted by address. The parent was notarized in its
// own view or, if it was proposed again (decision C4), in a later one, before this one.
// Views after the last block of a set begin with that block's view. Votes carry the epoch
// in which their set began.
func (j *Judge) judgeLeader(o *Observation, parent *types.Header) {
	h := &o.Block.Header
	wrong := func(format string, args ...any) {
		j.reportViolation("leader", h.Height, types.Address{}, format, args...)
	}
	if n := j.rules.EpochBlocks; n > 0 {
		if want := types.Epoch(uint64(h.Height-1) / n); h.Epoch != want {
			wrong("wrong epoch: the block has %d; with %d blocks per epoch it is %d", h.Epoch, n, want)
		}
	}
	if h.View <= parent.View {
		wrong("view %d does not follow the parent's view %d", h.View, parent.View)
	}
	if set := j.setOf(h.Epoch); set != nil {
		if j.rules.Hears && len(set.Members) > 1 && !j.proposed[o.Hash] { // who is alone sends none
			wrong("%s never sent a proposal of it, and is named as its proposer", h.Proposer)
		}
		if h.SetEpoch != set.Epoch {
			wrong("wrong set: the block names the set of epoch %d, want epoch %d", h.SetEpoch, set.Epoch)
		}
		j.seen.Leaders++
		if turn := turnOf(set, h.View); h.Proposer != turn {
			wrong("%s proposed in view %d of epoch %d, which is the turn of %s", h.Proposer, h.View, h.Epoch, turn)
		}
	}
	c := o.Block.Parent
	if c == nil {
		return // of genesis; or certify accuses it
	}
	before, now := j.setOf(parent.Epoch), j.setOf(h.Epoch)
	if before == nil || now == nil {
		return
	}
	border := before.Epoch != now.Epoch // its block is proposed again until it is final
	if c.Epoch != before.Epoch || c.View < parent.View || c.View >= h.View && !border {
		wrong("the parent, of view %d and set epoch %d, has a notarization of view %d by set epoch %d; the block has view %d",
			parent.View, before.Epoch, c.View, c.Epoch, h.View)
	}
}

// Proposed says that a validator sent a proposal of a block, signed as its view's
// leader. It is told before the block can become final.
func (j *Judge) Proposed(from types.Address, b *types.Block) {
	if b.Header.Proposer == from {
		j.proposed[hashHeader(&b.Header)] = true
	}
}

// setOf is the set of an epoch: the one announced last up to it. It is remembered
// until another is announced, since most epochs announce none.
func (j *Judge) setOf(epoch types.Epoch) *types.ValidatorSet {
	if set, known := j.inForce[epoch]; known {
		return set
	}
	for e := epoch; ; e-- {
		if _, known := j.sets[e]; known {
			set := j.sets[e]
			j.inForce[epoch] = &set
			return &set
		}
		if e == 0 {
			return nil
		}
	}
}

// turnOf counts views around the set, by address.
func turnOf(set *types.ValidatorSet, view types.View) types.Address {
	turn := uint64(view) % uint64(len(set.Members))
	for i := range set.Members {
		before := uint64(0)
		for k := range set.Members {
			if set.Members[k].Address.Compare(set.Members[i].Address) < 0 {
				before++
			}
		}
		if before == turn {
			return set.Members[i].Address
		}
	}
	return types.Address{}
}
