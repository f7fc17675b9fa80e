package ledger

import "github.com/cowboyinc/devnet/internal/base/types"

// lateBlocks is how many block times a chain may be late and still make up for
// it; genesis is stamped as many before the start.
const lateBlocks = 3

// Stamp returns the timestamp that a leader whose clock shows now gives a block on
// parent. While the chain is only a little late, it is one block time after the
// parent's, so that the first blocks after genesis do not wait and the rate holds
// on average; otherwise it is now. It is a block time after the parent's at least,
// as voters ask.
//
// Spec: decision C7.
func Stamp(parent *State, now types.Millis) types.Millis {
	before, blockTime := parent.Timestamp(), types.Millis(parent.NextParams().BlockTimeMS)
	stamp := now
	if due := before + blockTime; due < now && now-before <= (lateBlocks+1)*blockTime {
		stamp = due
	}
	return max(stamp, earliestStamp(parent))
}

// earliestStamp is the first timestamp that voters accept on parent: a block time after the parent's,
// or 1 ms if blocks have no time.
func earliestStamp(parent *State) types.Millis {
	return parent.Timestamp() + max(1, types.Millis(parent.NextParams().BlockTime().Milliseconds()))
}

// StampSkipping returns the timestamp of a block on parent that skips heights
// during time travel: each height takes its block time, and the clock, which was
// moved before, is the limit. It is a block time after the parent's at least.
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
	return max(stamp, earliestStamp(parent))
}
