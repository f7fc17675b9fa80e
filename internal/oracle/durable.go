package oracle

import (
	"bytes"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// durable is the highest block that is certainly on each validator's disk.
type durable struct {
	kept  map[types.Address]keptBlock
	shown map[types.Address]types.Height // the highest that readers saw
}

// maxUnflushed is how many blocks that readers saw a validator's store may lose with its process (decision C5).
const maxUnflushed = 11

// keptBlock is the highest block that a validator's disk holds for certain.
type keptBlock struct {
	height types.Height
	hash   types.Hash
}

func newDurable() durable {
	return durable{map[types.Address]keptBlock{}, map[types.Address]types.Height{}}
}

// Kept reports that a validator's disk holds a final block, synced: after any
// failure of its process, it begins no earlier.
func (j *Judge) Kept(validator types.Address, height types.Height, hash types.Hash) {
	if before := j.durable.kept[validator]; height >= before.height {
		j.durable.kept[validator] = keptBlock{height, hash}
	}
}

// Showed reports that a validator's readers see a final block that its store may still gather in memory. Its log has a
// record of that block: what a crash takes from the store is executed from there. A nil log is not looked at.
func (j *Judge) Showed(validator types.Address, height types.Height, hash types.Hash, log [][]byte) {
	j.durable.shown[validator] = max(j.durable.shown[validator], height)
	for i := len(log) - 1; i >= 0; i-- {
		if bytes.Contains(log[i], hash[:]) {
			return
		}
	}
	if log != nil {
		j.reportViolation("durable", height, validator, "readers see block %s, and its log has nothing of it", hash)
	}
}

// Lost says that a validator's disk was emptied or damaged from outside: what it
// had made sure of is gone. It sits out until its votes are past, but for a network
// of up to three, which needs every vote: there it is excused (finding F17).
func (j *Judge) Lost(validator types.Address) {
	delete(j.durable.kept, validator)
	delete(j.durable.shown, validator)
	if len(j.rules.Set.Members) <= 3 {
		j.Excuse(validator)
	}
}

// Booted judges what a process begins with: no less than was kept for certain
// before (decision C5), the block that became final at that height, and the state
// that its header commits to.
func (j *Judge) Booted(validator types.Address, block *types.Header, hash, stateRoot types.Hash) {
	j.seen.Boots++
	j.endConnections(validator)
	wrong := func(format string, args ...any) {
		j.reportViolation("durable", block.Height, validator, format, args...)
	}
	if kept := j.durable.kept[validator]; block.Height < kept.height {
		wrong("boots at height %d, but had stored block %s of height %d", block.Height, kept.hash, kept.height)
	} else if block.Height == kept.height && kept.height > 0 && hash != kept.hash {
		wrong("boots with block %s, but had stored %s", hash, kept.hash)
	}
	if shown := j.durable.shown[validator]; block.Height+maxUnflushed < shown {
		wrong("boots at height %d, but readers saw height %d: at most %d blocks wait for a flush", block.Height, shown, maxUnflushed)
	}
	if known := j.chain[block.Height]; known != nil && known.first.Hash != hash {
		wrong("boots with block %s, but %s is final at that height", hash, known.first.Hash)
	}
	if stateRoot != block.StateRoot {
		wrong("boots with a state of root %s, the header has %s", stateRoot, block.StateRoot)
	}
}

// Sends judges a vote as it leaves for the first time: it is on disk already
// (decision C5). The records come from the sender's log, oldest first; a record
// that holds the vote holds its signature.
func (j *Judge) Sends(v *types.Vote, log [][]byte) {
	if j.votes.excused[v.Validator] {
		return
	}
	of, sent := j.votes.votesInView(v), sentVote{v.Kind, v.Block}
	if slices.Contains(of.sought, sent) {
		return
	}
	of.sought = append(of.sought, sent)
	j.seen.Persisted++
	for i := len(log) - 1; i >= 0; i-- {
		if bytes.Contains(log[i], v.Signature[:]) {
			return
		}
	}
	j.reportViolation("durable", v.Height, v.Validator, "its %s vote of view %d in epoch %d leaves, and is not in its log", v.Kind, v.View,
		v.Epoch)
}
