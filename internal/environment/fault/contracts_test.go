package fault

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// A contract misbehaves only on its next message, and counts that.
func TestAContractDoesWrongOnce(t *testing.T) {
	var waited time.Duration
	c := &Contracts{Wait: func(d time.Duration) { waited += d }}
	counts, over := new(Counts), 0
	begin := func(a types.Address) (panicked any) {
		defer func() { panicked = recover() }()
		c.Begin(a)
		return nil
	}
	upset := func(u Upset) {
		u.Count, u.Over = counts, func() { over++ }
		c.Upset(types.DispatcherAddress, u)
	}
	upset(Upset{Panic: "told"})
	if begin(types.RegistryAddress) != nil || begin(types.DispatcherAddress) != "told" || begin(types.DispatcherAddress) != nil {
		t.Error("it panics elsewhere, or again")
	}
	upset(Upset{Hang: time.Second})
	if begin(types.DispatcherAddress) != nil || waited != time.Second || begin(types.DispatcherAddress) != nil || waited != time.Second {
		t.Errorf("it hung %v", waited)
	}
	if got := counts.Text(Panic, Simulated); got != "1 actor panicked, 1 actor hung, 1 actor restarted" || over != 2 {
		t.Errorf("%q, %d are over", got, over)
	}
	upset(Upset{Panic: 1})
	upset(Upset{Panic: 2})
	if over != 3 {
		t.Error("what was replaced is not over")
	}
	if c.End(); over != 4 || begin(types.DispatcherAddress) != nil {
		t.Error("it outlives its process")
	}
}
