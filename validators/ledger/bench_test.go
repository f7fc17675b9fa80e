package ledger

import (
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/crypto"
	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
)

// transfers returns a block of n transfers on the head, of one sender.
func (w *world) transfers(n int) *types.Block {
	w.t.Helper()
	var txs []*Checked
	for range n {
		tx := w.transfer("alice", "bob", 1).Tx
		tx.CyclesLimit, tx.CellsLimit = 1_200, 50
		txs = append(txs, w.checked("alice", tx))
	}
	parent := w.head
	block := w.block(txs...).Block
	if len(block.Transactions) != n {
		w.t.Fatalf("%d of %d transactions fit", len(block.Transactions), n)
	}
	w.head = parent
	return block
}

// BenchmarkApplyTransfers executes blocks of 1,000 transfers: with signatures
// that were checked before, with signatures that were not, and beside that the
// recovery of the signatures alone.
func BenchmarkApplyTransfers(b *testing.B) {
	const n = 1000
	w := newWorld(b, nil)
	block := w.transfers(n)
	run := func(name string, verifier func() Verifier, do func(Verifier)) {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				do(verifier())
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "transfers/s")
		})
	}
	apply := func(v Verifier) {
		x := Executor{Verifier: v}
		if _, err := x.Apply(w.head, block); err != nil {
			b.Fatal(err)
		}
	}
	run("remembered", func() Verifier { return w.verifier }, apply)
	run("fresh", func() Verifier { return crypto.NewVerifier(false) }, apply)
	run("recovery-alone", func() Verifier { return crypto.NewVerifier(false) }, func(v Verifier) {
		for i := range block.Transactions {
			tx := &block.Transactions[i]
			if _, ok := v.Recover(tx.SigningDigest(), *tx.Signature); !ok {
				b.Fatal("a signature is bad")
			}
		}
	})
}

// BenchmarkApplyCalls executes blocks of 1,000 calls of the counter.
func BenchmarkApplyCalls(b *testing.B) {
	const n = 1000
	w := newWorld(b, nil)
	w.block(w.deploy("alice", "counter", "c", 0))
	var txs []*Checked
	for range n {
		tx := w.call("alice", "c", "increment", nil).Tx
		tx.CyclesLimit, tx.CellsLimit = 2_000, 200
		txs = append(txs, w.checked("alice", tx))
	}
	parent := w.head
	block := w.block(txs...).Block
	w.ok()
	for b.Loop() {
		if _, err := w.executor.Apply(parent, block); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(block.Transactions))/b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkApplyFires executes blocks in which 1,000 heartbeats are due.
func BenchmarkApplyFires(b *testing.B) {
	const n = 1000
	w := newWorld(b, params.Overrides{"cip5.max_cycles_per_fire": "2000", "cip5.max_cells_per_fire": "2000"})
	for i := range n {
		name := fmt.Sprintf("hb%d", i)
		tx := w.deploy("alice", "heartbeat", name, 1_000_000_000)
		w.block(tx)
		w.block(w.call("alice", name, "start", samples.Number(uint64(3*n-2*i))))
	}
	next, _ := w.head.NextTimer()
	for w.head.Height()+1 < next {
		w.block()
	}
	parent := w.head
	block := w.block().Block
	fires := len(w.last.Receipts)
	b.ReportMetric(float64(fires), "fires/block")
	for b.Loop() {
		if _, err := w.executor.Apply(parent, block); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*fires)/b.Elapsed().Seconds(), "fires/s")
}

// BenchmarkEmptyBlock is what a block costs that does nothing, with a million
// heights skipped and without.
func BenchmarkEmptyBlock(b *testing.B) {
	for _, skipped := range []uint64{0, 1_000_000} {
		b.Run(fmt.Sprintf("skipped=%d", skipped), func(b *testing.B) {
			w := newWorld(b, params.Overrides{"chain.epoch_blocks": "2000000"})
			proposal := w.proposal()
			proposal.Skipped = skipped
			block := w.propose(proposal).Block
			parent, _, _ := w.genesis.State()
			for b.Loop() {
				if _, err := w.executor.Apply(parent, block); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
