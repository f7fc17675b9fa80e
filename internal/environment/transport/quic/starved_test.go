package quic

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/environment/transport/memnet"
)

// processor lets packets of all nodes pass one after another, each in the given time. Many
// handshakes at once then take too long for any of them.
func processor(each time.Duration) memnet.Fate {
	var mu sync.Mutex
	var free time.Time
	return func(string, string, int) (time.Duration, bool) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if free.Before(now) {
			free = now
		}
		free = free.Add(each)
		return free.Sub(now), false
	}
}

// The validators of a process connect on a starved machine: their handshakes take turns.
// Without turns all begin at once, the time of each is over before its end, and all begin
// again.
func TestAStarvedMeshConnects(t *testing.T) {
	const validators, each = 10, 2 * time.Millisecond
	for _, turns := range []bool{true, false} {
		t.Run(fmt.Sprintf("turns=%t", turns), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := memnet.New()
				net.SetFate(processor(each))
				var shared *connections.Turns
				if turns {
					shared = connections.NewTurns(4)
				}
				nodes := mesh(t, validators, func(config *Config) { config.PacketConn, config.Turns = net.Listen(0), shared })
				time.Sleep(30 * time.Second)
				connected := 0
				for _, n := range nodes {
					connected += len(n.Connected())
				}
				if all := validators * (validators - 1); (connected == all) != turns {
					t.Fatalf("%d of %d connections after thirty seconds", connected, all)
				}
				net.SetFate(nil)
			})
		})
	}
}
