// Package types holds the words of the chain as Go types: quantities,
// identities, transactions, blocks, votes, timers and receipts. It has no
// behaviour beyond encoding, hashing and arithmetic that cannot wrap.
//
// Every type that is hashed, signed or stored encodes to deterministic CBOR
// (package codec). Each quantity has a distinct type, so that adding a Height to a
// View does not compile.
package types

import "math"

// Height counts blocks; genesis is 0.
type Height uint64

// View counts consensus attempts, on through epochs; the first is 1.
type View uint64

// Epoch counts eras of a validator set; the first is 0.
type Epoch uint64

// Cycles measure computation (CIP-3).
type Cycles uint64

// Cells measure bytes carried or stored (CIP-3).
type Cells uint64

// Nonce counts the transactions of an account, the first being 0.
type Nonce uint64

// Seq is the chain-wide sequence number of a timer or a deferred message.
type Seq uint64

// Sub returns a - b, or 0 where b is greater.
func (a Cycles) Sub(b Cycles) Cycles {
	if b > a {
		return 0
	}
	return a - b
}

// Sub returns a - b, or 0 where b is greater.
func (a Cells) Sub(b Cells) Cells {
	if b > a {
		return 0
	}
	return a - b
}

// Add returns a + b, at most the maximum of Cycles.
func (a Cycles) Add(b Cycles) Cycles {
	if s := a + b; s >= a {
		return s
	}
	return math.MaxUint64
}

// Add returns a + b, at most the maximum of Cells.
func (a Cells) Add(b Cells) Cells {
	if s := a + b; s >= a {
		return s
	}
	return math.MaxUint64
}
