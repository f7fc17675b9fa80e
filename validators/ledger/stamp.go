package ledger

import "github.com/cowboyinc/devnet/internal/base/types"

// lateBlocks is how many block times a chain may be late and still make up for
// it; genesis is stamped as many before the start.
const lateBlocks = 3

// Stamp is the timestamp that a leader whose clock shows now gives a block on
// parent: one block time after the parent's while the chain is little late, so
// that the first blocks after genesis do not wait and the rate holds on
// average; else now. It is at least the parent's + 1.
//
// Spec: decision C7.
func Stamp(parent *State, now types.Millis) types.Millis {
	before, blockTime := parent.Timestamp(), types.Millis(parent.NextParams().BlockTimeMS)
	stamp := now
	if due := before + blockTime; due < now && now-before <= (lateBlocks+1)*blockTime {
		stamp = due
	}
	return max(stamp, before+1)
}

// StampSkipping is the timestamp of a block on parent that skips heights while
// time travel goes on: each height takes its block time, and the clock, which
// was moved before, is the limit. It is at least the parent's + 1.
//
// Spec: decisions C7, C8.
func StampSkipping(parent *State, skipped uint64, now types.Millis) types.Millis {
	blockTime := types.Millis(parent.NextParams().BlockTimeMS)
	if blockTime == 0 {
		return Stamp(parent, now)
	}
	before := parent.Timestamp()
	stamp := now
	if now > before && uint64((now-before)/blockTime) > skipped {
		stamp = before + types.Millis(skipped+1)*blockTime
	}
	return max(stamp, before+1)
}
