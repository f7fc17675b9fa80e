package box

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/fixtures/attacks"
	"github.com/cowboyinc/devnet/internal/program"
	"github.com/cowboyinc/devnet/internal/pyhost"
	"github.com/cowboyinc/devnet/internal/types"
)

// stopwatch is a host of programs that notes how long each message took.
type stopwatch struct {
	program.Host
	mu    sync.Mutex
	took  map[types.Address]time.Duration // the longest message of an actor
	count int
}

func (w *stopwatch) Open(purpose program.Purpose) (program.Session, error) {
	s, err := w.Host.Open(purpose)
	return timed{s, w}, err
}

type timed struct {
	program.Session
	watch *stopwatch
}

func (s timed) Handle(ctx program.Context, code program.Code, m program.Message) (program.Outcome, error) {
	begin := time.Now()
	out, err := s.Session.Handle(ctx, code, m)
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.count++
	s.watch.took[m.Self] = max(s.watch.took[m.Self], time.Since(begin))
	return out, err
}

// armed adds a handler that schedules the attack as a timer, where the attack is of
// functions.
func armed(a attacks.Attack) (string, bool) {
	if !strings.Contains("\n"+a.Source, "\ndef "+attacks.Handler+"(") {
		return a.Source, false
	}
	return a.Source + "\ndef arm_attack(p):\n    import pvm_host\n    pvm_host.schedule_timer(int(p), b'', handler='" + attacks.Handler +
		"', gas_limit=200000)\n", true
}

// The attacks of the corpus run as calls, as deferred messages and as timers in a
// live network of four validators that each execute everything themselves: all
// stay alive, blocks go on, the roots are the same, and so they are when the homes
// are audited. All of the corpus under DEVNET_SOAK, else eight.
func TestAttacksInALiveNetwork(t *testing.T) {
	const deployLimit, callLimit, atOnce = 5_000_000, 200_000, 4
	all := attacks.All()
	if os.Getenv("DEVNET_SOAK") == "" {
		step := max(1, len(all)/8)
		for i := 0; i*step < len(all) && i < 8; i++ {
			all[i] = all[i*step]
		}
		all = all[:min(len(all), 8)]
	}
	pool := pyhost.New(pyhost.Config{})
	t.Cleanup(pool.Close)
	if _, err := pool.Probe(); err != nil {
		t.Skip(err)
	}
	watch := &stopwatch{Host: pool, took: map[types.Address]time.Duration{}}
	home := t.TempDir() + "/home"
	n := up(t, Config{Home: home, NoMemo: true, BlockTime: 20 * time.Millisecond, Programs: watch})
	alice := newWallet(n, "alice")
	relay := deploySample(t, alice, "relay", "relay", 100*types.CBY)

	names := map[types.Address]string{}
	refused, called := 0, 0
	send := func(tx *types.Transaction) types.Hash {
		tx.CyclesLimit, tx.CellsLimit = callLimit, 400_000
		if tx.To == nil {
			tx.CyclesLimit = deployLimit
		}
		sig := n.Key("alice").Sign(tx.SigningDigest())
		tx.Signature = &sig
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		hash, err := n.Submit(ctx, tx.Encode())
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	wait := func(hash types.Hash) *types.Receipt {
		ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
		defer cancel()
		r, err := n.Wait(ctx, hash)
		if err != nil && strings.Contains(err.Error(), "dropped: host_failed") {
			t.Skip("this machine is too busy: a transaction was given up for want of time (decision C18), and what its sender sent after it waits for it")
		}
		if err != nil {
			t.Fatal(err)
		}
		return &r.Receipt
	}
	for len(all) > 0 {
		batch := all[:min(atOnce, len(all))]
		all = all[len(batch):]
		var deploys, last []types.Hash
		for _, a := range batch {
			source, _ := armed(a)
			deploys = append(deploys, send(alice.deploy([]byte(source), a.Name, 100*types.CBY)))
		}
		for i, a := range batch {
			r := wait(deploys[i])
			if a.Refused() != (r.Status == types.StatusInvalidCode) {
				t.Errorf("%s is deployed with %s %+v; it ends: %s", a.Name, r.Status, r.Error, a.Ends)
			}
			if r.Status != types.StatusOK {
				refused++
				continue
			}
			called++
			names[r.To] = a.Name
			order := &samples.Order{Target: r.To, Handler: attacks.Handler, Cycles: callLimit, Cells: 20_000}
			last = append(last, send(alice.execute(r.To, attacks.Handler, nil)), send(alice.execute(relay, "send", order.Encode())))
			if _, ok := armed(a); ok {
				last = append(last, send(alice.execute(r.To, "arm_attack", []byte(fmt.Sprint(n.Best().height()+30)))))
			}
		}
		for _, hash := range last {
			wait(hash)
		}
	}
	end := n.Best().height() + 40
	await(t, n, end)
	for _, node := range n.List() {
		awaitNode(t, node, end)
	}
	ends := map[string]int{}
	for h := types.Height(1); h <= end; h++ {
		var roots []types.Hash
		for _, node := range n.List() {
			block, err := node.Validator().Archive().Block(h)
			if err != nil || block == nil {
				t.Fatalf("%s has no block %d: %v", node.Name, h, err)
			}
			roots = append(roots, block.Block.Header.StateRoot)
			if node != n.List()[0] {
				continue
			}
			for _, r := range block.Receipts {
				ends[fmt.Sprint(r.Status)]++
			}
		}
		for _, root := range roots {
			if root != roots[0] {
				t.Fatalf("the roots at height %d differ: %v", h, roots)
			}
		}
	}
	t.Logf("%d attacks ran, %d were refused at deploy; %d messages over %d heights; receipts: %v",
		called, refused, watch.count, end, ends)
	if called < 3*refused/2 {
		t.Errorf("%d attacks ran, %d were refused", called, refused)
	}
	watch.tell(t, names)
	auditAll(t, n, home)
}

// tell prints the worst wall time of a message.
func (w *stopwatch) tell(t *testing.T, names map[types.Address]string) {
	var actors []types.Address
	for at := range w.took {
		actors = append(actors, at)
	}
	sort.Slice(actors, func(i, j int) bool { return w.took[actors[i]] > w.took[actors[j]] })
	for _, at := range actors[:min(5, len(actors))] {
		t.Logf("%-40s %v", names[at], w.took[at].Round(time.Millisecond))
	}
}
