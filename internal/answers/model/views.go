package model

import "github.com/cowboyinc/devnet/internal/base/types"

// The outcomes of a view.
const (
	ViewFinal     = "final"     // it has a block that is final
	ViewNotarized = "notarized" // it has a block that is notarized, and not final
	ViewNullified = "nullified"
	ViewOpen      = "open"
)

// Views are the latest views, as reported by the validators.
type Views struct {
	From       types.View       `json:"from" doc:"First view of the answer."`
	To         types.View       `json:"to" doc:"Last view of the answer."`
	Latest     types.View       `json:"latest" doc:"The latest known view."`
	KeptFrom   types.View       `json:"kept_from" doc:"The first view that is still known; 0 if no view is."`
	Failed     uint64           `json:"failed" doc:"Views that were nullified and have no block, since the process began."`
	Validators []NamedValidator `json:"validators" doc:"The positions in this list stand for validators in views."`
	Views      []View           `json:"views" doc:"Oldest first."`
}

// View is one view.
type View struct {
	Epoch    types.Epoch   `json:"epoch" doc:"Epoch of the validator set: view numbers may repeat after a change of the set."`
	View     types.View    `json:"view"`
	Leader   int           `json:"leader" doc:"Position in validators; -1 if it is unknown."`
	Outcome  string        `json:"outcome" enum:"final,notarized,nullified,open" doc:"final wins over nullified, and that over notarized."`
	Height   *types.Height `json:"height" doc:"Height of the view's block; null if no block is known."`
	BeganMS  types.Millis  `json:"began_ms" doc:"Time of the first validator's report, by the network's clock."`
	TookUS   *uint64       `json:"took_us" doc:"Microseconds from then to the outcome; null while the view is open."`
	Notarize []int         `json:"notarize" doc:"Whose votes to notarize were seen, in certificates and carried by blocks."`
	Nullify  []int         `json:"nullify" doc:"Validators whose votes to nullify were seen or reported by the voter."`
	Finalize []int         `json:"finalize" doc:"Validators whose votes to finalize were seen in certificates."`
	GaveUp   []GaveUp      `json:"gave_up" doc:"Validators that gave the view up, with their causes."`
	Cause    string        `json:"cause" doc:"The most frequent of these causes, on a tie the first; empty if no validator gave it up."`
	Text     string        `json:"text" doc:"The outcome, in a sentence."`
}

// ViewEvent is a view that was nullified, as it is told with a final block.
type ViewEvent struct {
	Height  types.Height `json:"height" doc:"Height of the final block after which it is sent."`
	Epoch   types.Epoch  `json:"epoch" doc:"Epoch of the set of validators."`
	View    types.View   `json:"view"`
	Leader  string       `json:"leader" doc:"Name of the validator that led it; empty if unknown."`
	BeganMS types.Millis `json:"began_ms" doc:"Time of the first validator's report, by the network's clock."`
	TookUS  uint64       `json:"took_us" doc:"From then until it was nullified, in microseconds."`
	GaveUp  []ViewLost   `json:"gave_up" doc:"The validators that gave it up, with their causes."`
	Cause   string       `json:"cause" doc:"The most frequent of these causes, on a tie the first; empty if there is none."`
	Text    string       `json:"text" doc:"The view's end and its causes, as a sentence."`
}

// ViewLost is a validator's word on why it gave a view up, by its name.
type ViewLost struct {
	Validator string `json:"validator"`
	Cause     string `json:"cause" doc:"A cause as in devnet_views_given_up_total, such as no_proposal."`
	Detail    string `json:"detail" doc:"The event that it waited for, if the cause does not say it."`
}

// GaveUp is a validator's word on why it gave a view up.
type GaveUp struct {
	Validator int    `json:"validator" doc:"Position in validators."`
	Cause     string `json:"cause" doc:"A cause of devnet_views_given_up_total, such as no_proposal."`
	Detail    string `json:"detail" doc:"Missing item that the validator waited for, if the cause does not name it."`
}
