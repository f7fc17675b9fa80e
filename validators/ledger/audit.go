package ledger

import (
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// Audit reads all of a state and returns the first thing in it that must not
// be: a supply that does not add up (decision C15), damaged timers, bids that the
// escrow does not hold (CIP-5 §9.7), a validator set that its header does not
// name, stakes and jobs that the books of the system actors contradict.
func Audit(state *State) error {
	var held types.Wei
	state.eachAccount(func(_ types.Address, account actors.Account) bool {
		held = held.Add(account.Balance)
		return true
	})
	state.Messages(func(m *actors.Message) bool {
		held = held.Add(m.Prepaid())
		return true
	})
	supply := state.Supply()
	if want := supply.Circulating(); held != want {
		return fmt.Errorf("ledger: height %d: balances and prepaid messages hold %s wei; genesis + minted - burned - removed is %s",
			state.Height(), held, want)
	}
	if !state.header.Precedes(state.set) {
		return fmt.Errorf("ledger: height %d: the set of epoch %d is not the one that its header says is next", state.Height(), state.set.Epoch)
	}
	if err := scheduler.Check(state.params, reader{state.tree}); err != nil {
		return fmt.Errorf("ledger: height %d: %w", state.Height(), err)
	}
	escrow := actors.AccountOf(reader{state.tree}, types.TimerEscrow).Balance
	if bids := scheduler.LockedBids(state.params, reader{state.tree}); escrow.Less(bids) {
		return fmt.Errorf("ledger: height %d: the escrow holds %s wei, and the pending timers' bids are %s", state.Height(), escrow, bids)
	}
	if err := actors.CheckLines(reader{state.tree}); err != nil {
		return fmt.Errorf("ledger: height %d: %w", state.Height(), err)
	}
	if err := system.Audit(reader{state.tree}, state.Height()); err != nil {
		return fmt.Errorf("ledger: height %d: %w", state.Height(), err)
	}
	return nil
}

func (s *State) eachAccount(each func(types.Address, actors.Account) bool) {
	actors.ScanAccounts(reader{s.tree}, each)
}
