// Package wallet signs for the accounts and nodes of a devnet, simulated or live:
// their names, their keys, which follow from the network's seed, and the drafts of
// the transactions that the devnet signs for its users.
//
// The keys are public knowledge: docs/WIRE.md shows those of seed 1.
package wallet
