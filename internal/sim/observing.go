package sim

import (
	"github.com/cowboyinc/devnet/internal/oracle"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators"
)

// Observations is what the oracles are told of blocks that a validator made
// final. Every sample-th height is shown with all of its state and money.
func Observations(f validators.Finality, who types.Address, sample types.Height) []oracle.Observation {
	out := make([]oracle.Observation, 0, len(f.Results))
	for i, r := range f.Results {
		o := oracle.Observation{Validator: who, Block: r.Block, Hash: r.Hash, StateRoot: r.State.Root(),
			Receipts: r.Receipts, Timers: r.Timers, NextSet: r.NextSet}
		if i == len(f.Results)-1 {
			o.Finalization = f.Finalization
		}
		if r.Block.Header.Height%sample == 0 {
			o.Money = moneyOf(r.State)
			r.State.Scan(nil, nil, func(key, value []byte) bool {
				o.State = append(o.State, oracle.Entry{Key: key, Value: value})
				return true
			})
		}
		out = append(out, o)
	}
	return out
}
