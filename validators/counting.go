package validators

import (
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// countingEvent is what the counting role is told.
type countingEvent interface{ forCounting() }

// stored says that a block is in the store.
type stored struct{ proposer types.Address }

func (stored) forCounting() {}

// counting is the role that counts blocks by who proposed them.
type counting struct{ blocks map[types.Address]uint64 }

func (v *Validator) newCounting() (roles.Steps[countingEvent], error) {
	c := &counting{blocks: map[types.Address]uint64{}}
	return roles.Steps[countingEvent]{Each: c.receive}, nil
}

func (c *counting) receive(event countingEvent) {
	switch event := event.(type) {
	case stored:
		c.blocks[event.proposer]++
	default:
		panic(unknown("counting", event))
	}
}
