package selection

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Health is a runner's health, set by its owner and the registry. That it is silent
// is told by its last heartbeat (decision J18).
type Health uint8

// The kinds of health that the registry keeps.
const (
	Healthy Health = iota
	Paused
	Deregistered // permanently (decision J12)
)

// Phase is the parameter cip11.push (decision J11).
type Phase string

// The phases of CIP-11 §14, and the state before them.
const (
	Off    Phase = "off"
	Shadow Phase = "shadow"
	Hot    Phase = "hot"
	Sunset Phase = "sunset"
)

// PhaseOf returns the phase of parameters.
func PhaseOf(p *params.Params) Phase { return Phase(p.Push) }

// Connects reports whether runners may be connected with validators (CIP-11 §14).
func (p Phase) Connects() bool { return p != Off }

// Pushes reports whether validators push jobs.
func (p Phase) Pushes() bool { return p == Hot || p == Sunset }

// filtersPresence reports whether only who is in P(parent) may be drawn.
func (p Phase) filtersPresence() bool { return p == Hot || p == Sunset }

// Runner is a runner's entry in the registry, as far as a draw reads it.
type Runner struct {
	Address       types.Address
	Index         int          // its place in the registry (decision J12)
	Since         types.Height // the height of its registration
	Health        Health
	LastHeartbeat types.Height // of the last one on chain; registering is the first
	Reputation    uint64       // 0 to 100, as of ReputedAt
	ReputedAt     types.Height // of the last change of the reputation
	Refusals      uint64       // that lower its weight, as of RefusedAt
	RefusedAt     types.Height // of the last refusal
	Stake         types.Wei
	ComputeSecond types.Wei // of its rate card, a second
	ActiveJobs    uint64
	MaxJobs       uint64 // that it takes at once
	Kinds         []push.JobKind
	Models        []string // of Llm jobs, Domains of Http, Servers of Mcp; empty for any
	Domains       []string
	Servers       []string
	Executors     []string // of Custom jobs, as Demand.Subject names them; empty for any
	TEE           bool     // it has support for trusted execution
	Entitlements  []string
}

// Demand is a job's requirements on its runners.
type Demand struct {
	Kind     push.JobKind
	Subject  string // the model of an Llm job, the host of an Http one, the server of an Mcp one, the executor's hash of a Custom one
	TEE      bool
	Pool     string // required_runner_pool, "" for none
	MaxPrice types.Wei
}

// Limits are the parameters of the filters.
type Limits struct {
	MinStake             types.Wei // the parameter cip2.min_stake, at least 1: the unit of weights
	MinReputation        uint64    // the parameter cip2.min_reputation
	StaleHeartbeatBlocks uint64    // the parameter cip11.stale_heartbeat_blocks
	StakeCoverPermille   uint64    // the parameter cip2.stake_cover_permille
	RecoveryBlocks       uint64    // the parameter cip2.reputation_recovery_blocks; 0: never
	RefusalWindow        uint64    // the parameter cip2.refusal_window_blocks
}

// LimitsOf returns the limits of parameters.
func LimitsOf(p *params.Params) Limits {
	return Limits{MinStake: p.MinStake, MinReputation: p.MinReputation, StaleHeartbeatBlocks: p.StaleHeartbeatBlocks,
		StakeCoverPermille: p.StakeCoverPermille, RecoveryBlocks: p.RecoveryBlocks, RefusalWindow: p.RefusalWindow}
}

// Reputed is a reputation at a height, of which a value was written at another. Below
// MinReputation it regains a point at each height that RecoveryBlocks divides, up to
// MinReputation, so that no runner is shut out for good.
//
// Spec: decision J21.
func (l *Limits) Reputed(value uint64, written, now types.Height) uint64 {
	if value >= l.MinReputation || l.RecoveryBlocks == 0 {
		return value
	}
	regained := uint64(now)/l.RecoveryBlocks - uint64(written)/l.RecoveryBlocks
	return value + min(regained, l.MinReputation-value)
}

// Reason is the filter of CIP-11 §9.1 that keeps a runner out of a draw, in their
// order: the first one that does.
type Reason uint8

// The filters, and that none of them keeps a runner out.
const (
	Eligible      Reason = iota
	Excluded             // 0: it was silent in a draw of this job before
	Unhealthy            // 1: paused, deregistered, or without a heartbeat for long
	Absent               // 1.5: not in P(parent)
	Disreputable         // 2
	Incapable            // 3: of another kind of jobs
	WithoutTEE           // 4
	TooDear              // 5
	Busy                 // 6
	NotEntitled          // 7: not of the pool that the job requires
	Underfunded          // 8: its stake does not cover the job
	reasonsNumber        // how many there are
)

var reasonTexts = [reasonsNumber]string{"eligible", "excluded", "unhealthy", "absent", "disreputable", "incapable", "without_tee",
	"too_dear", "busy",
	"not_entitled", "underfunded"}

func (r Reason) String() string { return reasonTexts[r] }

// Filter is what a runner must pass to be drawn for a job in a block.
//
// Spec: CIP-11 §9.1, decisions J2 and J11.
type Filter struct {
	Height   types.Height // of the block that draws
	Phase    Phase
	Presence *Bitmap         // P(parent)
	Excluded []types.Address // sorted: who was silent in earlier draws of the job
	Demand   Demand
	Limits   Limits

	patient bool // who is absent or busy passes
}

// Exclude returns a sorted list of addresses with one more. Exclusion is
// cumulative over a job's retries (decision J6).
func Exclude(excluded []types.Address, silent types.Address) []types.Address {
	at, there := slices.BinarySearchFunc(excluded, silent, types.Address.Compare)
	if there {
		return excluded
	}
	return slices.Insert(slices.Clone(excluded), at, silent)
}

