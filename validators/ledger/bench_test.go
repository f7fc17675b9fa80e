package ledger

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
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

// BenchmarkApplyTransfers executes blocks of 1,000 transfers: with signatures that
// were checked before, with signatures that were not, and for comparison only the
// recovery of the signatures.
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

// BenchmarkStormFires executes blocks in which 10,000 timers of 100 actors fire,
// whose handlers do nothing: what the chain itself takes. cpu-ns/fire is the
// processor's time, which says more than the clock where others work too.
func BenchmarkStormFires(b *testing.B) {
	const actors, each = 100, 100
	for _, policy := range []string{scheduler.Fifo, scheduler.EIP1559} {
		b.Run(policy, func(b *testing.B) {
			parent, block, x := stormDue(b, policy, actors, each)
			b.ReportAllocs()
			used := cpuTime()
			for b.Loop() {
				result, err := x.Apply(parent, block)
				if err != nil {
					b.Fatal(err)
				}
				if n := len(result.Receipts); n != actors*each {
					b.Fatalf("%d of %d fired", n, actors*each)
				}
			}
			fires := float64(b.N * actors * each)
			b.ReportMetric(fires/b.Elapsed().Seconds(), "fires/s")
			b.ReportMetric(float64((cpuTime()-used).Nanoseconds())/fires, "cpu-ns/fire")
		})
	}
}

// idle is the samples' host but for fires, which do nothing.
type idle struct{ samples.Host }

func (h idle) Open(p program.Purpose) (program.Session, error) {
	s, err := h.Host.Open(p)
	return idleSession{s}, err
}

type idleSession struct{ program.Session }

func (s idleSession) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	if msg.Kind == program.Timer {
		return program.Outcome{Status: types.StatusOK}, nil
	}
	return s.Session.Handle(ctx, code, msg)
}

// stormDue returns a block in which all timers of the given number of actors fire,
// and the state before it.
func stormDue(b *testing.B, policy string, actors, each int) (*State, *types.Block, *Executor) {
	w := newWorld(b, params.Overrides{"cip1.policy": policy, "cip3.block_cycles_limit": "100000000", "cip1.lane_timer_cycles": "40000000",
		"cip3.lane_user_cycles": "20000000", "cip3.block_cells_limit": "10000000",
		"cip5.max_cells_per_fire": "2000"})
	w.executor.Programs = idle{}
	var storms []*Checked
	for i := range actors {
		w.block(w.deploy("alice", "storm", fmt.Sprintf("st%d", i), 1000*types.CBY))
	}
	const due = 200
	for i := range actors {
		order := fmt.Sprintf(`{"count":%d,"height":%d,"gas_limit":1000,"max_fee":"100000","priority":"%d"}`, each, due, i)
		storms = append(storms, w.call("alice", fmt.Sprintf("st%d", i), "make", []byte(order)))
	}
	w.block(storms...)
	for w.head.Height()+1 < due {
		w.block()
	}
	parent := w.head
	built, err := w.executor.Build(parent, w.proposal(), slices.Values([]*Checked(nil)), nil)
	if err != nil {
		b.Fatal(err)
	}
	return parent, built.Result.Block, &w.executor
}

// cpuTime is what this process has used of processors.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
