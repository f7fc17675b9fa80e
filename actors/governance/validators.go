package governance

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// JoinValidator adds a validator at the epoch's end.
type JoinValidator struct {
	PublicKey types.PublicKey `cbor:"public_key"`
	Endpoint  string          `cbor:"endpoint"` // host:port of its QUIC listener
}

// LeaveValidator removes one at the epoch's end.
type LeaveValidator struct {
	Address types.Address `cbor:"address"`
}

// MaxEndpointBytes bounds a validator's endpoint: the longest host name and a port.
const MaxEndpointBytes = 262

// maxSetBytes bounds what is read back from state.
const maxSetBytes = 1 << 20

// Cycles implements Instruction.
func (*JoinValidator) Cycles(p *params.Params) types.Cycles { return p.CostStorageWrite }

// Cycles implements Instruction.
func (*LeaveValidator) Cycles(p *params.Params) types.Cycles { return p.CostStorageWrite }

// Execute implements Instruction. A leave that still waits is taken back.
//
// Spec: decision C6.
func (in *JoinValidator) Execute(c Chain) (Effect, *types.Fault) {
	address, err := crypto.AddressOf(in.PublicKey)
	if err != nil {
		return newRefusal("bad_public_key", "%v", err)
	}
	if len(in.Endpoint) > MaxEndpointBytes || !utf8.ValidString(in.Endpoint) {
		return newRefusal("bad_endpoint", "an endpoint is UTF-8 of at most %d bytes", MaxEndpointBytes)
	}
	set, moves := Validators(c.KV), Moves(c.KV)
	active := set.Index(address) >= 0
	waiting, waits := findMove(moves, address)
	switch {
	case waits && waiting.Join != nil:
		return newRefusal("already_joining", "validator %s joins at the end of epoch %d", address, EpochOf(c.Params, c.Height))
	case active && !waits:
		return newRefusal("already_validator", "%s is a validator", address)
	}
	var move *Move // nil: the leave is taken back
	if !active {
		move = &Move{Address: address, Join: &types.Validator{Address: address, PublicKey: in.PublicKey, Endpoint: in.Endpoint}}
	}
	return changeMove(c, set, moves, address, move, "validator.joining")
}

// Execute implements Instruction. A join that still waits is taken back.
//
// Spec: decision C6.
func (in *LeaveValidator) Execute(c Chain) (Effect, *types.Fault) {
	set, moves := Validators(c.KV), Moves(c.KV)
	active := set.Index(in.Address) >= 0
	waiting, waits := findMove(moves, in.Address)
	switch {
	case waits && waiting.Join == nil:
		return newRefusal("already_leaving", "validator %s leaves at the end of epoch %d", in.Address, EpochOf(c.Params, c.Height))
	case !active && !waits:
		return newRefusal("not_a_validator", "%s is not a validator", in.Address)
	}
	var move *Move // nil: the join is taken back
	if active {
		move = &Move{Address: in.Address}
	}
	return changeMove(c, set, moves, in.Address, move, "validator.leaving")
}

// changeMove gives an address another move, or none, if the next set is sound with
// it: also a move that is taken back may leave it empty or too large.
func changeMove(c Chain, set *types.ValidatorSet, moves []Move, address types.Address, move *Move, name string) (Effect, *types.Fault) {
	after := slices.DeleteFunc(moves, func(m Move) bool { return m.Address == address })
	if move != nil {
		after = append(after, *move)
	}
	if fault := checkMoves(c.Params, set, after); fault != nil {
		return Effect{}, fault
	}
	if move == nil {
		c.KV.Set(moveKey(address), nil)
	} else {
		c.KV.Set(moveKey(address), codec.Marshal(move))
	}
	return Effect{Events: []types.Event{newEvent(name, ValidatorMove{address, EpochOf(c.Params, c.Height) + 1})}}, nil
}

// ValidatorMove is the data of validator.joining and validator.leaving.
type ValidatorMove struct {
	Address types.Address `cbor:"address"`
	Epoch   types.Epoch   `cbor:"epoch"` // the first one in which it holds
}

// Move is a validator that joins, or leaves where Join is nil.
type Move struct {
	_       struct{} `cbor:",toarray"`
	Address types.Address
	Join    *types.Validator
}

