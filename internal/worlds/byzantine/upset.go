package byzantine

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// Actors are the actors of one process of a node: its roles, and a validator's contracts.
type Actors interface {
	Upset(role string, hang time.Duration, order *roles.Ordered) error
	Contracts() *fault.Contracts // nil: it has none
}

// Upset has an actor panic or hang, by an order of one of these verbs that is sound, and
// counts what that did. over is called once, after the given time, when the fault can do
// nothing more.
func Upset(a Actors, o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error {
	hang := time.Duration(0)
	if o.Verb == "hang" {
		hang = o.Delay
	}
	if contract, is := types.ContractAddress(o.Contract); is {
		a.Contracts().Upset(contract, fault.Upset{Hang: hang, Panic: &roles.Ordered{}, Count: counts, Over: func() { over(0) }})
		return nil
	}
	if hang > 0 {
		if err := a.Upset(o.Role, hang, nil); err != nil {
			return err
		}
		counts.Hung.Add(1)
		over(hang)
		return nil
	}
	return a.Upset(o.Role, 0, &roles.Ordered{Then: func(fate roles.Fate) {
		fate.Count(&counts.Panicked, &counts.Restarted, &counts.Ended)
		over(0)
	}})
}
