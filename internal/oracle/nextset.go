package oracle

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The opcodes of joining and leaving validators.
const (
	opJoin  = 65
	opLeave = 66
)

// turnover is the validator set as this package counts it, and who joins and
// leaves at the end of the epoch.
type turnover struct {
	members []types.Validator
	joins   map[types.Address]types.Validator
	leaves  map[types.Address]bool
}

func newTurnover(set types.ValidatorSet) turnover {
	return turnover{slices.Clone(set.Members), map[types.Address]types.Validator{}, map[types.Address]bool{}}
}

// judgeNextSet judges the set of the next epoch (decision C6): the members, less those
// who were told to leave, and those who were told to join, each by an instruction
// of the system key that a block executed.
func (j *Judge) judgeNextSet(o *Observation) {
	h := &o.Block.Header
	wrong := func(format string, args ...any) {
		j.reportViolation("nextset", h.Height, types.Address{}, format, args...)
	}
	j.countInstructions(o, wrong)
	last := j.rules.EpochBlocks > 0 && uint64(h.Height)%j.rules.EpochBlocks == 0
	if o.NextSet == nil {
		if last && len(j.turnover.joins)+len(j.turnover.leaves) > 0 {
			wrong("the epoch ends, %d validators join and %d leave, and no set follows", len(j.turnover.joins), len(j.turnover.leaves))
		}
		return
	}
	if !last && j.rules.EpochBlocks > 0 || o.NextSet.Epoch != h.Epoch+1 {
		wrong("a set of epoch %d is announced in epoch %d, whose last block this is: %v", o.NextSet.Epoch, h.Epoch, last)
	}
	j.seen.Sets++
	t := &j.turnover
	var next []types.Validator
	for _, m := range t.members {
		if !t.leaves[m.Address] {
			next = append(next, m)
		}
	}
	for _, at := range sortedAddresses(t.joins) {
		next = append(next, t.joins[at])
	}
	slices.SortFunc(next, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	*t = newTurnover(types.ValidatorSet{Members: next})
	if !slices.Equal(next, o.NextSet.Members) {
		wrong("the next set is %v, and by the instructions %v", addressesOf(o.NextSet.Members), addressesOf(next))
	}
}

// countInstructions counts the instructions of a block.
func (j *Judge) countInstructions(o *Observation, wrong func(string, ...any)) {
	done := map[types.Hash]*types.Receipt{}
	for i := range o.Receipts {
		if r := &o.Receipts[i]; r.Origin == types.OriginTransaction && r.Status == types.StatusOK {
			done[r.Hash] = r
		}
	}
	for i := range o.Block.Transactions {
		tx := &o.Block.Transactions[i]
		r := done[keccak256(codec.Marshal(tx))]
		opcode, args := instructionOf(tx)
		if r == nil || opcode == 0 || opcode == opImpersonate { // the oracle of accounts judges who signs that
			continue
		}
		if r.Sender != j.rules.SystemKey {
			wrong("the instruction %s comes from %s, which is not the system key", r.Hash, r.Sender)
		}
		switch opcode {
		case opJoin:
			j.countJoin(args, wrong)
		case opLeave:
			j.countLeave(args, wrong)
		}
	}
}

// countJoin counts one who joins; who was about to leave stays instead.
func (j *Judge) countJoin(args []byte, wrong func(string, ...any)) {
	var in struct {
		PublicKey types.PublicKey `cbor:"public_key"`
		Endpoint  string          `cbor:"endpoint"`
	}
	err := codec.Unmarshal(args, types.MaxTransactionBytes, &in)
	address, ok := j.rules.AddressOf(in.PublicKey)
	if err != nil || !ok {
		wrong("an executed instruction lets no validator join: %v", err)
		return
	}
	if j.turnover.leaves[address] {
		delete(j.turnover.leaves, address)
		return
	}
	j.turnover.joins[address] = types.Validator{Address: address, PublicKey: in.PublicKey, Endpoint: in.Endpoint}
}

// countLeave counts one who leaves; who was about to join does not.
func (j *Judge) countLeave(args []byte, wrong func(string, ...any)) {
	var in struct {
		Address types.Address `cbor:"address"`
	}
	if err := codec.Unmarshal(args, types.MaxTransactionBytes, &in); err != nil {
		wrong("an executed instruction lets no validator leave: %v", err)
		return
	}
	if _, waits := j.turnover.joins[in.Address]; waits {
		delete(j.turnover.joins, in.Address)
		return
	}
	j.turnover.leaves[in.Address] = true
}

func addressesOf(members []types.Validator) []types.Address {
	all := make([]types.Address, 0, len(members))
	for _, m := range members {
		all = append(all, m.Address)
	}
	return all
}
