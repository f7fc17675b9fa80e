package gateway

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// heldAll is a registry of n places, all held since genesis.
func heldAll(places int) (p selection.Places) {
	for i := range places {
		p = p.With(i, 0)
	}
	return p
}

// J12: the attestation of a runner counts for no other runner of its place, whether the
// head or the block voted on is ahead. Its late end takes no bit from the next runner.
func TestJ12WhatIsAttestedOfARunnerCountsForNoOtherOfItsPlace(t *testing.T) {
	var a Attested
	before := heldAll(2)
	after := before.Without(1, 0).With(1, 40)
	bit := func(places selection.Places) bool { return a.Bitmap(5, 2, places).Has(1) }
	a.Take([]Attests{{Index: 1, Since: 0, Until: types.Never}})
	if !bit(before) {
		t.Error("the first runner is not attested in a vote on a block of its time")
	}
	if bit(after) || bit(before.Without(1, 0)) {
		t.Error("the first runner is attested where the place is free, or another holds it")
	}
	a.Take([]Attests{{Index: 1, Since: 40, Until: types.Never}})
	if !bit(after) || bit(before) {
		t.Error("the second runner is not attested, or is in a vote on a block before its time")
	}
	a.Take([]Attests{{Index: 1, Since: 0, Until: 0}})
	if !bit(after) {
		t.Error("the end of the first runner's connection takes the second one's bit")
	}
}
