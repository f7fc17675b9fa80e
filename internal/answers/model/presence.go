package model

import "github.com/cowboyinc/devnet/internal/base/types"

// PresenceRange is P(H) of heights in a row, and the votes that it follows from.
type PresenceRange struct {
	From       types.Height     `json:"from"`
	To         types.Height     `json:"to"`
	Head       types.Height     `json:"head" doc:"Height of the latest final block: P is known below it."`
	Next       *types.Height    `json:"next" doc:"Height to continue from; null if the answer is complete."`
	Validators []NamedValidator `json:"validators" doc:"Validators with votes in the answer."`
	Heights    []PresenceAt     `json:"heights" doc:"Oldest first; a skipped height has none."`
}

// PresenceAt is P of one height as bitmaps: bit i is bit i mod 8, from the lowest,
// of byte i / 8, and stands for the runner of index i.
type PresenceAt struct {
	Height    types.Height   `json:"height"`
	Rule      string         `json:"rule"`
	Threshold int            `json:"threshold" doc:"How many of the votes have to show a runner."`
	Bits      int            `json:"bits" doc:"Length of the registry."`
	Count     int            `json:"count" doc:"Runners that are present."`
	Present   []byte         `json:"present" doc:"P(H), in base64."`
	Votes     []PresenceVote `json:"votes"`
}

// PresenceVote is the bitmap of one validator's vote.
type PresenceVote struct {
	Validator int    `json:"validator" doc:"Position in validators."`
	Bitmap    []byte `json:"bitmap" doc:"In base64."`
}
