package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// What a commit is said to write, and how long that takes by MeasuredWork.
const (
	laggingBytes = 150 << 20
	laggingTime  = 300 * time.Millisecond
)

// unstored says whose log was rewritten since its last commit was through: what was
// final by then, and is not stored, is in that log alone.
type unstored map[string]bool

// lagging is a store whose commits take longer than blocks.
type lagging struct {
	env.Store
	name  string
	work  env.Work
	after func(time.Duration, func())
	logs  unstored
}

// Commit implements env.Store.
func (l lagging) Commit(writes []env.Write) error {
	l.work.Did(env.BytesWritten, laggingBytes)
	l.after(laggingTime, func() { l.logs[l.name] = false })
	return l.Store.Commit(writes)
}

// rewritten is the log beside it.
type rewritten struct {
	env.Log
	name string
	logs unstored
}

// Rewrite implements env.Log.
func (l rewritten) Rewrite(records [][]byte) error {
	l.logs[l.name] = true
	return l.Log.Rewrite(records)
}

func (b unstored) count() (n int) {
	for _, on := range b {
		if on {
			n++
		}
	}
	return n
}

// C5: logs are rewritten while the stores are blocks behind what is final, and then
// all validators crash at once, again and again. A log must still hold what the store
// does not: where it was compacted to what is final, nobody has those blocks any
// more, and the chain stands still or contradicts itself.
func TestALogIsNotRewrittenBeyondTheStore(t *testing.T) {
	const validators = 4
	struck := 0
	for seed := range uint64(4) {
		var n *Network
		logs := unstored{}
		after := func(d time.Duration, fn func()) {
			if n != nil { // what is stored while it boots is genesis
				n.After(d, fn)
			}
		}
		n, err := NewNetwork(NetworkConfig{World: Config{Seed: seed, Disk: Disk{Latency: time.Millisecond}}, Validators: validators, Rewrite: 1,
			Params: params.Overrides{"chain.block_time_ms": "20", "chain.link_delay_ms": "20"},
			Wrap: func(name string, node env.Validator) env.Validator {
				node.Store, node.Log = lagging{node.Store, name, node.Work, after, logs}, rewritten{node.Log, name, logs}
				return node
			}})
		if err != nil {
			t.Fatal(err)
		}
		all := func() bool { return logs.count() == validators }
		for life := range 6 {
			clear(logs)
			if err := n.RunFor(laggingTime); err != nil {
				t.Fatalf("seed %d, life %d: %v", seed, life, err)
			}
			if err := n.RunUntil(all, n.Now().Add(5*time.Second)); err == nil && all() {
				struck++
			}
			for i := range validators {
				n.Crash(fmt.Sprint("v", i))
			}
			for i := range validators {
				if err := n.Boot(fmt.Sprint("v", i)); err != nil {
					t.Fatalf("seed %d, life %d: %v", seed, life, err)
				}
			}
			reach(t, n, n.tip+20)
		}
		n.Close()
	}
	if struck < 4 {
		t.Errorf("struck %d times at the right moment", struck)
	}
}
