package oracle

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Runner is one runner after a block, as the registry holds it.
type Runner struct {
	Address, Owner types.Address
	Index          uint32
	Health         string // one of those below
	Stake          types.Wei
	Reputation     uint64 // 0 to 100, as of ReputedAt
	ReputedAt      types.Height
	Refusals       uint64 // as of RefusedAt
	RefusedAt      types.Height
	ActiveJobs     uint64
	LastHeartbeat  types.Height
	Offer          Offer

	since, leaves types.Height // of its registration; when its stake returns at the earliest
	idle          types.Height // when its last job ended
}

// The kinds of health that the registry keeps.
const (
	Healthy      = "Healthy"
	Paused       = "Paused"
	Deregistered = "Deregistered"
)

// Offer is the owner's description of a runner.
type Offer struct {
	ComputeSecond, InputToken, OutputToken, Request, Call, MemoryMB types.Wei // what it asks for each

	MaxJobs      uint64
	Capabilities []string
	Entitlements []string
}

func (o *Offer) isEqual(other *Offer) bool {
	return o.MaxJobs == other.MaxJobs && o.ComputeSecond == other.ComputeSecond && o.InputToken == other.InputToken &&
		o.OutputToken == other.OutputToken && o.Request == other.Request && o.Call == other.Call && o.MemoryMB == other.MemoryMB &&
		slices.Equal(o.Capabilities, other.Capabilities) && slices.Equal(o.Entitlements, other.Entitlements)
}

// JobRules are a block's parameters for runners, jobs and presence.
type JobRules struct {
	MinStake                                                        types.Wei
	InitialReputation, MinReputation, TimeoutPenalty, SuccessReward uint64
	MaxRetries, CommitPermille, SharePermille, CoverPermille, Draws uint64
	CallbackCycles                                                  types.Cycles
	CallbackCells                                                   types.Cells
	Push                                                            string // decision J11
	RecoveryBlocks, RefusalBlocks, AckBlocks                        uint64
	StaleBlocks, HeartbeatBlocks, MRUBlocks, MRUMultiplier          uint64
	StakeReturnEpochs, EpochBlocks                                  uint64 // decision J20
	PresenceRule                                                    string // decision J9
	MinSubset, MaxSubset, SubsetEpochBlocks, ChurnPermille          uint64
}

const (
	permille      = 1000
	maxReputation = 100
	maxReturned   = 256 // stakes that return in a block, and places that leave the registry's end
)

// runnerEvent is the data of the registry's events.
type runnerEvent struct {
	Runner types.Address `cbor:"runner"`
	Owner  types.Address `cbor:"owner"`
	Index  uint32        `cbor:"index"`
	Stake  types.Wei     `cbor:"stake"`
}

// returnDelay is the number of blocks from leaving to the return of a stake, at most 2^40.
func (r *JobRules) returnDelay() uint64 {
	const most = 1 << 40
	if high, low := bits.Mul64(r.StakeReturnEpochs, r.EpochBlocks); high == 0 {
		return min(low, most)
	}
	return most
}

// registry is all runners as this package counts them.
type registry struct {
	known  map[types.Address]*Runner
	places []*Runner // nil: free
}

// lowestFreePlace is the lowest free place.
func (r *registry) lowestFreePlace() int {
	if at := slices.Index(r.places, nil); at >= 0 {
		return at
	}
	return len(r.places)
}

// holderOf is the runner that held a place at a height's parent and holds it now, or nil.
func (r *registry) holderOf(place int, height types.Height) *Runner {
	if place >= len(r.places) || r.places[place] == nil || r.places[place].since >= height {
		return nil
	}
	return r.places[place]
}

// registerRunner enters a runner; its offer is what the state shows, which no event does.
func (w *work) registerRunner(e *runnerEvent) {
	if w.runners.known[e.Runner] != nil {
		w.reportWrong("runner %s is registered twice", e.Runner)
		return
	}
	if want := w.runners.lowestFreePlace(); e.Index != uint32(want) {
		w.reportWrong("runner %s has the place %d; the lowest free one is %d", e.Runner, e.Index, want)
		return
	}
	if e.Stake.Less(w.rules.MinStake) {
		w.reportWrong("runner %s is registered with a stake of %s; the minimum is %s", e.Runner, e.Stake, w.rules.MinStake)
	}
	w.moveMoney(e.Owner, types.RegistryAddress, e.Stake.Big())
	w.enterRunner(&Runner{Address: e.Runner, Owner: e.Owner, Index: e.Index, Health: Healthy, Stake: e.Stake,
		Reputation: w.rules.InitialReputation, ReputedAt: w.height, LastHeartbeat: w.height, since: w.height})
	w.amendOffer(e.Runner)
}

func (w *work) enterRunner(r *Runner) {
	w.runners.known[r.Address] = r
	if int(r.Index) == len(w.runners.places) {
		w.runners.places = append(w.runners.places, nil)
	}
	w.runners.places[r.Index] = r
}

// amendOffer takes the offer that the block left a runner with.
func (w *work) amendOffer(runner types.Address) {
	r, written := w.runners.known[runner], w.written[runner]
	if r == nil || written == nil {
		w.reportWrong("runner %s was amended, and the state does not show it", runner)
		return
	}
	r.Offer = written.Offer
}

