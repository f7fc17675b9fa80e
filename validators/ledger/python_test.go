package ledger

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
	"github.com/cowboyinc/devnet/scheduler"
)

// newPythonWorld is a world whose actors may also be Python; the test ends without
// one (package needed).
func newPythonWorld(t testing.TB, overrides params.Overrides) *world {
	t.Helper()
	hosts := pyhost.New(pyhost.Config{Hosts: 1})
	t.Cleanup(hosts.Close)
	_, err := hosts.Probe()
	needed.Python(t, err)
	w := newWorld(t, overrides)
	w.executor.Programs = samples.Mux{Other: hosts}
	return w
}

// python makes the deploy of an actor in Python.
func (w *world) python(from, name, source string, fund uint64) *Checked {
	d := &types.Deploy{Kind: types.KindDeploy, Code: []byte(source), Salt: types.Keccak([]byte(name)), Manifest: types.Manifest{Name: name}}
	w.named(name, actors.ActorAddress(w.key(from).Address(), d.Salt, d.Code))
	tx := w.tx(from, nil, d)
	tx.Value = types.WeiOf(fund)
	return w.checked(from, tx)
}

// fixture makes the deploy of an actor of fixtures/actors.
func (w *world) fixture(from, name string, fund uint64) *Checked {
	source, err := os.ReadFile("../../fixtures/actors/" + name + ".py")
	if err != nil {
		w.t.Fatal(err)
	}
	return w.python(from, name, string(source), fund)
}

// state is the value under a key of an actor's storage, as text.
func (w *world) state(actor, key string) string {
	value, _ := w.head.Storage(w.address(actor), []byte(key))
	return string(value)
}

// events lists the events with a name in the last block, by their text.
func (w *world) events(name string) (found []string) {
	for _, r := range w.last.Receipts {
		for _, e := range r.Events {
			if e.Name == name {
				found = append(found, string(e.Data))
			}
		}
	}
	for _, e := range w.last.Events {
		if e.Name == name {
			found = append(found, string(e.Data))
		}
	}
	return found
}

// fired lists the fires of the last block.
func (w *world) fired() (fires []types.TimerChange) {
	for _, c := range w.last.Timers {
		if c.Status == types.TimerFired {
			fires = append(fires, c)
		}
	}
	return fires
}

// CIP-1 §7, decision T14: an actor with get_gas_bid prices its own timers, from the
// protocol's context: more with each block of lateness.
func TestTheLiquidatorBidsByLateness(t *testing.T) {
	w := newPythonWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559})
	w.block(w.fixture("alice", "liquidator", 10*types.CBY), w.deploy("alice", "storm", "st", 10*types.CBY))
	w.block(w.call("alice", "liquidator", "start", []byte("100")), w.call("alice", "liquidator", "quote", []byte("90")),
		// Eight timers with a higher tip fill the lane of block 7, and of block 8.
		w.call("alice", "st", "make", []byte(`{"count":16,"height":7,"use":250000,"priority":"15","max_fee":"9000"}`)))
	w.ok()
	w.blocks(4)
	for _, want := range []struct {
		priority uint64
		fires    bool
	}{{10, false}, {20, true}} {
		w.block()
		var seen bool
		for _, c := range w.last.Timers {
			if c.Timer.Actor == w.address("liquidator") {
				seen = true
				if c.Priority != types.WeiOf(want.priority) || (c.Status == types.TimerFired) != want.fires {
					t.Errorf("height %d: %s with priority %s, want %d", w.head.Height(), c.Status, c.Priority, want.priority)
				}
			}
		}
		if !seen || w.last.Lane.AskCycles == 0 {
			t.Errorf("height %d: the liquidator was not examined, or not asked", w.head.Height())
		}
	}
	if got := w.events("liquidated"); !slices.Equal(got, []string{"90"}) {
		t.Errorf("liquidated: %q", got)
	}
}

// CIP-1 §13.1: a grant's timers are paid for by its owner, and live a while beyond
// their heights.
func TestTheVestingReleasesInParts(t *testing.T) {
	for _, policy := range []string{scheduler.Fifo, scheduler.EIP1559} {
		w := newPythonWorld(t, params.Overrides{"cip1.policy": policy})
		w.block(w.fixture("alice", "vesting", 1000))
		bob := w.address("bob")
		sponsor := types.WeiOf(2 * types.CBY)
		grant := w.sponsored("alice", "vesting", "grant", []byte(`{"to":"`+bob.String()+`","parts":3,"every":2,"amount":"1000"}`), &sponsor)
		w.block(grant)
		w.ok()
		timers := w.head.Timers(w.address("vesting"))
		if len(timers) != 3 || timers[0].FeePayer != w.address("alice") || timers[2].Height != 8 || timers[2].ExpiresAt != 508 ||
			timers[0].GasLimit != 20_000 {
			t.Fatalf("%+v", timers)
		}
		before, payer := w.balance("bob"), w.balance("alice")
		var released []string
		for range 6 {
			w.block()
			released = append(released, w.events("released")...)
			for _, c := range w.fired() {
				payer = payer.Sub(c.FeePaid)
			}
		}
		if !slices.Equal(released, []string{"333", "333", "334"}) || w.balance("bob") != before.Add(types.WeiOf(1000)) ||
			!w.balance("vesting").IsZero() {
			t.Errorf("%s: released %q", policy, released)
		}
		if w.balance("alice") != payer {
			t.Errorf("%s: alice has %s, want %s", policy, w.balance("alice"), payer)
		}
		if w.block(w.call("bob", "vesting", "grant", nil)); w.last.Receipts[0].Status != types.StatusReverted {
			t.Error("bob may grant")
		}
	}
}

