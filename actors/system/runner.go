package system

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// RateCard is a runner's prices, in wei (CIP-2).
type RateCard struct {
	ComputeSecond   types.Wei `cbor:"compute_second" json:"compute_second"`
	LLMInputToken   types.Wei `cbor:"llm_input_token" json:"llm_input_token"`
	LLMOutputToken  types.Wei `cbor:"llm_output_token" json:"llm_output_token"`
	HTTPRequestBase types.Wei `cbor:"http_request_base" json:"http_request_base"`
	MCPCallBase     types.Wei `cbor:"mcp_call_base" json:"mcp_call_base"`
	MemoryMB        types.Wei `cbor:"memory_mb" json:"memory_mb"`
}

// Offer is a runner's declared service, with its prices. Its owner may change it; a
// job's payment was fixed when the job was drawn.
type Offer struct {
	RateCard          RateCard `cbor:"rate_card" json:"rate_card"`
	Capabilities      []string `cbor:"capabilities" json:"capabilities"` // sorted, without duplicates
	Entitlements      []string `cbor:"entitlements" json:"entitlements"` // sorted, without duplicates
	MaxConcurrentJobs uint64   `cbor:"max_concurrent_jobs" json:"max_concurrent_jobs"`
}

// Limits of an offer. A draw looks at every runner's.
const (
	maxWords          = 64        // capabilities, and as many entitlements
	maxWordBytes      = 1_024     // of each: the wire's limit of free text
	maxOfferBytes     = 16 << 10  // of all together, since a block may read thousands
	maxConcurrentJobs = 1_000_000 // more is a slip of the pen
)

// Profile is the part of a runner's record that only its owner changes.
type Profile struct {
	_            struct{} `cbor:",toarray"`
	Index        uint32   // its place: the index of its bit (decision J12)
	PublicKey    types.PublicKey
	Owner        types.Address // the sender of its registration (decision J20)
	RegisteredAt types.Height
	Offer        Offer         // empty once the stake returned
	Former       types.Address // the runner that held the place before; zero if none did
}

// Standing is the part of a runner's record that jobs change.
type Standing struct {
	_             struct{} `cbor:",toarray"`
	Health        selection.Health
	Stake         types.Wei // part of the balance of 0x01 (decision J19)
	Reputation    uint64    // 0 to 100, as of ReputedAt (selection.Limits.Reputed)
	ActiveJobs    uint64    // jobs in whose committee it is
	LastHeartbeat types.Height
	ReputedAt     types.Height
	Refusals      uint64 // that lower its weight, as of RefusedAt
	RefusedAt     types.Height
	ReturnsAt     types.Height // of a deregistered runner: when its stake returns at the earliest; then when it returned
}

// Runner is a registered runner.
type Runner struct {
	Address types.Address
	Profile
	Standing
}

// RunnerOf returns the runner with an address, or nil.
func RunnerOf(s actors.Reader, a types.Address) *Runner {
	profile := loadRecord[Profile](s, types.RegistryAddress, keyProfile(a))
	if profile == nil {
		return nil
	}
	return &Runner{Address: a, Profile: *profile, Standing: *standingOf(s, a)}
}

// standingOf returns the standing of a registered runner: the end of a job reads
// nothing more of most runners.
func standingOf(s actors.Reader, a types.Address) *Standing {
	return loadRecord[Standing](s, types.RegistryAddress, keyStanding(a))
}

// setStanding writes what changed of a runner.
func (b *InBlock) setStanding(a types.Address, s *Standing) {
	b.storeRecord(types.RegistryAddress, keyStanding(a), s)
}

// asCandidate is the runner as a draw sees it.
func (r *Runner) asCandidate() selection.Runner {
	seen := selection.Runner{Address: r.Address, Index: int(r.Index), Since: r.RegisteredAt, Health: r.Health, LastHeartbeat: r.LastHeartbeat,
		Reputation: r.Reputation, ReputedAt: r.ReputedAt, Refusals: r.Refusals, RefusedAt: r.RefusedAt,
		Stake: r.Stake, ComputeSecond: r.Offer.RateCard.ComputeSecond,
		ActiveJobs: r.ActiveJobs, MaxJobs: r.Offer.MaxConcurrentJobs, Entitlements: r.Offer.Entitlements}
	for _, word := range r.Offer.Capabilities {
		if kind, err := push.ParseJobKind(word); err == nil {
			seen.Kinds = append(seen.Kinds, kind)
			continue
		}
		switch what, name, _ := strings.Cut(word, ":"); what {
		case "model":
			seen.Models = append(seen.Models, name)
		case "domain":
			seen.Domains = append(seen.Domains, name)
		case "server":
			seen.Servers = append(seen.Servers, name)
		case "executor":
			seen.Executors = append(seen.Executors, types.Keccak([]byte(name)).String())
		case "tee":
			seen.TEE = true
		}
	}
	return seen
}

// Check judges an offer: words of the wire's form, sorted, without duplicates.
func (o *Offer) Check() *types.Fault {
	bytes := 0
	for _, list := range [][]string{o.Capabilities, o.Entitlements} {
		if len(list) > maxWords {
			return newFault("too_many_words", "%d capabilities or entitlements, at most %d of each", len(list), maxWords)
		}
		for i, word := range list {
			bytes += len(word)
			switch {
			case len(word) == 0 || len(word) > maxWordBytes || !utf8.ValidString(word):
				return newFault("bad_word", "a capability or entitlement of %d bytes; it is text of 1 to %d", len(word), maxWordBytes)
			case i > 0 && list[i-1] >= word:
				return newFault("bad_word", "capabilities and entitlements must be sorted without duplicates: %.80q follows %.80q", word, list[i-1])
			}
		}
	}
	for _, word := range o.Capabilities {
		what, name, named := strings.Cut(word, ":")
		_, err := push.ParseJobKind(word)
		if err != nil && !(named && name != "" && slices.Contains([]string{"model", "domain", "server", "executor", "region", "tee"}, what)) {
			return newFault("unknown_capability", "%.80q is none of %s, nor model:, domain:, server:, executor:, region: or tee: and a name",
				word, strings.Join(slices.Sorted(slices.Values(push.JobKinds())), ", "))
		}
	}
	switch {
	case bytes > maxOfferBytes:
		return newFault("offer_too_long", "capabilities and entitlements have %d bytes, at most %d", bytes, maxOfferBytes)
	case o.MaxConcurrentJobs == 0 || o.MaxConcurrentJobs > maxConcurrentJobs:
		return newFault("bad_max_concurrent_jobs", "max_concurrent_jobs is %d, not 1 to %d", o.MaxConcurrentJobs, maxConcurrentJobs)
	}
	return nil
}

// RotationOf is the subsets in force (CIP-11 §5.3): part of the registry's storage
// from genesis on.
func RotationOf(s actors.Reader) *selection.Rotation {
	return loadRecord[selection.Rotation](s, types.RegistryAddress, keyRotation)
}

// SetRotation writes the subsets that begin with a block.
func SetRotation(s *actors.State, rotation *selection.Rotation) {
	s.SetStorage(types.RegistryAddress, keyRotation, codec.Marshal(rotation))
}