// Judge returns the first filter that a runner does not pass, Eligible where it
// passes all.
//
// Vectors: fixtures/vectors/cip11/9.1-filters.json.
func (f *Filter) Judge(r *Runner) Reason { return f.judgeRunner(r, f.lowestStake()) }

func (f *Filter) judgeRunner(r *Runner, cover *types.Wei) Reason {
	_, excluded := slices.BinarySearchFunc(f.Excluded, r.Address, types.Address.Compare)
	switch {
	case excluded:
		return Excluded
	case r.Health != Healthy || f.isStale(r):
		return Unhealthy
	case !f.patient && f.Phase.filtersPresence() && !f.Presence.Has(r.Index):
		return Absent
	case f.Limits.Reputed(r.Reputation, r.ReputedAt, f.Height) < f.Limits.MinReputation:
		return Disreputable
	case !r.doesServe(&f.Demand):
		return Incapable
	case f.Demand.TEE && !r.TEE:
		return WithoutTEE
	case f.Demand.MaxPrice.Less(r.ComputeSecond):
		return TooDear
	case !f.patient && r.ActiveJobs >= r.MaxJobs:
		return Busy
	case f.Demand.Pool != "" && !slices.Contains(r.Entitlements, f.Demand.Pool):
		return NotEntitled
	case cover == nil || r.Stake.Less(*cover):
		return Underfunded
	}
	return Eligible
}

// isStale reports whether the last heartbeat on chain is too old. In the phase
// sunset none is asked for (CIP-11 §14).
func (f *Filter) isStale(r *Runner) bool {
	return Stale(f.Phase, r.LastHeartbeat, f.Height, f.Limits.StaleHeartbeatBlocks)
}

// Stale reports whether a last heartbeat on chain is too old at a height: more than
// limit blocks, and never in the phase sunset.
//
// Spec: CIP-11 §9.1, §14, decision J18.
func Stale(phase Phase, heartbeat, height types.Height, limit uint64) bool {
	return phase != Sunset && height > heartbeat && uint64(height-heartbeat) > limit
}

// doesServe reports whether a runner takes jobs of a kind, and if it names models, domains,
// servers or executors, whether it names the job's, letter by letter.
func (r *Runner) doesServe(d *Demand) bool {
	if !slices.Contains(r.Kinds, d.Kind) {
		return false
	}
	var named []string
	switch d.Kind {
	case push.JobLLM:
		named = r.Models
	case push.JobHTTP:
		named = r.Domains
	case push.JobMCP:
		named = r.Servers
	case push.JobCustom:
		named = r.Executors
	}
	return len(named) == 0 || slices.Contains(named, d.Subject)
}

// lowestStake returns the lowest stake that covers the job: max_price times the
// parameter, 1.5 by default, rounded up, so that nothing is rounded in the runner's
// favour. It is nil if no stake is enough.
func (f *Filter) lowestStake() *types.Wei {
	least := new(big.Int).Mul(f.Demand.MaxPrice.Big(), new(big.Int).SetUint64(f.Limits.StakeCoverPermille))
	least.Add(least, big.NewInt(999)).Div(least, big.NewInt(1000))
	cover, ok := types.WeiFromBig(least)
	if !ok {
		return nil
	}
	return &cover
}

// Candidate is a runner that may be drawn.
type Candidate struct {
	Address types.Address
	Weight  uint64 // of its stake, 1 to 257
}

// Pool holds the runners that may be drawn for a job, and the reasons against the
// others.
type Pool struct {
	Candidates []Candidate // sorted by address
	Judged     [reasonsNumber]int
}

// Pool judges all runners of the registry, given in the order of their
// addresses: the order of candidates (decision J2). It panics if they are in
// another order.
func (f *Filter) Pool(runners []Runner) Pool {
	p := Pool{Candidates: make([]Candidate, 0, len(runners))}
	cover := f.lowestStake()
	for i := range runners {
		r := &runners[i]
		if i > 0 && runners[i-1].Address.Compare(r.Address) >= 0 {
			panic(fmt.Sprintf("selection: runner %s follows %s, want ascending addresses", r.Address, runners[i-1].Address))
		}
		reason := f.judgeRunner(r, cover)
		p.Judged[reason]++
		if reason == Eligible {
			p.Candidates = append(p.Candidates, Candidate{r.Address, Weight(r.Stake, f.Limits.MinStake)})
		}
	}
	return p
}

// Candidates appends to dst those of the runners, sorted by address, who pass. The
// caller gives their weights: a block with many draws weighs no runner twice.
func (f *Filter) Candidates(dst []Candidate, runners []Runner, weights []uint64) []Candidate {
	cover := f.lowestStake()
	for i := range runners {
		if f.judgeRunner(&runners[i], cover) == Eligible {
			dst = append(dst, Candidate{runners[i].Address, weights[i]})
		}
	}
	return dst
}

// Registered counts the runners that pass all filters but presence and business: what
// these say may change with the next block.
func (f *Filter) Registered(runners []Runner) (n int) {
	patient := *f
	patient.patient = true
	cover := patient.lowestStake()
	for i := range runners {
		if patient.judgeRunner(&runners[i], cover) == Eligible {
			n++
		}
	}
	return n
}

// String counts the runners by outcome, in the order of the filters: a job with too
// few candidates reports it.
func (p *Pool) String() string {
	var parts []string
	for reason, n := range p.Judged {
		if n > 0 || Reason(reason) == Eligible {
			parts = append(parts, fmt.Sprintf("%d %s", n, Reason(reason)))
		}
	}
	return strings.Join(parts, ", ")
}
