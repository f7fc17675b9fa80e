package model

import "github.com/cowboyinc/devnet/internal/base/types"

// BalanceRequest is the body of POST /devnet/balance.
type BalanceRequest struct {
	Account string    `json:"account" minLength:"1" maxLength:"256" doc:"An account or actor, by name or address."`
	Balance types.Wei `json:"balance" doc:"Balance after the change, in wei."`
}

// BalanceSet is a balance that was set.
type BalanceSet struct {
	Address types.Address `json:"address"`
	Before  types.Wei     `json:"before" doc:"In wei."`
	After   types.Wei     `json:"after" doc:"In wei."`
	Height  types.Height  `json:"height" doc:"Height of its block."`
	Hash    types.Hash    `json:"hash" doc:"Of the transaction."`
}

// StateRequest is the body of POST /devnet/state.
type StateRequest struct {
	Actor string  `json:"actor" minLength:"1" maxLength:"256" doc:"A deployed actor, by name or address."`
	Key   string  `json:"key" doc:"0x-hex is bytes; any other string is UTF-8 text."`
	Value *string `json:"value,omitempty" doc:"0x-hex is bytes; any other string is UTF-8 text. Absent or null removes the key."`
}

// StateSet is a key of an actor's state that was set or removed.
type StateSet struct {
	Actor   types.Address `json:"actor"`
	Key     types.Bytes   `json:"key"`
	Removed bool          `json:"removed"`
	Height  types.Height  `json:"height" doc:"Height of its block."`
	Hash    types.Hash    `json:"hash" doc:"Of the transaction."`
}

// MineRequest is the body of POST /devnet/mine.
type MineRequest struct {
	Blocks uint64 `json:"blocks,omitempty" maximum:"10000" doc:"Number of blocks; 1 where absent."`
}

// AutomineRequest is the body of POST /devnet/automine.
type AutomineRequest struct {
	On bool `json:"on" doc:"False: blocks are made only by a mine or an advance."`
}
