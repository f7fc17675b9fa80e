package validators

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

func blockOf(height types.Height, votes ...types.CertificateVote) *types.Block {
	return &types.Block{Header: types.Header{Height: height},
		Parent: &types.Certificate{Kind: types.Notarize, View: 1, Height: height - 1, Votes: votes}}
}

// Validators that ask for one block at once wait for the one that executes it.
func TestMemoExecutesABlockOnce(t *testing.T) {
	memo, block := NewMemo(), blockOf(2)
	var executed atomic.Int64
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			result, err := memo.applyOnce(&life{}, types.Hash{1}, block, func() (*ledger.Result, error) {
				executed.Add(1)
				return &ledger.Result{Block: block}, nil
			})
			if err != nil || result.Block != block {
				t.Error(result, err)
			}
		})
	}
	done.Wait()
	if n := executed.Load(); n != 1 {
		t.Errorf("executed %d times", n)
	}
}

// A body's verdict does not apply to another, whichever is executed first: the hash
// covers neither the votes nor, before a comparison, the transactions.
func TestMemoTellsBodiesApart(t *testing.T) {
	for name, tamper := range map[string]func(*types.Block){
		"votes":        func(b *types.Block) { b.Parent = blockOf(2, types.CertificateVote{Bitmap: []byte{1}}).Parent },
		"finalization": func(b *types.Block) { b.Finalization = &types.Certificate{} },
		"transactions": func(b *types.Block) { b.Transactions = []types.Transaction{{Nonce: 1}} },
	} {
		honest, tampered := blockOf(2), blockOf(2)
		tamper(tampered)
		if honest.Hash() != tampered.Hash() {
			t.Fatal("the two bodies should have one hash")
		}
		for _, order := range [][]*types.Block{{honest, tampered}, {tampered, honest}} {
			memo, life, refusal := NewMemo(), &life{}, &ledger.Invalid{Code: ledger.CodeBadPresence}
			for _, body := range order {
				_, err := memo.applyOnce(life, types.Hash{}, body, func() (*ledger.Result, error) {
					if body == tampered {
						return nil, refusal
					}
					return &ledger.Result{}, nil
				})
				if (body == tampered) != errors.Is(err, refusal) {
					t.Errorf("%s tampered with: the verdict is %v, of the honest body: %v", name, err, body == honest)
				}
			}
		}
	}
}

// Entries known only to lives that are over are forgotten, entries that a running
// life also got are not, and the last step of a dead one leaves nothing.
func TestMemoForgetsWithALife(t *testing.T) {
	memo, dead, alive := NewMemo(), &life{}, &life{}
	executed := 0
	apply := func(l *life, b *types.Block) {
		memo.applyOnce(l, types.Hash{}, b, func() (*ledger.Result, error) {
			executed++
			return &ledger.Result{Block: b}, nil
		})
	}
	own, shared := blockOf(2), blockOf(3)
	apply(dead, own)
	memo.putResult(dead, types.Hash{}, &ledger.Result{Block: blockOf(4)})
	apply(dead, shared)
	apply(alive, shared)
	memo.endLife(dead)
	apply(dead, blockOf(5))
	if n := memo.results.Len(); n != 1 {
		t.Errorf("%d results are left", n)
	}
	executed = 0
	apply(&life{}, shared)
	if executed != 0 {
		t.Error("what a living one knows is executed again")
	}
	apply(&life{}, own)
	if executed != 1 {
		t.Error("what only the dead knew is not executed again")
	}
}

// An environment that failed says nothing about the block, an invalid block is
// invalid for all.
func TestMemoRemembersVerdictsAlone(t *testing.T) {
	memo, block := NewMemo(), blockOf(2)
	ask := func(err error) error {
		_, got := memo.applyOnce(&life{}, types.Hash{}, block, func() (*ledger.Result, error) { return nil, err })
		return got
	}
	down, invalid := &ledger.EnvironmentError{What: "a call", Err: errors.New("the host hung")}, &ledger.Invalid{Code: ledger.CodeBadState}
	for _, step := range []struct{ answer, want error }{{down, down}, {invalid, invalid}, {down, invalid}} {
		if got := ask(step.answer); got != step.want {
			t.Errorf("%v, want %v", got, step.want)
		}
	}
}

func TestMemoIsBounded(t *testing.T) {
	memo := NewMemo()
	for h := range types.Height(3 * memoResults) {
		block := blockOf(h + 1)
		memo.putResult(&life{}, types.Hash{}, &ledger.Result{Block: block, Hash: block.Hash()})
	}
	if n := memo.results.Len(); n != memoResults {
		t.Errorf("it holds %d results", n)
	}
}

func TestMemoForgetsWhatResultsLeft(t *testing.T) {
	memo := NewMemo()
	for range 3 * memoResults {
		memo.blockWrites(&ledger.Result{}, func() *history.BlockWrites { return &history.BlockWrites{} })
	}
	if n := memo.writes.Len(); n != memoResults {
		t.Errorf("it holds %d", n)
	}
}
