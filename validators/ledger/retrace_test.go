package ledger

import (
	"reflect"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

const traced = `
import pvm_host

def add(payload):
    n = int(pvm_host.get_state(b"n") or b"0") + int(payload)
    pvm_host.set_state(b"n", str(n).encode())
    pvm_host.send_message(pvm_host.self_address(), b"7", "told")
    pvm_host.schedule_timer(pvm_host.block_height() + 2, b"hi")
    return str(n).encode()

def told(payload):
    pvm_host.set_state(b"told", payload)
    raise ValueError("no")

def handle_timer(payload):
    print("fired")
    pvm_host.delete_state(b"n")

def relay(payload):
    try:
        pvm_host.call_actor(payload, "told", b"x")
    except pvm_host.CallError:
        pass
    return pvm_host.call_actor(payload, "add", b"2")
`

// names returns a call's requests to the chain, in order.
func names(c *actors.TracedCall) (all []string) {
	for i := range c.Steps {
		all = append(all, c.Steps[i].Name)
	}
	return all
}

// retrace executes the last block again on its parent.
func (w *world) retrace(parent *State, of types.Hash) *Retraced {
	w.t.Helper()
	found, after, err := w.executor.Retrace(parent, w.last.Block, of)
	if err != nil || found == nil {
		w.t.Fatal(found, err)
	}
	if after.Root() != w.head.Root() {
		w.t.Error("a block that was traced ends in another state")
	}
	return found
}

// A traced execution equals the original: receipts are equal, the steps' cycles add
// up to the receipt's, and the recorder gets each of them.
func TestATraceIsOfWhatWasExecuted(t *testing.T) {
	w := newPythonWorld(t, params.Overrides{"cip1.policy": scheduler.EIP1559})
	w.block(w.python("alice", "counter", traced, types.CBY), w.python("alice", "relay", traced, types.CBY))
	w.ok()
	counter := w.address("counter")
	relay := w.call("alice", "relay", "relay", counter[:])
	for i, want := range []struct {
		txs    []*Checked
		origin types.Origin
		steps  []string
		status types.Status
	}{
		{[]*Checked{w.call("bob", "counter", "add", []byte("3")), relay}, types.OriginTransaction,
			[]string{"call_actor", "call_actor"}, types.StatusOK},
		{nil, types.OriginMessage, []string{"set_state"}, types.StatusReverted},
		{nil, types.OriginTimer, []string{"print", "delete_state"}, types.StatusOK},
	} {
		parent := w.head
		w.block(want.txs...)
		at := slices.IndexFunc(w.last.Receipts, func(r types.Receipt) bool { return r.Origin == want.origin })
		if i == 0 {
			at = slices.IndexFunc(w.last.Receipts, func(r types.Receipt) bool { return r.Hash == relay.Hash })
		}
		if at < 0 {
			t.Fatalf("block %d has no %s", w.head.Height(), want.origin)
		}
		receipt := w.last.Receipts[at]
		found := w.retrace(parent, receipt.Hash)
		if !reflect.DeepEqual(*found.Receipt, receipt) || receipt.Status != want.status {
			t.Errorf("the receipt %+v is traced as %+v", receipt, *found.Receipt)
		}
		call := found.Trace.Call
		if got := names(call); !slices.Equal(got, want.steps) {
			t.Errorf("%s asked for %v, want %v", want.origin, got, want.steps)
		}
		if addUp(t, call) > receipt.Cycles || call.Cycles == 0 || found.Trace.Cut {
			t.Errorf("%d cycles of %d", call.Cycles, receipt.Cycles)
		}
		if want.origin == types.OriginMessage && (found.Message == nil || string(found.Message.Payload) != "7") {
			t.Errorf("the delivery belongs to %+v", found.Message)
		}
		if i == 0 {
			relayedTree(t, w, found)
		}
	}
}

// addUp checks that the cycles of a call are its own and its steps'.
func addUp(t *testing.T, c *actors.TracedCall) types.Cycles {
	t.Helper()
	sum := c.Own
	for i := range c.Steps {
		sum += c.Steps[i].Cycles
		if below := c.Steps[i].Call; below != nil {
			addUp(t, below)
		}
	}
	if sum != c.Cycles {
		t.Errorf("%s took %d cycles, and its parts %d", c.Message.Handler, c.Cycles, sum)
	}
	return c.Cycles
}

// relayedTree checks the tree of a call that failed within one that did not.
func relayedTree(t *testing.T, w *world, found *Retraced) {
	t.Helper()
	failed, added := found.Trace.Call.Steps[0], found.Trace.Call.Steps[1]
	if failed.Fault == nil || failed.Call.Outcome.Status != types.StatusReverted || !slices.Equal(names(failed.Call), []string{"set_state"}) {
		t.Errorf("the call that failed: %+v", failed)
	}
	set := added.Call.Steps[1]
	if set.Name != "set_state" || string(set.Old) != "3" || string(set.Value) != "5" || !set.HadOld || string(added.Value) != "5" {
		t.Errorf("n was set: %+v", set)
	}
	if len(found.Sent) != 1 || found.Sent[0].From != w.address("counter") {
		t.Errorf("sent: %+v", found.Sent)
	}
}

// A trace ends at its bound, and Cut is set; the execution does not change.
func TestATraceIsBounded(t *testing.T) {
	w := newPythonWorld(t, nil)
	w.block(w.python("alice", "big", `
import pvm_host

def keep(payload):
    pvm_host.set_state(b"k", b"v" * 500000)

def read(payload):
    for i in range(int(payload)):
        pvm_host.get_state(b"k")
    return b"done"
`, types.CBY))
	w.ok()
	address := w.address("big")
	keep := w.tx("alice", &address, &types.Execute{Kind: types.KindExecute, Handler: "keep"})
	keep.CyclesLimit, keep.CellsLimit = 1_000_000, 600_000
	w.block(w.checked("alice", keep))
	w.ok()
	for times, cut := range map[string]bool{"3": false, "20": true} {
		parent, c := w.head, w.call("alice", "big", "read", []byte(times))
		w.block(c)
		w.ok()
		found := w.retrace(parent, c.Hash)
		if found.Trace.Cut != cut || string(found.Receipt.Output) != "done" {
			t.Errorf("%s values of 500,000 bytes: cut %v, want %v", times, found.Trace.Cut, cut)
		}
		bytes := 0
		for _, s := range found.Trace.Call.Steps {
			bytes += len(s.Value) + len(s.Key)
		}
		if bytes > actors.MaxTraceBytes {
			t.Errorf("a trace holds %d bytes", bytes)
		}
	}
}
