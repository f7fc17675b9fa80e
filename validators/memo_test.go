package validators

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cowboyinc/devnet/internal/types"
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
			result, err := memo.apply(types.Hash{1}, block.Hash(), block, func() (*ledger.Result, error) {
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

// A body's verdict is not another's: the hash does not cover the votes.
func TestMemoTellsBodiesApart(t *testing.T) {
	memo := NewMemo()
	honest, tampered := blockOf(2), blockOf(2, types.CertificateVote{Bitmap: []byte{1}})
	if honest.Hash() != tampered.Hash() {
		t.Fatal("the two bodies should have one hash")
	}
	refusal := &ledger.Invalid{Code: ledger.CodeBadPresence}
	if _, err := memo.apply(types.Hash{}, tampered.Hash(), tampered, func() (*ledger.Result, error) { return nil, refusal }); !errors.Is(err, refusal) {
		t.Fatal(err)
	}
	if _, err := memo.apply(types.Hash{}, honest.Hash(), honest, func() (*ledger.Result, error) { return &ledger.Result{}, nil }); err != nil {
		t.Errorf("the honest body is refused for the tampered one: %v", err)
	}
}

// An environment that failed says nothing about the block, an invalid block is
// invalid for all.
func TestMemoRemembersVerdictsAlone(t *testing.T) {
	memo, block := NewMemo(), blockOf(2)
	ask := func(err error) error {
		_, got := memo.apply(types.Hash{}, block.Hash(), block, func() (*ledger.Result, error) { return nil, err })
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
		memo.put(types.Hash{}, &ledger.Result{Block: block, Hash: block.Hash()})
	}
	if len(memo.entries) != memoResults || len(memo.order) != memoResults {
		t.Errorf("it holds %d results in %d places", len(memo.entries), len(memo.order))
	}
}
