package crowd

import "github.com/cowboyinc/devnet/internal/base/draw"

// SelfTippers is one member whose owner has the first so many validators, and tips them. It has so many timers in each block that one
// of them leads, or in every block, which are for that block alone.
func SelfTippers(name string, validators, timers int, isInEveryBlock bool, price Price) *Crowd {
	return &Crowd{Name: name, Members: 1, Validators: validators, Tick: func(sees Outlook, _ *draw.Stream) map[int][]Order {
		if !isInEveryBlock && !sees.leadsAfterNext(validators) {
			return nil
		}
		orders := make([]Order, timers)
		for i := range orders {
			none := uint64(0)
			orders[i] = price.newOrder()
			orders[i].In, orders[i].Patience = 1, &none
		}
		return map[int][]Order{0: orders}
	}}
}
