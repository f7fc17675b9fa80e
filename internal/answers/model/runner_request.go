package model

import "github.com/cowboyinc/devnet/internal/base/types"

// RunnerRequest asks for a runner's registration. With a public key it registers a
// runner that the devnet does not start. Without one the devnet starts a new runner
// with the offer of its settings, so that only from, name and stake may be given.
type RunnerRequest struct {
	From          string               `json:"from,omitempty" maxLength:"64" example:"alice" doc:"The devnet account that pays fee and stake and owns the runner; left out: alice."`
	Name          string               `json:"name,omitempty" maxLength:"32" doc:"Name of a runner that the devnet starts; left out: the next of r0, r1, … that is free."`
	PublicKey     string               `json:"public_key,omitempty" doc:"Compressed secp256k1: 0x and 66 hexadecimal digits."`
	Signed        *types.Signature     `json:"signed,omitempty" doc:"With public_key: that key's signature for the account of from, of keccak256(cowboy/Registration/1 ‖ chain_id_be8 ‖ account ‖ public_key) (docs/WIRE.md)."`
	Stake         *types.Wei           `json:"stake,omitempty" doc:"In wei; left out: 20,000 CBY."`
	Capability    []string             `json:"capability,omitempty" example:"[\"custom\",\"http\",\"domain:example.org\"]" doc:"A kind of jobs, or one of model:, domain:, server:, region:, tee: and a name; left out: custom."`
	Model         []string             `json:"model,omitempty" doc:"Named models that it has: each is a capability model: and the name, besides the others."`
	Entitlement   []string             `json:"entitlement,omitempty" doc:"The pools that it is in."`
	MaxConcurrent *uint64              `json:"max_concurrent,omitempty" doc:"Jobs at a time; left out: 4."`
	Rate          map[string]types.Wei `json:"rate,omitempty" doc:"In wei: compute_second, llm_input_token, llm_output_token, http_request_base, mcp_call_base, memory_mb; 0 where left out."`
}

// RunnerOrder names a registered runner that is to leave, pause or resume.
type RunnerOrder struct {
	Runner string `json:"runner" maxLength:"64" example:"r0" doc:"Its name, or its address or enough of its first digits."`
}

// RunnerAmendment changes what a registered runner offers.
type RunnerAmendment struct {
	Runner        string               `json:"runner" maxLength:"64" example:"r0" doc:"Its name, or its address or enough of its first digits."`
	Capability    []string             `json:"capability,omitempty" doc:"In place of what it offers now; left out: that."`
	Model         []string             `json:"model,omitempty" doc:"Named models that it has: each is a capability model: and the name, besides the others."`
	Entitlement   []string             `json:"entitlement,omitzero" doc:"The pools that it is in, [] for none; left out: those of now."`
	MaxConcurrent *uint64              `json:"max_concurrent,omitempty" doc:"Jobs at a time; left out: as many as now."`
	Rate          map[string]types.Wei `json:"rate,omitempty" doc:"In wei, by the words of runner/join; those left out stay."`
}

// RunnerAddition adds to the stake of a registered runner.
type RunnerAddition struct {
	Runner string    `json:"runner" maxLength:"64" example:"r0" doc:"Its name, or its address or enough of its first digits."`
	Amount types.Wei `json:"amount" doc:"In wei, from its owner's balance."`
}

// JobOrder names a job that is to be cancelled.
type JobOrder struct {
	ID string `json:"id" doc:"The job's id, or enough of its first digits."`
}

// ProgressRequest is how far a job of the executor manual is, given by hand.
type ProgressRequest struct {
	ID      string `json:"id" doc:"The job's id, or enough of its first digits."`
	Percent uint8  `json:"percent" minimum:"1" maximum:"100" doc:"More than before."`
	Detail  string `json:"detail,omitempty" maxLength:"1024" doc:"Words for people; control characters become spaces."`
}

// AnswerRequest is the result of a job of the executor manual, given by hand.
type AnswerRequest struct {
	ID     string `json:"id" doc:"The job's id, or enough of its first digits."`
	Result string `json:"result" doc:"Bytes: text, or 0x and hexadecimal digits."`
}
