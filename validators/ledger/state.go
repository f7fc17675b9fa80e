package ledger

import (
	"fmt"
	"math"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// State is the chain after a block. It never changes.
type State struct {
	tree    *trie.Tree
	header  types.Header // the block's header
	hash    types.Hash
	params  *params.Params // the parameters in force in the block
	next    *params.Params // the parameters in force in the block after it
	set     *types.ValidatorSet
	fees    BaseFees // the base fees of the block after it
	hasWork bool
	due     uint64 // timers whose height has come and that have not ended

	changesWait bool     // changes of watched keys wait for the block after it
	runners     registry // its record of runners
}

// Supply is what was made and burned since genesis, in wei (decision C15).
type Supply struct {
	_               struct{} `cbor:",toarray"`
	Genesis         types.Wei
	Minted          types.Wei
	BurnedCycle     types.Wei
	BurnedCell      types.Wei
	BurnedLaneTimer types.Wei

	// Removed is what balances that were set lack on the whole. Minted is 0 then: one
	// of them says by how much set balances changed the supply (decision G2). State
	// has it under a separate key, once there is any.
	Removed types.Wei `cbor:"-"`
}

// Circulating is the sum of the balances and the prepaid messages.
func (s *Supply) Circulating() types.Wei {
	return s.Genesis.Add(s.Minted).Sub(s.Burned()).Sub(s.Removed)
}

// Burned is the sum of the three.
func (s *Supply) Burned() types.Wei { return s.BurnedCycle.Add(s.BurnedCell).Add(s.BurnedLaneTimer) }

// keySupply holds the Supply, and keyRemoved the part of it that is Removed.
var keySupply, keyRemoved = []byte("x/supply"), []byte("x/removed")

// reader reads a tree as actors and governance read a state.
type reader struct{ tree *trie.Tree }

func (r reader) Get(key []byte) []byte {
	value, _ := r.tree.Get(key)
	return value
}

func (r reader) Scan(from, to []byte, each func(key, value []byte) bool) {
	r.tree.Scan(from, to, each)
}

// Set makes a reader the scheduler's KV; it is never called.
func (r reader) Set(key, _ []byte) {
	panic(fmt.Sprintf("ledger: a write of %q to a state that does not change", key))
}

// Restore returns the state that a store holds, after the given block. Its error
// means that the store does not hold that block's state.
func Restore(content []Change, block *types.Block) (*State, error) {
	entries := make([]trie.Change, len(content))
	for i := range content {
		entries[i] = trie.Change{Key: content[i].Key, Value: content[i].Value}
	}
	tree := trie.Build(entries)
	if root := tree.Root(); root != block.Header.StateRoot {
		return nil, fmt.Errorf("ledger: the stored state has root %s, the block of height %d says %s",
			root, block.Header.Height, block.Header.StateRoot)
	}
	p, err := params.Load(func(stateKey string) []byte {
		value, _ := actors.StorageOf(reader{tree}, types.GovernanceAddress, []byte(stateKey))
		return value
	})
	if err != nil {
		return nil, err
	}
	due := scheduler.CountDue(&p, reader{tree}, block.Header.Height)
	return newState(tree, block.Header, block.Hash(), &p, due, registryOf(tree)), nil
}

func newState(tree *trie.Tree, header types.Header, hash types.Hash, p *params.Params, due uint64, runners registry) *State {
	s := &State{tree: tree, header: header, hash: hash, params: p, due: due, runners: runners, set: governance.Validators(reader{tree})}
	s.next, _ = governance.InForce(reader{tree}, p, header.Height+1)
	s.fees = s.feesAfter(0, s.next)
	next, pending := scheduler.NextDue(p, reader{tree})
	s.changesWait = scheduler.WatchesWait(reader{tree})
	s.hasWork = pending && next <= header.Height+1 || s.messagesWait() || s.changesWait || s.jobsDue() || s.returnsLate()
	return s
}

func (s *State) messagesWait() (waiting bool) {
	actors.ScanMessages(reader{s.tree}, func(*actors.Message) bool {
		waiting = true
		return false
	})
	return waiting
}

// Height returns the block's height.
func (s *State) Height() types.Height { return s.header.Height }

// Hash returns the block's hash.
func (s *State) Hash() types.Hash { return s.hash }

// Header returns the block's header.
func (s *State) Header() types.Header { return s.header }

// Timestamp returns the block's timestamp.
func (s *State) Timestamp() types.Millis { return s.header.Timestamp }

// Root is the root over all of the state (decision C12).
func (s *State) Root() types.Hash { return s.tree.Root() }

// Params are those in force in the block. They must not be changed.
func (s *State) Params() *params.Params { return s.params }

// NextParams are those in force in the block after it.
func (s *State) NextParams() *params.Params { return s.next }

// NextBaseFees are those in force in the block after it.
func (s *State) NextBaseFees() BaseFees { return s.fees }

// Validators is the set that decides on the block after it.
func (s *State) Validators() *types.ValidatorSet { return s.set }

// PreviousValidators returns the set that decided on the block if that is not
// Validators: before a border; otherwise nil.
func (s *State) PreviousValidators() *types.ValidatorSet {
	if !s.header.Border() {
		return nil
	}
	return governance.Previous(reader{s.tree})
}

// NextEpoch is the epoch of the block after it.
func (s *State) NextEpoch() types.Epoch { return governance.EpochOf(s.next, s.header.Height+1) }

// FormerValidators returns the set before the present one in the first epoch of
// that, otherwise nil: some of them may still lack the last block they decided on.
func (s *State) FormerValidators() *types.ValidatorSet {
	if s.NextEpoch() != s.set.Epoch {
		return nil
	}
	return governance.Previous(reader{s.tree})
}

// SystemKey is the address whose instructions count.
func (s *State) SystemKey() types.Address { return governance.Key(reader{s.tree}) }

// Moves lists who joins and leaves at the end of the epoch.
func (s *State) Moves() []governance.Move { return governance.Moves(reader{s.tree}) }

// PendingParams lists the parameter changes that wait for their height.
func (s *State) PendingParams() []governance.Change { return governance.Pending(reader{s.tree}) }

// HasWork reports whether something is due in the next block: a timer, a
// deferred message, a change of a watched key, or a job whose deadline is behind.
func (s *State) HasWork() bool { return s.hasWork }

// Supply is the minted and burned money since genesis.
func (s *State) Supply() Supply { return supplyOf(reader{s.tree}) }

func supplyOf(s actors.Reader) (supply Supply) {
	mustRead(s.Get(keySupply), &supply)
	if removed := s.Get(keyRemoved); removed != nil {
		mustRead(removed, &supply.Removed)
	}
	return supply
}

// setSupply writes what was made, burned and removed.
func setSupply(s *actors.State, supply *Supply) {
	s.Set(keySupply, codec.Marshal(supply))
	if !supply.Removed.IsZero() {
		s.Set(keyRemoved, codec.Marshal(&supply.Removed))
	} else if s.Get(keyRemoved) != nil {
		s.Set(keyRemoved, nil)
	}
}

// Account returns the account at an address.
func (s *State) Account(at types.Address) actors.Account { return actors.AccountOf(reader{s.tree}, at) }

// Actor returns the actor at an address, or nil.
func (s *State) Actor(at types.Address) *actors.Actor { return actors.ActorOf(reader{s.tree}, at) }

// Upgradable returns the record of an actor that was deployed with terms of upgrades, or nil.
func (s *State) Upgradable(at types.Address) *actors.Upgradable {
	return actors.UpgradableOf(reader{s.tree}, at)
}

// Actors calls each for every actor from an address on, by address, until it
// returns false.
func (s *State) Actors(from types.Address, each func(types.Address, *actors.Actor) bool) {
	actors.ScanActors(reader{s.tree}, from, each)
}

// Code returns the code with a hash, or nil.
func (s *State) Code(hash types.Hash) []byte { return actors.CodeOf(reader{s.tree}, hash) }

// Schema returns what the annotations of the code with a hash say, as JSON, or nil.
func (s *State) Schema(hash types.Hash) []byte { return actors.SchemaOf(reader{s.tree}, hash) }

// Storage returns the value under a key of an actor's storage.
func (s *State) Storage(actor types.Address, key []byte) (value []byte, found bool) {
	return actors.StorageOf(reader{s.tree}, actor, key)
}

// ScanStorage calls each for all of an actor's storage, in the order of the
// keys' hashes, until it returns false.
func (s *State) ScanStorage(actor types.Address, each func(actors.Entry) bool) {
	actors.ScanStorage(reader{s.tree}, actor, each)
}

// Messages calls each for every deferred message in the order of delivery, until each
// returns false.
func (s *State) Messages(each func(*actors.Message) bool) {
	actors.ScanMessages(reader{s.tree}, each)
}

// Timer returns a pending timer.
func (s *State) Timer(id types.TimerID) (types.Timer, bool) {
	return scheduler.Get(s.params, reader{s.tree}, s.header.Height, id)
}

// FailedOver lists the validators whose environment failed on a pending timer
// (decision C18).
func (s *State) FailedOver(id types.TimerID) []types.Address {
	return scheduler.FailedOver(reader{s.tree}, id)
}

// TierOf returns the calendar tier of a pending timer.
func (s *State) TierOf(id types.TimerID) (tier string, ok bool) {
	return scheduler.TierOf(s.params, reader{s.tree}, id)
}

// Timers lists an actor's pending timers in the order they were scheduled,
// without their payloads.
func (s *State) Timers(actor types.Address) []types.Timer {
	return scheduler.Pending(s.params, reader{s.tree}, s.header.Height, actor)
}

// Tally counts the pending timers by tier and bins of heights: scheduler.TallyOf says
// what is meant.
func (s *State) Tally(from, to, width types.Height, limit int) scheduler.Tally {
	return scheduler.TallyOf(s.params, reader{s.tree}, from, to, width, limit)
}

// TimersPending is the number of pending timers.
func (s *State) TimersPending() uint64 { return scheduler.Total(reader{s.tree}) }

// NextTimer returns the lowest height at which a timer is due; ok is false if no
// timer is pending.
func (s *State) NextTimer() (types.Height, bool) { return scheduler.NextDue(s.params, reader{s.tree}) }

// Scan calls each for the raw keys of state in [from, to), in order, until it
// returns false: for stores and snapshots.
func (s *State) Scan(from, to []byte, each func(key, value []byte) bool) {
	s.tree.Scan(from, to, each)
}

// Len is the number of keys.
func (s *State) Len() int { return s.tree.Len() }

// Skippable returns the maximum number of heights that the next block may skip
// (decision C8). It is 0 without cheats, or while a message or a change of a watched
// key waits. These heights are never skipped: one at which a timer is due, a parameter
// changes, a runner's stake returns, or an epoch ends with a change of its set, and a
// job's deadline and the height after it (decision J20).
func (s *State) Skippable() uint64 {
	first := s.header.Height + 1
	if !s.next.Cheats || s.messagesWait() || s.changesWait {
		return 0
	}
	last := types.Height(math.MaxUint64)
	if governance.MovesWait(reader{s.tree}) {
		last = governance.EndOfEpoch(s.next, first)
	}
	if due, pending := s.NextTimer(); pending {
		last = min(last, due)
	}
	if deadline, open := s.nextDeadline(); open {
		last = min(last, deadline)
	}
	if returns, waits := system.NextReturn(reader{s.tree}); waits {
		last = min(last, returns)
	}
	for _, change := range s.PendingParams() {
		last = min(last, change.At)
	}
	if last <= first {
		return 0
	}
	return uint64(last - first)
}

// SkipTo is how many heights the next block skips on the way to target: as many
// as it may, and none beyond (decision C8).
func (s *State) SkipTo(target types.Height) uint64 {
	first := s.header.Height + 1
	if target <= first {
		return 0
	}
	return min(s.Skippable(), uint64(target-first))
}

// maxSupplyBytes bounds the encoding of a Supply: five amounts.
const maxSupplyBytes = 256

func mustRead(data []byte, v any) {
	if err := codec.Unmarshal(data, maxSupplyBytes, v); err != nil {
		panic(fmt.Sprintf("ledger: state holds a %T that does not decode: %v", v, err))
	}
}