func checkMoves(p *params.Params, set *types.ValidatorSet, moves []Move) *types.Fault {
	if uint64(len(moves)) > p.MaxValidatorMoves {
		return &types.Fault{Code: "too_many_moves", Message: fmt.Sprintf("at most %d validators join or leave an epoch", p.MaxValidatorMoves)}
	}
	switch n := len(applyMoves(set, moves)); {
	case n == 0:
		return &types.Fault{Code: "last_validator", Message: "the last validator cannot leave"}
	case uint64(n) > p.MaxValidators:
		return &types.Fault{Code: "too_many_validators", Message: fmt.Sprintf("at most %d validators", p.MaxValidators)}
	}
	return nil
}

// Validators returns the validator set that decides on the next block.
func Validators(kv Reader) *types.ValidatorSet {
	set := new(types.ValidatorSet)
	mustRead(kv.Get([]byte("g/v")), set)
	return set
}

// SetValidators writes the validator set of the next block.
func SetValidators(kv KV, set *types.ValidatorSet) { kv.Set([]byte("g/v"), codec.Marshal(set)) }

// Moves lists who joins and leaves at the epoch's end, by address.
func Moves(kv Reader) (moves []Move) {
	kv.Scan([]byte("g/w/"), []byte("g/w0"), func(_, value []byte) bool {
		var m Move
		mustRead(value, &m)
		moves = append(moves, m)
		return true
	})
	return moves
}

// MovesWait reports whether a validator joins or leaves at the epoch's end.
func MovesWait(kv Reader) (wait bool) {
	kv.Scan([]byte("g/w/"), []byte("g/w0"), func(_, _ []byte) bool {
		wait = true
		return false
	})
	return wait
}

// Rotate ends the epoch before next. If a validator joins or leaves, it writes and
// returns the set that decides from next on, otherwise nil (decision C6).
func Rotate(kv KV, epoch types.Epoch) *types.ValidatorSet {
	set, moves := Validators(kv), Moves(kv)
	if len(moves) == 0 {
		return nil
	}
	next := &types.ValidatorSet{Epoch: epoch, Members: applyMoves(set, moves)}
	if plant.Planted == plant.MembersStay {
		next.Members = set.Members
	}
	for _, m := range moves {
		kv.Set(moveKey(m.Address), nil)
	}
	kv.Set([]byte("g/u"), codec.Marshal(set))
	SetValidators(kv, next)
	return next
}

// Previous returns the validator set before the last border, or nil. A validator
// that restarts on the block before one needs it to judge that block's
// certificates.
func Previous(kv Reader) *types.ValidatorSet {
	data := kv.Get([]byte("g/u"))
	if data == nil {
		return nil
	}
	set := new(types.ValidatorSet)
	mustRead(data, set)
	return set
}

// applyMoves returns the members after the moves, sorted by address.
func applyMoves(set *types.ValidatorSet, moves []Move) (members []types.Validator) {
	for _, v := range set.Members {
		if m, moved := findMove(moves, v.Address); !moved || m.Join != nil {
			members = append(members, v)
		}
	}
	for _, m := range moves {
		if m.Join != nil {
			members = append(members, *m.Join)
		}
	}
	slices.SortFunc(members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	return members
}

func findMove(moves []Move, address types.Address) (Move, bool) {
	i := slices.IndexFunc(moves, func(m Move) bool { return m.Address == address })
	if i < 0 {
		return Move{}, false
	}
	return moves[i], true
}

// EpochOf returns the epoch of a block: heights 1 to epoch_blocks are epoch 0,
// and genesis counts to it.
func EpochOf(p *params.Params, h types.Height) types.Epoch {
	if h == 0 {
		return 0
	}
	return types.Epoch(uint64(h-1) / p.EpochBlocks)
}

// LastOfEpoch reports whether a block is the last of its epoch.
func LastOfEpoch(p *params.Params, h types.Height) bool { return h > 0 && uint64(h)%p.EpochBlocks == 0 }

// EndOfEpoch returns the last height of the epoch of h, which is above 0.
func EndOfEpoch(p *params.Params, h types.Height) types.Height {
	return types.Height((uint64(EpochOf(p, h)) + 1) * p.EpochBlocks)
}

// firstOfEpoch returns the lowest height that is at least h and the first of an
// epoch.
func firstOfEpoch(p *params.Params, h types.Height) types.Height {
	epochs := (uint64(h-1) + p.EpochBlocks - 1) / p.EpochBlocks
	return types.Height(epochs*p.EpochBlocks + 1)
}

func moveKey(a types.Address) []byte { return append([]byte("g/w/"), a[:]...) }

func mustRead(data []byte, v any) {
	if err := codec.Unmarshal(data, maxSetBytes, v); err != nil {
		panic(fmt.Sprintf("governance: state holds a %T that does not decode: %v", v, err))
	}
}
