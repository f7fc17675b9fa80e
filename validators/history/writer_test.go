package history

import (
	"bytes"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// fires is a block with something in all that it leaves.
func fires(h types.Height) *ledger.Result {
	result := at(h, types.TimerChange{Kind: types.ChangeEnded, Timer: types.Timer{ID: types.Hash{7}}, Status: types.TimerFired, At: h})
	result.State = someState
	result.Hash = result.Block.Hash()
	result.Receipts = []types.Receipt{{Hash: types.Hash{8}}}
	result.Logs = []actors.LogLine{{Line: "a line"}}
	result.Tips.Timers = types.WeiOf(5)
	return result
}

// Each validator has different certificates in a record that is otherwise made once
// for all.
func TestAStoredBlockIsItsEncodingWhateverCertificatesItHas(t *testing.T) {
	one := &types.Certificate{Kind: types.Finalize, View: 3, Votes: []types.CertificateVote{{Validator: types.Address{1}}}}
	other := &types.Certificate{Kind: types.Notarize, View: 3, Votes: []types.CertificateVote{{Bitmap: []byte{5}}, {}}}
	result := fires(4)
	var shared *BlockWrites
	w := NewWriter(Of(mem.NewStore()), 0, func(_ *ledger.Result, make func() *BlockWrites) *BlockWrites {
		if shared == nil {
			shared = make()
		}
		return shared
	})
	for _, pair := range [][2]*types.Certificate{{nil, nil}, {one, nil}, {nil, other}, {one, other}} {
		stored := &Stored{Block: result.Block, Hash: result.Hash, Receipts: result.Receipts, Logs: result.Logs, Tips: result.Tips,
			Finalization: pair[0], Notarization: pair[1]}
		writes, err := w.Writes([]Final{{Results: []*ledger.Result{result}, Finalization: pair[0], Notarization: pair[1]}})
		if err != nil {
			t.Fatal(err)
		}
		stored.Timers = []TimerMark{{ID: types.Hash{7}, Status: types.TimerFired}}
		if last := writes[len(writes)-2]; last.Bucket != bucketBlocks || !bytes.Equal(last.Value, codec.Marshal(stored)) {
			t.Errorf("%v:\n %x, want\n %x", pair, last.Value, codec.Marshal(stored))
		}
		if &writes[0].Key[0] != &shared.writes[0].Key[0] {
			t.Error("it was made again")
		}
	}
}
