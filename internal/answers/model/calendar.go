package model

import "github.com/cowboyinc/devnet/internal/base/types"

// Calendar counts the pending timers by tier and height.
type Calendar struct {
	Height  types.Height   `json:"height" doc:"Height of the state that was read."`
	From    types.Height   `json:"from"`
	To      types.Height   `json:"to"`
	Width   types.Height   `json:"width" doc:"Heights in a bin; the last bin may have fewer."`
	Tiers   []CalendarTier `json:"tiers" doc:"The tiers that are in order of heights: ring, epoch, overflow."`
	Carry   uint64         `json:"carry" doc:"Timers past their height that wait for a turn."`
	Arrears uint64         `json:"arrears" doc:"Timers that could not pay when a block looked at them last."`
	Pending uint64         `json:"pending" doc:"All pending timers, also those out of the range."`
	Whole   bool           `json:"whole" doc:"False if the network has more timers than were read: each count is then a lower bound."`
}

// CalendarTier is a tier of the calendar.
type CalendarTier struct {
	Tier   string   `json:"tier" enum:"ring,epoch,overflow"`
	Counts []uint64 `json:"counts" doc:"Timers per bin: bin i counts those due at from + i·width and the heights up to the next bin."`
	Total  uint64   `json:"total" doc:"Timers in the range."`
}
