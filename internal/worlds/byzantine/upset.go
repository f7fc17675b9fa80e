package byzantine

import (
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// hangOf is for how long an order has an actor hang; 0 of a panic.
func hangOf(o *fault.Order) time.Duration {
	if o.Verb == fault.Hang {
		return o.Delay
	}
	return 0
}

// upsetRole has a role panic or hang, by an order of one of these verbs that is sound, and
// counts what that did. over is called once, after the given time, when the fault can do
// nothing more.
func upsetRole(upset func(role string, hang time.Duration, order *roles.Ordered) error, o *fault.Order, counts *fault.Counts,
	over func(after time.Duration)) error {
	if hang := hangOf(o); hang > 0 {
		if err := upset(o.Role, hang, nil); err != nil {
			return err
		}
		counts.Hung.Add(1)
		over(hang)
		return nil
	}
	return upset(o.Role, 0, &roles.Ordered{Then: func(fate roles.Fate) {
		fate.Count(&counts.Panicked, &counts.Restarted, &counts.Ended)
		over(0)
	}})
}
