package api

import (
	"net/http"
	"slices"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// defaultConcurrent is the number of jobs that a runner takes at a time by default.
const defaultConcurrent = 4

// Registration returns what a request with a public key registers. An error is an
// *Error at the field that is wrong, with whose name its message begins. Whether the
// key is free and the stake enough is for the chain to judge.
//
// Spec: decision J20.
func Registration(r *model.RunnerRequest) (*system.Registration, error) {
	in := &system.Registration{Stake: or(r.Stake, wallet.RunnerStake)}
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
	in.Offer = system.Offer{Capabilities: eachOnce(r.Capability), Entitlements: eachOnce(r.Entitlement),
		MaxConcurrentJobs: or(r.MaxConcurrent, defaultConcurrent)}
	if len(r.Capability) == 0 {
		in.Offer.Capabilities = []string{"custom"}
	}
	if in.Offer.RateCard, err = rateCard(r.Rate); err != nil {
		return nil, err
	}
	if fault := in.Offer.Check(); fault != nil {
		field := "capability"
		if fault.Code == "bad_max_concurrent_jobs" {
			field = "max_concurrent"
		}
		return nil, badRunner(field, "%s", fault.Message)
	}
	return in, nil
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

func rateCard(rates map[string]types.Wei) (c system.RateCard, err error) {
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
