package model

import "github.com/cowboyinc/devnet/internal/base/types"

// The outcomes of a view.
const (
	ViewFinal     = "final"     // it has a block that is final
	ViewNotarized = "notarized" // it has a block that is notarized, and not final
	ViewNullified = "nullified"
	ViewOpen      = "open"
)

// Views are the latest views, as the validators told of them.
type Views struct {
	From       types.View       `json:"from" doc:"First view that was looked at."`
	To         types.View       `json:"to" doc:"Last view that was looked at."`
	Latest     types.View       `json:"latest" doc:"The latest view that is known."`
	KeptFrom   types.View       `json:"kept_from" doc:"The first view that is still known; 0 where none is."`
	Failed     uint64           `json:"failed" doc:"Views that were nullified and have no block, since the process began."`
	Validators []NamedValidator `json:"validators" doc:"The positions in this list stand for validators in views."`
	Views      []View           `json:"views" doc:"Oldest first."`
}

// View is one view.
type View struct {
	Epoch    types.Epoch   `json:"epoch" doc:"Of the set of validators: a view after a change of the set may have the number of one before."`
	View     types.View    `json:"view"`
	Leader   int           `json:"leader" doc:"Position in validators; -1 where none was told."`
	Outcome  string        `json:"outcome" enum:"final,notarized,nullified,open" doc:"final wins over nullified, and that over notarized."`
	Height   *types.Height `json:"height" doc:"Of its block; null where none is known."`
	BeganMS  types.Millis  `json:"began_ms" doc:"When the first validator told of it, by the network's clock."`
	TookUS   *uint64       `json:"took_us" doc:"From then to its outcome, in microseconds; null while it is open."`
	Notarize []int         `json:"notarize" doc:"Whose votes to notarize were seen, in certificates and carried by blocks."`
	Nullify  []int         `json:"nullify" doc:"Whose votes to nullify were seen, or told by who gave it up."`
	Finalize []int         `json:"finalize" doc:"Whose votes to finalize were seen, in certificates."`
	GaveUp   []GaveUp      `json:"gave_up" doc:"Who gave it up, and why."`
	Cause    string        `json:"cause" doc:"The cause that most of these say, the first of equals; empty where nobody gave it up."`
	Text     string        `json:"text" doc:"What came of it, in a sentence."`
}

// GaveUp is a validator's word on why it gave a view up.
type GaveUp struct {
	Validator int    `json:"validator" doc:"Position in validators."`
	Cause     string `json:"cause" doc:"As devnet_views_given_up_total has it: no_proposal and its like."`
	Detail    string `json:"detail" doc:"What it waited for, where the cause alone does not say it."`
}