// CIP-5 §9.8, decision T26: the watcher runs in the blocks whose transactions
// changed what it watches, and in no other.
func TestTheWatcherSeesEachChangeOnce(t *testing.T) {
	w := newPythonWorld(t, nil)
	w.block(w.fixture("alice", "watcher", types.CBY), w.deploy("alice", "counter", "c", 0))
	c := w.address("c")
	w.block(w.call("alice", "watcher", "start", append(c[:], 'n')))
	w.ok()
	changes := []int{0, 1, 0, 1, 1, 0}
	for i, n := range changes {
		if n == 1 {
			w.block(w.call("bob", "c", "increment", nil))
		} else {
			w.block(w.call("bob", "c", "get", nil))
		}
		if got := len(w.events("change")); got != n {
			t.Errorf("block %d: %d changes, want %d", i, got, n)
		}
	}
	if w.state("watcher", "seen") != "3" || len(w.last.Logs) != 0 {
		t.Errorf("seen %s", w.state("watcher", "seen"))
	}
}

// The storm in Python makes the timers it is told to, with tips, limits and ends.
func TestTheStormInPython(t *testing.T) {
	w := newPythonWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559})
	w.block(w.fixture("alice", "storm", 10*types.CBY))
	w.block(w.call("alice", "storm", "make", []byte(`{"count":3,"in":2,"gas_limit":20000,"max_fee":5000,"priority":7,"expires_in":10,"use":3000,"again":1}`)),
		w.call("alice", "storm", "make", []byte(`{"count":2,"height":4,"tier":"urgent"}`)))
	w.ok()
	timers := w.head.Timers(w.address("storm"))
	if len(timers) != 5 || timers[0].GasLimit != 20_000 || timers[0].ExpiresAt != 14 || timers[0].Height != 4 ||
		timers[3].MaxPriorityFeePerCycle == nil {
		t.Fatalf("%+v", timers)
	}
	w.blocks(2)
	if fires := w.fired(); len(fires) != 5 || fires[0].Priority != types.WeiOf(7) || fires[0].CyclesUsed < 3000 ||
		fires[0].Result != types.StatusOK {
		t.Errorf("%+v", fires)
	}
	if w.block(); len(w.fired()) != 3 {
		t.Error("the storm stopped")
	}
	if w.state("storm", "fires") != "8" {
		t.Errorf("%s fires", w.state("storm", "fires"))
	}
}

// Decision T15 against hostile authors: an agent that loops, raises, answers
// nonsense or writes is the default agent for that block. It costs its payer its
// use, at most 20,000 cycles, and stops no other timer.
func TestHostileAgentsInPython(t *testing.T) {
	const timer = `
import pvm_host
from cowboy_sdk import TxFeeParams
def start(payload):
    pvm_host.schedule_timer(pvm_host.block_height() + 1, b"", gas_limit=20000)
def handle_timer(payload): pass
def get_gas_bid(context):
    `
	w := newPythonWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559})
	agents := map[string]string{
		"loops": "while True: pass", "raises": "raise ValueError('no')", "nonsense": "return b'nonsense'", "text": "return 'text'",
		"writes": "pvm_host.set_state(b'k', b'v')", "sends": "pvm_host.send_message(pvm_host.self_address())",
		"schedules": "start(b'')", "recurs": "return get_gas_bid(context)", "huge": "return b'x' * 30000",
		"calls":  "return pvm_host.call_actor(pvm_host.self_address(), 'get_gas_bid', b'')",
		"honest": "return TxFeeParams(10**6, 11)",
	}
	var starts []*Checked
	for name, body := range agents {
		w.block(w.python("alice", name, timer+body+"\n", types.CBY))
	}
	w.ok()
	for name := range agents {
		starts = append(starts, w.call("alice", name, "start", nil))
	}
	w.block(starts...)
	w.ok()
	before := map[string]types.Wei{}
	for name := range agents {
		before[name] = w.balance(name)
	}
	w.block()
	w.ok()
	if fires := w.fired(); len(fires) != len(agents) {
		t.Fatalf("%d of %d fired", len(fires), len(agents))
	}
	failed := strings.Join(w.events(scheduler.EventGasBidFailed), " ")
	for name := range agents {
		address := w.address(name)
		if got, want := strings.Contains(failed, string(address[:])), name != "honest"; got != want {
			t.Errorf("%s failed: %v", name, got)
		}
		if len(w.state(name, "k")) > 0 {
			t.Errorf("%s wrote", name)
		}
	}
	h := w.last.Block.Header
	for _, c := range w.fired() {
		name := w.name(c.Timer.Actor)
		if want := map[bool]uint64{true: 11}[name == "honest"]; c.Priority != types.WeiOf(want) {
			t.Errorf("%s: priority %s", name, c.Priority)
		}
		asking := before[name].Sub(w.balance(name)).Sub(c.FeePaid)
		if most := h.BaseFeeCycle.Mul(20_000); asking.IsZero() || most.Less(asking) || name == "loops" && asking != most {
			t.Errorf("%s: asking cost %s, at most %s", name, asking, most)
		}
	}
	if w.last.Lane.AskCycles < 20_000 || h.TimerCyclesUsed != w.last.Lane.Cycles || h.CyclesUsed != w.last.Lane.Cycles+w.last.Lane.AskCycles {
		t.Errorf("%+v, header %d and %d", w.last.Lane, h.CyclesUsed, h.TimerCyclesUsed)
	}
}
