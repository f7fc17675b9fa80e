package fault

import (
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Upset is what a contract does wrong with its next message.
type Upset struct {
	Hang  time.Duration // how long it takes; 0: it panics
	Panic any           // with this
	Count *Counts
	Over  func() // is told when it is done; may be nil
}

// Contracts are the contracts of one process of a node, which do wrong as they are told
// (env.Contracts). Wait lets time pass, the node's; it is set before the first use.
type Contracts struct {
	Wait func(time.Duration)

	mu   sync.Mutex
	next map[types.Address]Upset
}

// Upset makes a contract misbehave on its next message, replacing its earlier
// orders, which end.
func (c *Contracts) Upset(contract types.Address, u Upset) {
	c.mu.Lock()
	if c.next == nil {
		c.next = map[types.Address]Upset{}
	}
	before := c.next[contract]
	c.next[contract] = u
	c.mu.Unlock()
	before.reportOver()
}

// End says that what waits is over: with the process.
func (c *Contracts) End() {
	c.mu.Lock()
	waiting := c.next
	c.next = nil
	c.mu.Unlock()
	for _, u := range waiting {
		u.reportOver()
	}
}

// Begin implements env.Contracts.
func (c *Contracts) Begin(contract types.Address) {
	c.mu.Lock()
	u, is := c.next[contract]
	delete(c.next, contract)
	c.mu.Unlock()
	if !is {
		return
	}
	defer u.reportOver()
	if u.Hang > 0 {
		u.Count.Hung.Add(1)
		c.Wait(u.Hang)
		return
	}
	u.Count.Panicked.Add(1)
	u.Count.Restarted.Add(1) // its supervisor makes it again, whatever the strategy
	panic(u.Panic)
}

func (u *Upset) reportOver() {
	if u.Over != nil {
		u.Over()
	}
}
