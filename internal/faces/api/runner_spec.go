package api

import (
	"net/http"
	"slices"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// defaultConcurrent is the number of jobs that a runner takes at a time by default.
const defaultConcurrent = 4

// Registration returns what a request with a public key registers. An error is an
// *Error at the field that is wrong, with whose name its message begins. Whether the
// key is free and the stake enough is for the chain to judge.
//
// Spec: decision J20.
func Registration(r *model.RunnerRequest) (*system.Registration, error) {
	in := &system.Registration{Stake: orDefault(r.Stake, wallet.RunnerStake)}
	if err := in.PublicKey.UnmarshalText([]byte(r.PublicKey)); err != nil {
		return nil, badRunner("public_key", "%v", err)
	}
	if _, err := crypto.AddressOf(in.PublicKey); err != nil {
		return nil, badRunner("public_key", "%s is not a compressed secp256k1 key", in.PublicKey)
	}
	if r.Signed == nil {
		return nil, badRunner("signed", "it is missing: %s has to sign its registration for the account that owns it", in.PublicKey).
			Hint("docs/WIRE.md has the bytes; devnet node runner prints the whole command for a runner of its settings.")
	}
	in.Signed = *r.Signed
	var err error
	in.Offer, err = offerOf(r, system.Offer{Capabilities: []string{"custom"}, Entitlements: []string{}, MaxConcurrentJobs: defaultConcurrent})
	return in, err
}

// OwnTerms returns stake and offer of a runner of the devnet's own: what a request says, and
// otherwise what all of them offer. An error is an *Error as of Registration.
func OwnTerms(r *model.RunnerRequest, own system.Offer) (stake types.Wei, offer system.Offer, err error) {
	if most := uint64(wallet.RunnerJobs); r.MaxConcurrent != nil && *r.MaxConcurrent > most {
		return stake, offer, badRunner("max_concurrent", "a runner that the devnet starts does at most %d jobs at a time", most)
	}
	offer, err = offerOf(r, own)
	return orDefault(r.Stake, wallet.RunnerStake), offer, err
}

// offerOf returns what a request offers, and otherwise what stands for that.
func offerOf(r *model.RunnerRequest, otherwise system.Offer) (offer system.Offer, err error) {
	offer = otherwise
	offer.MaxConcurrentJobs = orDefault(r.MaxConcurrent, otherwise.MaxConcurrentJobs)
	if len(r.Capability) > 0 {
		offer.Capabilities = r.Capability
	}
	if r.Entitlement != nil { // otherwise the bytes of a genesis stay
		offer.Entitlements = eachOnce(r.Entitlement)
	}
	words := slices.Clone(offer.Capabilities)
	for _, model := range r.Model {
		words = append(words, "model:"+model)
	}
	offer.Capabilities = eachOnce(words)
	if offer.RateCard, err = rateCard(r.Rate, otherwise.RateCard); err != nil {
		return offer, err
	}
	if fault := offer.Check(); fault != nil {
		field := "capability"
		if fault.Code == "bad_max_concurrent_jobs" {
			field = "max_concurrent"
		}
		return offer, badRunner(field, "%s", fault.Message)
	}
	return offer, nil
}

func badRunner(field, message string, args ...any) *Error {
	return Refuse(http.StatusBadRequest, "invalid_runner", field+": "+message, args...).At(field)
}

// eachOnce returns the words of an offer, sorted, without duplicates.
func eachOnce(given []string) []string {
	sorted := append([]string{}, given...)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// Rates are the words of a rate card, in its order.
var Rates = []string{"compute_second", "llm_input_token", "llm_output_token", "http_request_base", "mcp_call_base", "memory_mb"}

// rateCard returns a rate card with some rates in place of another's.
func rateCard(rates map[string]types.Wei, c system.RateCard) (system.RateCard, error) {
	fields := []*types.Wei{&c.ComputeSecond, &c.LLMInputToken, &c.LLMOutputToken, &c.HTTPRequestBase, &c.MCPCallBase, &c.MemoryMB}
	known := 0
	for i, word := range Rates {
		if rate, given := rates[word]; given {
			*fields[i] = rate
			known++
		}
	}
	if known < len(rates) {
		return c, badRunner("rate", "a rate is one of %s", plural.List(Rates, "and"))
	}
	return c, nil
}

// Amended returns the offer of a runner of the devnet's own after an update: what a request
// says, and otherwise what it offers now. An error is an *Error as of Registration.
func Amended(r *model.RunnerRequest, now system.Offer) (system.Offer, error) {
	if r.Stake != nil {
		return now, badRunner("stake", "an update changes no stake; it is added to")
	}
	_, offer, err := OwnTerms(r, now)
	return offer, err
}
