package model

import "github.com/cowboyinc/devnet/internal/base/types"

// What a held run is moved by.
const (
	UnitStep  = "step"  // one step of one role of a node
	UnitBlock = "block" // until the network has one more final block
	UnitFire  = "fire"  // until one more timer has fired
	UnitEnd   = "end"   // of the script
)

// MaxSteps bounds the units of one move, as the tag of StepRequest does.
const MaxSteps = 1_000_000

// Held is where a held run is, and the answer to each move of it.
type Held struct {
	Moment   string       `json:"moment" doc:"Its name, which devnet run --hold-at and POST /hold/go take: SCRIPT@SEED:STEP, or SCRIPT@SEED:end."`
	Changed  string       `json:"changed,omitempty" doc:"The moment after which something was done to the network by hand: since then the run is not that of the seed."`
	Step     uint64       `json:"step" doc:"Steps of roles since the run began."`
	Height   types.Height `json:"height" doc:"Highest final height."`
	TimeMS   int64        `json:"time_ms" doc:"Time of the network's clock, in milliseconds."`
	Digest   types.Hash   `json:"digest" doc:"The hash of all that happened in the run so far."`
	Ended    bool         `json:"ended" doc:"True once the script has ended; steps go on without it."`
	Failure  string       `json:"failure,omitempty" doc:"What the script failed with, with its place; absent while it runs, and where it passed."`
	At       string       `json:"at,omitempty" doc:"Where the script rests, as FILE:LINE:COLUMN; absent once it has ended."`
	From     uint64       `json:"from" doc:"The step before the move; the same as step where nothing moved."`
	Happened []string     `json:"happened" doc:"What happened on the way, in words: who stepped, blocks, fires of timers, the end of the script."`
	Omitted  int          `json:"omitted,omitempty" doc:"How many lines happened has not."`
}

// Frames are frames between validators of a held run.
type Frames struct {
	Frames  []Frame `json:"frames" doc:"By the time at which they were sent."`
	Omitted int     `json:"omitted,omitempty" doc:"How many more there are; an answer has at most 4,000, and it leaves out first those that arrived as usual, then those that came late."`
}

// Frame is a frame from one validator to another.
type Frame struct {
	SentMS    types.Millis  `json:"sent_ms" doc:"When it was sent, by the network's clock, as views have it."`
	ArrivesMS *types.Millis `json:"arrives_ms" nullable:"true" doc:"When it arrives, or did; null: never."`
	From      string        `json:"from"`
	To        string        `json:"to"`
	What      string        `json:"what" enum:"proposal,vote,certificate"`
	Vote      string        `json:"vote,omitempty" enum:"notarize,nullify,finalize" doc:"Of a vote, or of a certificate's votes."`
	View      types.View    `json:"view"`
	Height    types.Height  `json:"height"`
	Size      int           `json:"size" doc:"Its bytes."`
	Data      types.Bytes   `json:"data,omitempty" doc:"The bytes, as docs/WIRE.md has them, of one that did not arrive as usual, and has at most 1,024."`
	Why       string        `json:"why" enum:",lost,cut,not connected,gone,late" doc:"Why it did not arrive as usual; empty: it did."`
	By        string        `json:"by,omitempty" doc:"The fault that did it, as the list of faults tells it."`
}

// StepRequest moves a held run by a number of units.
type StepRequest struct {
	Unit  string `json:"unit,omitempty" enum:"step,block,fire,end" doc:"What is counted; step where absent. end goes to the end of the script."`
	Count uint64 `json:"count,omitempty" minimum:"1" maximum:"1000000" doc:"How many; 1 where absent."`
}

// GoRequest moves a held run to a moment.
type GoRequest struct {
	To string `json:"to" maxLength:"4096" doc:"A moment of the run: SCRIPT@SEED:STEP, SCRIPT@SEED:h57, SCRIPT@SEED:end, or h57."`
}
