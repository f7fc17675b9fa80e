package ledger

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// numbered is a transaction of a kind of sender, and its nonce.
type numbered struct {
	from  string
	nonce uint64
	tx    *Checked
}

// nonceModel is what decision C10 says of nonces: an account's transactions count from 0, each
// takes the next number, and nothing else does.
type nonceModel map[string]uint64

// take is the transactions of a list that a block has, and what each of the others is refused by.
func (m nonceModel) take(all []numbered) (taken []types.Hash, low []types.Hash) {
	for _, one := range all {
		switch next := m[one.from]; {
		case one.nonce == next:
			taken = append(taken, one.tx.Hash)
			m[one.from]++
		case one.nonce < next:
			low = append(low, one.tx.Hash)
		}
	}
	return taken, low
}

// drawNumbered is a transaction with a nonce around the next one of its sender, or far away.
func (w *world) drawNumbered(t *rapid.T, next nonceModel) numbered {
	var c *Checked
	number := func() []byte { return samples.Number(rapid.Uint64Range(0, 9).Draw(t, "number")) }
	from := rapid.SampledFrom([]string{"alice", "bob", "carol"}).Draw(t, "from")
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		c = w.transfer(from, "c", 3)
	case 1:
		c = w.call(from, "c", rapid.SampledFrom([]string{"increment", "fail", "nothing"}).Draw(t, "handler"), nil)
	case 2: // its actor sends a message of its own in the next block
		order := samples.Order{Target: w.address("c"), Handler: "increment", Payload: number(), Cycles: 20_000, Cells: 500}
		c = w.call(from, "r", rapid.SampledFrom([]string{"call", "send"}).Draw(t, "verb"), order.Encode())
	case 3:
		most := types.WeiOf(types.CBY)
		c = w.sponsored(from, "hb", "start", number(), &most)
	case 4:
		c = w.deploy(from, rapid.SampledFrom([]string{"counter", "nonsense"}).Draw(t, "sample"), rapid.StringN(1, 3, 4).Draw(t, "name"), 1)
	case 5:
		from = "system"
		c = w.instruct(governance.OpExtendTimer, &governance.ExtendTimer{TimerID: w.anyTimer(), NewExpiresAt: 40})
	default: // in the name of an account or an actor, whose nonce it does not take
		c = w.as(rapid.SampledFrom([]string{"alice", "carol", "r", "c"}).Draw(t, "name of"), "c", "increment", 0, nil)
		from = "system"
	}
	base := next[from]
	nonce := rapid.SampledFrom([]uint64{base, base, base, base + 1, base + 2, base - 1, base - 2, 0, 1 << 32, 1 << 63,
		1<<64 - 1}).Draw(t, "nonce")
	tx := c.Tx
	tx.Nonce = types.Nonce(nonce)
	return numbered{from, nonce, w.checked(from, tx)}
}

// C10: of every kind of sender a block takes the transactions with the next nonce and no others,
// whether they succeed or not; a mempool is refused those that were used, and keeps those ahead;
// and a block with another nonce is refused by it.
func TestC10NoncesOfEverySenderCountOneByOne(t *testing.T) {
	counts := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, params.Overrides{"cip1.policy": rapid.SampledFrom(allPolicies).Draw(rt, "policy")})
		w.block(w.deploy("alice", "counter", "c", 0), w.deploy("alice", "heartbeat", "hb", types.CBY), w.deploy("bob", "relay", "r", types.CBY))
		w.ok()
		model := nonceModel{}
		for _, name := range accountNames {
			model[name] = uint64(w.head.Account(w.address(name)).Nonce)
		}
		for range rapid.IntRange(1, 5).Draw(rt, "blocks") {
			var all []numbered
			var txs []*Checked
			next := nonceModel{}
			for name, nonce := range model { // order: a copy
				next[name] = nonce
			}
			for range rapid.IntRange(1, 5).Draw(rt, "transactions") {
				one := w.drawNumbered(rt, next)
				if slices.ContainsFunc(all, func(other numbered) bool { return other.tx.Hash == one.tx.Hash }) {
					continue
				}
				if one.nonce == next[one.from] {
					next[one.from]++
				}
				w.judgeAdmission(rt, one, model[one.from], counts)
				all, txs = append(all, one), append(txs, one.tx)
			}
			taken, low := model.take(all)
			w.block(txs...)
			var got, dropped []types.Hash
			for _, r := range w.last.Receipts {
				if slices.ContainsFunc(txs, func(c *Checked) bool { return c.Hash == r.Hash }) {
					got = append(got, r.Hash)
				}
			}
			for _, d := range w.dropped {
				dropped = append(dropped, d.Transaction.Hash)
			}
			if !slices.Equal(got, taken) || !slices.Equal(dropped, low) {
				rt.Fatalf("the block has %v and drops %v, want %v and %v of %+v", got, dropped, taken, low, all)
			}
			counts["taken"] += len(taken)
			for _, name := range append(slices.Clone(accountNames), "c", "r", "hb") {
				if got := uint64(w.head.Account(w.address(name)).Nonce); got != model[name] {
					rt.Fatalf("the nonce of %s is %d, want %d", name, got, model[name])
				}
			}
		}
	})
	for _, what := range []string{"taken", CodeNonceTooLow, "ahead", "block " + CodeNonceTooLow, "block " + CodeNonceTooHigh} {
		if counts[what] < 20 {
			t.Errorf("%s: %d only: %v", what, counts[what], counts)
		}
	}
}

// judgeAdmission offers a transaction to a mempool, and alone to a block.
func (w *world) judgeAdmission(t *rapid.T, one numbered, next uint64, counts map[string]int) {
	_, err := w.executor.Admit(w.head, one.tx.Tx.Encode())
	want := ""
	switch {
	case one.nonce < next:
		want = CodeNonceTooLow
		counts[want]++
	case one.nonce > next:
		counts["ahead"]++
	}
	if got := fmt.Sprint(err); want == "" && err != nil || want != "" && (err == nil || codeOf(w.t, err) != want) {
		t.Fatalf("nonce %d of %s, whose next is %d: %s, want %q", one.nonce, one.from, next, got, want)
	}
	if one.nonce == next {
		return
	}
	if want == "" {
		want = CodeNonceTooHigh
	}
	built, err := w.executor.Build(w.head, w.proposal(), slices.Values([]*Checked(nil)), w.pace)
	if err != nil {
		t.Fatal(err)
	}
	forged := *built.Result.Block
	forged.Transactions = []types.Transaction{*one.tx.Tx}
	forged.Header.Transactions = types.TransactionsHash(forged.Transactions)
	if _, err := w.executor.Apply(w.head, &forged); err == nil || codeOf(w.t, err) != want {
		t.Fatalf("a block with nonce %d of %s, whose next is %d: %v, want %s", one.nonce, one.from, next, err, want)
	}
	counts["block "+want]++
}
