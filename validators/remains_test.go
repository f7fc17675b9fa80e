package validators

import (
	"bytes"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/env"
	"github.com/cowboyinc/devnet/internal/store/mem"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

var timerSeven = types.Hash{7}

// fires is a block with something in all that it leaves.
func fires(h types.Height, deferrals uint64) *ledger.Result {
	result := at(h, types.TimerChange{Timer: types.Timer{ID: types.Hash{7}, Deferrals: deferrals}, Status: types.TimerFired, At: h})
	result.Hash = result.Block.Hash()
	result.Receipts = []types.Receipt{{Hash: types.Hash{8}}}
	result.Logs = []actors.LogLine{{Line: "a line"}}
	result.Tips.Timers = types.WeiOf(5)
	return result
}

// Each validator has certificates of its own in a record that is otherwise
// made once for all.
func TestAStoredBlockIsItsEncodingWhateverCertificatesItHas(t *testing.T) {
	one := &types.Certificate{Kind: types.Finalize, View: 3, Votes: []types.CertificateVote{{Validator: types.Address{1}}}}
	other := &types.Certificate{Kind: types.Notarize, View: 3, Votes: []types.CertificateVote{{Bitmap: []byte{5}}, {}}}
	memo, result := NewMemo(), fires(4, 0)
	for _, pair := range [][2]*types.Certificate{{nil, nil}, {one, nil}, {nil, other}, {one, other}} {
		stored := &Stored{Block: result.Block, Hash: result.Hash, Receipts: result.Receipts, Logs: result.Logs, Tips: result.Tips,
			Finalization: pair[0], Notarization: pair[1]}
		b := batch{memo: memo}
		b.block(ArchiveOf(mem.NewStore()), stored, result)
		stored.Timers = []TimerMark{{ID: types.Hash{7}, Status: types.TimerFired}}
		if last := b.writes[len(b.writes)-1]; last.Bucket != bucketBlocks || !bytes.Equal(last.Value, codec.Marshal(stored)) {
			t.Errorf("%v:\n %x, want\n %x", pair, last.Value, codec.Marshal(stored))
		}
		if b.blocks[0] != memo.left[result].left {
			t.Error("it was made anew")
		}
	}
}

// A validator whose store fails tells what it can, and spoils nobody else's.
func TestWhatAFailingStoreLeavesIsNotShared(t *testing.T) {
	sound, broken := mem.NewStore(), mem.NewStore()
	known := life{Reason: "lane_full", Deferrals: 1}
	if err := sound.Commit([]env.Write{{Bucket: bucketLives, Key: timerSeven[:], Value: codec.Marshal(&known)}}); err != nil {
		t.Fatal(err)
	}
	if err := broken.Commit([]env.Write{{Bucket: bucketLives, Key: timerSeven[:], Value: []byte("no life")}}); err != nil {
		t.Fatal(err)
	}
	memo, result := NewMemo(), fires(4, 1)
	for i, want := range []string{"", "lane_full", "lane_full", ""} {
		b := batch{memo: memo}
		b.block(ArchiveOf([]env.Store{broken, sound, sound, broken}[i]), &Stored{Block: result.Block}, result)
		if got := b.blocks[0].lives[types.Hash{7}].Reason; got != want {
			t.Errorf("archive %d: reason %q, want %q", i, got, want)
		}
	}
}

func TestMemoForgetsWhatResultsLeft(t *testing.T) {
	memo := NewMemo()
	for h := range types.Height(3 * memoResults) {
		memo.remains(at(h), func() *remains { return &remains{} })
	}
	if len(memo.left) != memoResults || len(memo.leaving) != memoResults {
		t.Errorf("it holds %d in %d places", len(memo.left), len(memo.leaving))
	}
}
