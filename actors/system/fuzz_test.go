package system

import (
	"bytes"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// orders are the handlers that transactions and actors may call, in the order in which
// an input chooses of them.
var orders = []struct {
	to      types.Address
	handler string
}{
	{types.RegistryAddress, "register"}, {types.RegistryAddress, "update"}, {types.RegistryAddress, "pause"},
	{types.RegistryAddress, "resume"}, {types.RegistryAddress, "add_stake"}, {types.RegistryAddress, "deregister"},
	{types.DispatcherAddress, "submit"}, {types.DispatcherAddress, "cancel"},
}

// FuzzOrders: any call of the registry and the dispatcher by a transaction, from any
// sender, is done or refused with a code, and the books add up after its block.
func FuzzOrders(f *testing.F) {
	seeds := newWorld(f)
	seeds.register("r0", "r1")
	r0 := seeds.address("r0")
	for i, payload := range [][]byte{
		codec.Marshal(Registration{PublicKey: seeds.key("r9").PublicKey(), Stake: seeds.params.MinStake, Offer: offer()}),
		codec.Marshal(map[string]any{"runner": r0, "capabilities": []string{"http", "domain:a.b"}}),
		codec.Marshal(map[string]any{"runner": r0}), codec.Marshal(map[string]any{"runner": r0}),
		codec.Marshal(map[string]any{"runner": r0, "stake": types.WeiOf(5)}), codec.Marshal(map[string]any{"runner": r0}),
		spec(2).Order(), make([]byte, 32),
	} {
		f.Add(byte(i), payload)
	}
	f.Fuzz(func(t *testing.T, which byte, payload []byte) {
		w := newWorld(t)
		w.register("r0", "r1")
		w.end()
		order := orders[int(which)%len(orders)]
		output, code := w.call([]string{"alice", "bob"}[int(which)/len(orders)%2], order.to, order.handler, bytes.Clone(payload))
		if order.handler == "submit" && code == "" && w.job(types.Hash(output)) == nil {
			t.Error("an accepted job is missing")
		}
		for range 4 {
			w.end(4)
		}
	})
}

// FuzzReports: whatever a validator brings of a runner is refused, or done once, and
// the books add up. The report may be right except for some bytes, about a job with
// a committee of two or one with a single runner.
func FuzzReports(f *testing.F) {
	ops := []string{OpHeartbeat, OpCommit, OpReveal, OpResult}
	world := func(t testing.TB) (w *world, pair, single types.Hash) {
		w = newWorld(t)
		w.register("r0", "r1")
		w.end()
		pair, single = w.drawn(spec(2)), w.drawn(spec(1))
		w.must(w.commit("v0", pair, "r0", "done"))
		w.end(100)
		return w, pair, single
	}
	w, pair, single := world(f)
	for _, result := range []string{"done", "other"} {
		for i, job := range []types.Hash{pair, single} {
			f.Add(byte(2+i), codec.Marshal(Reveal{JobID: job, Runner: w.address("r0"), Result: []byte(result),
				RunnerSigned: w.signed("r0", job, result)}))
		}
		f.Add(byte(1), codec.Marshal(w.committing("r1", pair, push.Commitment([]byte(result), w.signed("r1", pair, result)))))
	}
	ping := push.HeartbeatPing{BlockHeight: 101, Nonce: 1}
	f.Add(byte(0), codec.Marshal(Heartbeat{Runner: w.address("r0"), BlockHeight: 101, Nonce: 1,
		Signed: w.key("r0").Sign(ping.Digest(testChain))}))
	f.Fuzz(func(t *testing.T, which byte, args []byte) {
		w, _, _ := world(t)
		op := ops[int(which)%len(ops)]
		report, err := DecodeReport(op, args, testChain, w.verifier.Recover)
		if err != nil {
			return
		}
		if fault := report.Precheck(w.block, w.address("v1")); fault == nil {
			report.Perform(w.block, w.address("v1"))
			if report.Precheck(w.block, w.address("v1")) == nil {
				t.Errorf("%s is taken twice: %+v", op, report)
			}
		}
		w.end()
		w.end(20)
	})
}
