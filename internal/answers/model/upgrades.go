package model

import (
	"encoding/json"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// UpgradeTerms says who may upgrade an actor.
type UpgradeTerms struct {
	By    string `json:"by" minLength:"1" maxLength:"256" doc:"The account that signs upgrades, by name or address."`
	Delay uint64 `json:"delay,omitempty" maximum:"4294967295" doc:"Blocks from the announcement of an upgrade to the height at which it may be applied; 0: it applies at once."`
}

// ActorUpgrades is the terms and the upgrades of an actor.
type ActorUpgrades struct {
	Done      uint64            `json:"done" doc:"How many upgrades were applied."`
	By        *types.Address    `json:"by" nullable:"true" doc:"The account that may upgrade the actor; null: no account may, for good."`
	Delay     uint64            `json:"delay" doc:"Blocks from the announcement of an upgrade to the height at which it may be applied."`
	Announced *AnnouncedUpgrade `json:"announced" doc:"The upgrade that waits; null if none does."`
}

// AnnouncedUpgrade is an upgrade that waits for its height.
type AnnouncedUpgrade struct {
	_        struct{}     `nullable:"true"`
	CodeHash types.Hash   `json:"code_hash" doc:"Hash of the new code."`
	Height   types.Height `json:"height" doc:"From which on it may be applied."`
	Until    types.Height `json:"until" doc:"The last height at which it may be applied. Later it has to be announced again."`
}

// UpgradeRequest is the body of POST /devnet/upgrade.
type UpgradeRequest struct {
	From     string                     `json:"from" minLength:"1" maxLength:"256" doc:"The devnet account that the actor's terms name, by name or address."`
	Actor    string                     `json:"actor" minLength:"1" maxLength:"256" doc:"Address or name."`
	Code     string                     `json:"code" minLength:"1" doc:"The Python source as text, or as 0x-hex."`
	Migrate  string                     `json:"migrate,omitempty" doc:"Payload of the new code's migrate: 0x-hex is bytes, any other string is UTF-8 text. A typed migrate takes a JSON object, to which the chain adds old."`
	Args     map[string]json.RawMessage `json:"args,omitempty" doc:"Instead of migrate: the arguments of a typed migrate by name, without old, in the forms of the new code's schema. Where an address is wanted, a name is one too."`
	CodeHash *types.Hash                `json:"code_hash,omitempty" doc:"The hash of the code that the actor must have; by default, its code in the latest final state."`
	End      []string                   `json:"end,omitempty" maxItems:"32" nullable:"false" doc:"Names of continuations that end when the upgrade applies; their jobs are cancelled, and the actor gets the escrow back."`

	CyclesLimit *types.Cycles `json:"cycles_limit,omitempty" doc:"1,000,000 and 4 a byte of code where absent."`
	CellsLimit  *types.Cells  `json:"cells_limit,omitempty" doc:"Enough for code and migrate, and 100,000 more, where absent."`
}

// Upgraded is the answer of an upgrade.
type Upgraded struct {
	From      types.Hash    `json:"from" doc:"Hash of the former code."`
	To        types.Hash    `json:"to" doc:"Hash of the new code."`
	AppliesAt *types.Height `json:"applies_at" doc:"The height from which on the upgrade may be applied, if it was announced; otherwise null."`
	Receipt   Receipt       `json:"receipt"`
}

// ApplyUpgradeRequest is the body of POST /devnet/upgrade/apply.
type ApplyUpgradeRequest struct {
	From  string `json:"from" minLength:"1" maxLength:"256" doc:"The devnet account that the actor's terms name, by name or address."`
	Actor string `json:"actor" minLength:"1" maxLength:"256" doc:"Address or name."`
}

// UpgradeTermsRequest is the body of POST /devnet/upgrade/terms.
type UpgradeTermsRequest struct {
	From  string  `json:"from" minLength:"1" maxLength:"256" doc:"The devnet account that the actor's terms name, by name or address."`
	Actor string  `json:"actor" minLength:"1" maxLength:"256" doc:"Address or name."`
	By    string  `json:"by,omitempty" maxLength:"256" doc:"The account that upgrades it from now on, by name or address."`
	Delay *uint64 `json:"delay,omitempty" maximum:"4294967295" doc:"In blocks; not less than it was."`
	Never bool    `json:"never,omitempty" doc:"End upgrades for good."`
}
