// Package wallet is who signs on a devnet, and how: the names of its accounts and
// nodes, their keys, which follow from the network's seed, and the drafts of the
// transactions that the devnet signs for its users, simulated or live.
//
// The keys are public knowledge: docs/WIRE.md shows those of seed 1.
package wallet