// ownersWord follows one event of the registry that the owner of a runner caused.
func (w *work) ownersWord(name string, e *runnerEvent) {
	w.touched = true
	if name == "runner.registered" {
		w.registerRunner(e)
		return
	}
	r := w.runners.known[e.Runner]
	if r == nil || r.Health == Deregistered || r.Owner != e.Owner {
		w.reportWrong("%s of %s by %s, who owns no such runner", name, e.Runner, e.Owner)
		return
	}
	switch name {
	case "runner.updated":
		w.amendOffer(e.Runner)
	case "runner.paused":
		w.turnRunner(r, Healthy, Paused)
	case "runner.resumed":
		w.turnRunner(r, Paused, Healthy)
	case "runner.stake_added":
		if !r.Stake.Less(e.Stake) {
			w.reportWrong("the stake of %s grew from %s to %s", r.Address, r.Stake, e.Stake)
			return
		}
		w.moveMoney(r.Owner, types.RegistryAddress, e.Stake.Sub(r.Stake).Big())
		r.Stake = e.Stake
	case "runner.deregistered":
		r.Health, r.idle = Deregistered, w.height
		r.leaves = w.height + types.Height(w.rules.returnDelay())
	default:
		w.reportWrong("the registry reports %q, which no owner can cause", name)
	}
}

func (w *work) turnRunner(r *Runner, from, to string) {
	if r.Health != from {
		w.reportWrong("runner %s was %s, and becomes %s", r.Address, r.Health, to)
	}
	r.Health = to
}

// giveBack returns the stakes whose time has come at the end of a block, and frees their
// places. The registry ends at the last place that is held (decisions J12, J20).
func (w *work) giveBack() {
	var due []*Runner
	for _, r := range w.runners.places {
		if r != nil && r.Health == Deregistered && r.ActiveJobs == 0 && max(r.leaves, r.idle) <= w.height {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b *Runner) int {
		return cmp.Or(cmp.Compare(max(a.leaves, a.idle), max(b.leaves, b.idle)), cmp.Compare(a.Index, b.Index))
	})
	for _, r := range due[:min(len(due), maxReturned)] {
		w.moveMoney(types.RegistryAddress, r.Owner, r.Stake.Big())
		w.expectEvent(types.RegistryAddress, "runner.stake_returned",
			codec.Marshal(&runnerEvent{Runner: r.Address, Owner: r.Owner, Index: r.Index, Stake: r.Stake}))
		r.Stake, r.Offer = types.Wei{}, Offer{}
		w.runners.places[r.Index] = nil
	}
	for range maxReturned {
		last := len(w.runners.places) - 1
		if last < 0 || w.runners.places[last] != nil {
			return
		}
		w.runners.places = w.runners.places[:last]
	}
}

// compareRunners compares the block's writes about runners with the expected ones.
func (w *work) compareRunners(o *Observation) {
	for i := range o.Runners {
		is := &o.Runners[i]
		want := w.runners.known[is.Address]
		switch {
		case want == nil:
			w.reportWrong("runner %s is in the registry without a registration", is.Address)
		case !want.Offer.isEqual(&is.Offer):
			w.reportWrong("the offer of runner %s changed, and its owner did not change it", is.Address)
		case want.Owner != is.Owner || want.Index != is.Index || want.Health != is.Health || want.Stake != is.Stake ||
			want.Reputation != is.Reputation || want.ActiveJobs != is.ActiveJobs || want.LastHeartbeat != is.LastHeartbeat,
			want.ReputedAt != is.ReputedAt || want.Refusals != is.Refusals || want.RefusedAt != is.RefusedAt:
			w.reportWrong("runner %s is %s with stake %s, reputation %d, %d jobs and a heartbeat of %d; want %s, %s, %d, %d and %d", is.Address,
				is.Health, is.Stake, is.Reputation, is.ActiveJobs, is.LastHeartbeat, want.Health, want.Stake, want.Reputation, want.ActiveJobs,
				want.LastHeartbeat)
		}
	}
}

// reputationOf returns a runner's reputation at the judged block: below the minimum for
// draws, it gains a point at each height that RecoveryBlocks divides (decision J21).
func (w *work) reputationOf(r *Runner) uint64 {
	is := r.Reputation
	for h := uint64(r.ReputedAt)/w.rules.RecoveryBlocks + 1; h <= uint64(w.height)/w.rules.RecoveryBlocks && is < w.rules.MinReputation; h++ {
		is++
	}
	return is
}

// canServe reports whether a runner serves a job of a kind about a subject: a model, a
// host or a server (CIP-11 §9.1, filter 3).
func (o *Offer) canServe(kind jobKind, subject string) bool {
	if !slices.Contains(o.Capabilities, kind.capabilityName()) {
		return false
	}
	part, restricted := partPrefix[kind], false
	for _, word := range o.Capabilities {
		if name, of := strings.CutPrefix(word, part); of && part != "" {
			if kind == jobCustom {
				name = keccak256([]byte(name)).String() // a job names its executor by hash
			}
			if restricted = true; name == subject {
				return true
			}
		}
	}
	return !restricted
}

func (o *Offer) isTrusted() bool {
	return slices.ContainsFunc(o.Capabilities, func(word string) bool { return strings.HasPrefix(word, "tee:") })
}
