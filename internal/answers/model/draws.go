package model

import "github.com/cowboyinc/devnet/internal/base/types"

// JobPool has the number of runners that may be drawn for a job, and the filters that
// exclude the others (CIP-11 §9.1).
type JobPool struct {
	_        struct{}     `nullable:"true"`
	Wanted   uint64       `json:"wanted" doc:"Runners that the job asks for."`
	Eligible uint32       `json:"eligible" doc:"Runners that pass all filters."`
	LeftOut  []JobLeftOut `json:"left_out" doc:"The others, but for those that are deregistered, by the first filter that each does not pass."`
}

// JobLeftOut is the runners that one filter leaves out.
type JobLeftOut struct {
	Filter  string `json:"filter" enum:"excluded,unhealthy,absent,disreputable,incapable,without_tee,too_dear,busy,not_entitled,underfunded"`
	Runners uint32 `json:"runners"`
	Why     string `json:"why" doc:"The filter's condition, with the parameters in force now."`
}

// JobDraw is one draw of a job, with all that it follows from (CIP-11 §§9.2 to 9.4).
type JobDraw struct {
	Attempt     uint32          `json:"attempt" doc:"From 1."`
	Height      types.Height    `json:"height" doc:"Height of the block that drew."`
	SubmittedAt types.Height    `json:"submitted_at" doc:"Height of the submission, as in the job's seed."`
	Basis       types.Hash      `json:"basis" doc:"For the first draw, the hash of the parent of the block that drew. For later draws, the seed of the first."`
	Seed        types.Hash      `json:"seed" doc:"For the first draw, keccak256(basis ‖ cowboy-runner-select-v2: ‖ job id ‖ submitted_at, little-endian, 8 bytes). For later draws, keccak256(basis ‖ retry: ‖ attempt - 1, little-endian, 4 bytes)."`
	Favoured    *types.Address  `json:"favoured" nullable:"true" doc:"The runner that completed the last job of this submitter and kind (MRU, CIP-11 §9.4); null for none in force."`
	Multiplier  uint32          `json:"multiplier" doc:"By which its weight is multiplied in the first step; 1 without one."`
	Number      uint32          `json:"number" doc:"Of candidates."`
	Candidates  []DrawCandidate `json:"candidates" doc:"Sorted by address: positions from 0. Empty if there were too many to keep: more than 1,024, or 4,096 in one block."`
	Steps       []DrawStep      `json:"steps" doc:"One a runner drawn; empty where the candidates are."`
	Committee   []types.Address `json:"committee" doc:"In the order drawn."`
}

// DrawCandidate is a runner that could have been drawn.
type DrawCandidate struct {
	Runner types.Address `json:"runner"`
	Weight uint64        `json:"weight" doc:"floor(log2(stake / cip2.min_stake + 1)) + 1, without the multiplier."`
}

// DrawStep is one step of the weighted shuffle.
type DrawStep struct {
	Digest   types.Hash    `json:"digest" doc:"keccak256 of the digest before, or of the seed, ‖ the number of the step from 0, little-endian, 8 bytes."`
	Total    uint64        `json:"total" doc:"Sum of the weights of the runners not drawn yet, in the first step with the multiplier."`
	Number   uint64        `json:"number" doc:"The first 8 bytes of the digest, little-endian, modulo total."`
	Position int           `json:"position" doc:"Where the sum of the weights from the step's own position on first exceeds number. The two swap places."`
	Runner   types.Address `json:"runner"`
}
