package box

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/fixtures"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// below lists the processes that this one started, and those that they did: the
// hosts of Python of the one network that is up.
func below(pid int) (found []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(append(found, child), below(child)...)
			}
		}
	}
	return found
}

// A Python host is killed each tenth of a second or so, in the midst of calls and
// fires: that costs views, and what was under way at most. No validator stops, the
// chain goes on meanwhile, and afterwards everything runs as before.
func TestKillingTheHostsCostsViewsAlone(t *testing.T) {
	config := quick()
	config.Validators = 4
	n := up(t, config)
	_, err := n.Probe()
	needed.Python(t, err)
	seed := rand.Uint64()
	t.Logf("moments of the kills: seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	source, err := fixtures.Actors.ReadFile("actors/heartbeat.py")
	if err != nil {
		t.Fatal(err)
	}
	alice := newPayer(n, "alice")
	deploy := alice.deploy(source, "hb", 100_000*types.CBY)
	heart := mustLand(t, n, alice.limited(deploy, 1_000_000, 400_000)).To
	mustLand(t, n, alice.limited(alice.execute(heart, "start", nil), roomyCycles, 20_000))

	kills, calls, began := 0, 0, n.Best().finalHeight()
	for end := time.Now().Add(6 * time.Second); time.Now().Before(end); calls++ {
		if hosts := below(os.Getpid()); len(hosts) > 0 && syscall.Kill(hosts[random.IntN(len(hosts))], syscall.SIGKILL) == nil {
			kills++
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(random.IntN(200))*time.Millisecond)
		hash, err := n.Submit(ctx, alice.limited(alice.execute(heart, "start", nil), roomyCycles, 20_000).Encode())
		if err == nil {
			_, err = n.Wait(ctx, hash)
		}
		cancel()
		var refused *refusal.Error
		if err != nil && errors.As(err, &refused) {
			alice = newPayer(n, "alice") // what was given up left its nonce
		}
	}
	if kills < 10 {
		t.Errorf("%d hosts were killed", kills)
	}
	for _, node := range n.List() {
		if !node.Running() {
			t.Errorf("%s stopped: %v", node.Name, node.Failure())
		}
	}
	during := n.Best().finalHeight()
	await(t, n, during+10)
	bob := newPayer(n, "bob")
	receipt := mustLand(t, n, bob.limited(bob.execute(heart, "start", nil), roomyCycles, 20_000))
	mustLand(t, n, bob.transfer(n.addressOf("alice"), 1))
	t.Logf("%d kills in %d blocks and %d calls; the first call afterwards is in block %d: %s", kills, during-began, calls, receipt.Height,
		receipt.Status)
}

// roomyCycles is what a call needs in Python.
const roomyCycles = 200_000

func mustLand(t *testing.T, n *Network, tx *types.Transaction) *types.Receipt {
	t.Helper()
	receipt := land(t, n, tx)
	if receipt.Status != types.StatusOK {
		t.Fatalf("%s: %+v", receipt.Status, receipt.Error)
	}
	return receipt
}
