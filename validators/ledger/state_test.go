package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// TestRestoreIsTheSameState: what a store gathers from the changes of each block
// gives the state again, and anything else is refused.
func TestRestoreIsTheSameState(t *testing.T) {
	w := newWorld(t, params.Overrides{"cip3.min_basefee": "3", "chain.epoch_blocks": "4"})
	store := map[string][]byte{}
	w.head.Scan(nil, nil, func(k, v []byte) bool { store[string(k)] = v; return true })
	keep := func(r *Result) {
		for _, c := range r.Changes {
			if store[string(c.Key)] = c.Value; c.Value == nil {
				delete(store, string(c.Key))
			}
		}
	}
	keep(w.block(w.deploy("alice", "heartbeat", "hb", types.CBY), w.call("alice", "hb", "start", samples.Number(2))))
	keep(w.block(w.instruct(governance.OpSetParameter, &governance.SetParameter{Key: "cip3.min_basefee", Value: "4"})))
	keep(w.block())
	keep(w.block(w.call("alice", "hb", "stop", nil)))
	var content []Change
	for k, v := range store {
		content = append(content, Change{[]byte(k), v})
	}
	state, err := Restore(content, w.last.Block)
	if err != nil {
		t.Fatal(err)
	}
	if state.Root() != w.head.Root() || state.Hash() != w.head.Hash() || *state.Params() != *w.head.Params() ||
		state.HasWork() != w.head.HasWork() ||
		state.NextBaseFees() != w.head.NextBaseFees() || state.Params().MinBaseFee != types.WeiOf(4) {
		t.Error("the restored state differs")
	}
	w.head = state
	w.block()
	if _, err := Restore(content[1:], w.last.Block); err == nil {
		t.Error("a damaged store passes")
	}
}

// TestReadsAndSimulationsChangeNothing, and see what the next block would.
func TestReadsAndSimulationsChangeNothing(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "c", 0), w.call("alice", "c", "increment", nil))
	root := w.head.Root()
	read, err := w.executor.Read(w.head, Call{Actor: w.address("c"), Handler: "get"})
	if err != nil || string(read.Outcome.Output) != string(samples.Number(1)) || read.Cycles != 10 {
		t.Errorf("%+v %v", read, err)
	}
	if read, _ := w.executor.Read(w.head, Call{Actor: w.address("c"), Handler: "increment"}); read.Outcome.Fault == nil ||
		read.Outcome.Fault.Code != "read_only" {
		t.Errorf("%+v", read)
	}
	if read, _ := w.executor.Read(w.head, Call{Actor: w.address("c"), Handler: "get",
		Cycles: 5}); read.Outcome.Status != types.StatusOutOfCycles {
		t.Errorf("%+v", read)
	}
	call := w.call("bob", "c", "increment", nil)
	receipt, _, err := w.executor.Simulate(w.head, w.address("bob"), call.Tx)
	if err != nil || string(receipt.Output) != string(samples.Number(2)) {
		t.Fatal(receipt, err)
	}
	if w.head.Root() != root {
		t.Error("the state changed")
	}
	w.block(call)
	if fmt.Sprint(w.last.Receipts[0]) != fmt.Sprint(*receipt) {
		t.Errorf("simulated %+v, was %+v", receipt, w.last.Receipts[0])
	}
}

// TestGenesisIsJudged: what is wrong with it is said.
func TestGenesisIsJudged(t *testing.T) {
	for want, change := range map[string]func(*Genesis){
		"no validators": func(g *Genesis) { g.Validators.Members = nil },
		"sorted by address, without duplicates": func(g *Genesis) {
			g.Validators.Members[0] = g.Validators.Members[1]
		},
		"public key":    func(g *Genesis) { g.Validators.Members[0].Address[0]++ },
		"of epoch 1":    func(g *Genesis) { g.Validators.Epoch = 1 },
		"accounts must": func(g *Genesis) { slices.Reverse(g.Accounts) },
		"twice":         func(g *Genesis) { g.Accounts[0] = g.Accounts[1] },
		"exceed":        func(g *Genesis) { g.Accounts[0].Balance, g.Accounts[1].Balance = types.MaxWei, types.WeiOf(1) },
		"cip9.nothing":  func(g *Genesis) { g.Params = params.Overrides{"cip9.nothing": "1"} },
		"chain.id":      func(g *Genesis) { g.Params = params.Overrides{"chain.id": "1"} },
		"1 validators":  func(g *Genesis) { g.Params = params.Overrides{"chain.max_validators": "1"} },
		PythonKey:       func(g *Genesis) { g.Params = params.Overrides{PythonKey: "3.011"} },
		"time -1 ms":    func(g *Genesis) { g.Timestamp = -1 },
	} {
		g := newWorld(t, nil).genesis
		hash := g.Hash()
		change(&g)
		_, _, err := g.State()
		if want == "1 validators" {
			want = "at most 1"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
		if g.Hash() == hash {
			t.Errorf("%s: the hash is the same", want)
		}
	}
}

// C20: two machines that word an error otherwise have one receipts' root. An older genesis
// keeps the root that it was made with. All else is still hashed.
func TestC20NoMessageOfAnErrorIsHashed(t *testing.T) {
	receipts := func(code, message string) []types.Receipt {
		return []types.Receipt{{Status: types.StatusOK}, {Status: types.StatusReverted, Error: &types.Fault{Code: code, Message: message}}}
	}
	older, newer := params.Defaults(), params.Defaults()
	newer.ReceiptsRoot = params.RootWithoutMessages
	a, b := receipts("syntax", "invalid syntax"), receipts("syntax", "invalid decimal literal")
	if receiptsRoot(&newer, a) != receiptsRoot(&newer, b) {
		t.Error("the root of a new chain depends on the words of an error")
	}
	if receiptsRoot(&older, a) == receiptsRoot(&older, b) || receiptsRoot(&newer, a) == receiptsRoot(&newer, receipts("value_error", "")) {
		t.Error("the root leaves more out than messages, or leaves them out on an older chain")
	}
	if a[1].Error.Message != "invalid syntax" {
		t.Error("hashing took the message from the receipt")
	}
}

// C20: the minor version of Python tells chains apart, and nothing of it enters the state.
func TestC20GenesisNamesPython(t *testing.T) {
	plain, named := newWorld(t, nil).genesis, newWorld(t, nil).genesis
	named.Params = params.Overrides{PythonKey: "3.11"}
	for key, value := range plain.Params {
		named.Params[key] = value
	}
	if plain.Python() != "" || named.Python() != "3.11" || plain.Hash() == named.Hash() {
		t.Errorf("%q and %q, hashes %s and %s", plain.Python(), named.Python(), plain.Hash(), named.Hash())
	}
	a, _, err := plain.State()
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := named.State()
	if err != nil {
		t.Fatal(err)
	}
	if a.Root() != b.Root() || named.Params[PythonKey] != "3.11" {
		t.Errorf("state roots %s and %s, genesis names %q afterwards", a.Root(), b.Root(), named.Python())
	}
	for _, wrong := range []string{"", "3", "3.", "2.7", "3.11.2", "3.-1", "3.011", "3.300", " 3.11", "4.0"} {
		named.Params[PythonKey] = wrong
		if _, err := named.Parameters(); err == nil {
			t.Errorf("%q is read as a minor version", wrong)
		}
	}
}
