// Package history stores and reads a validator's part of the chain: final blocks
// with their results, the state, timers with their stories, the lane's records,
// printed lines. It takes no part in consensus.
//
// Writer says what to write for blocks that became final, and what to drop where
// a bound is set; it commits nothing. Archive reads, also the store of a validator
// that does not run, and is safe for concurrent use. Target and Advance are the
// plan and the receipt of time travel (C8), the same for every world.
//
// State is consensus state; every other table is derived from final blocks and can
// be made again by executing them.
package history
