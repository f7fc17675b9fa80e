package box

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// The bytes that frames begin with (docs/WIRE.md).
const (
	frameProposal     = 1
	frameVote         = 2
	frameCertificate  = 3
	frameBlockAnswer  = 5
	frameRangeRequest = 7
	frameBatch        = 8
	frameTransactions = 9
)

func frameOf(tag byte, message any) []byte { return codec.Append([]byte{tag}, message) }

// floods make the i-th frame of each kind of flood, from v3.
func floods(t testing.TB, n *Network) map[string]func(i int) []byte {
	v3 := n.findNode("v3")
	signer := n.verifier.Signer(wallet.ValidatorKey(n.seed, "v3"))
	vote := func(kind types.VoteKind, i int) *types.Vote {
		v := &types.Vote{Kind: kind, View: types.View(i + 1), Validator: v3.Address,
			Signature: types.Signature{1, byte(i), byte(i >> 8), byte(i >> 16)}}
		if kind != types.Nullify {
			v.Height, v.Block = types.Height(i+1), types.Hash{byte(i)}
		}
		return v
	}
	stored, err := n.findNode("v0").Validator().Archive().Block(2)
	if err != nil || stored == nil {
		t.Fatalf("there is no block to be sent: %v", err)
	}
	notarization := stored.Block.Parent // of block 1: carried, whatever certificates v0 has of its own
	var valid, spent [][]byte
	for i := range 2048 {
		v := vote(types.Nullify, 1<<20+i)
		v.Signature = signer.Sign(v.Digest(n.genesis.ChainID))
		valid = append(valid, frameOf(frameVote, v))
	}
	for i := range 8 {
		var raw [][]byte
		for k := range 128 {
			tx := &types.Transaction{ChainID: n.genesis.ChainID, CyclesLimit: 100_000, CellsLimit: 1_000, MaxFeePerCycle: types.WeiOf(1_000),
				MaxFeePerCell: types.WeiOf(1_000),
				To:            &v3.Address, Payload: codec.Marshal(types.Transfer{Kind: types.KindTransfer})}
			signature := n.verifier.Signer(crypto.DeriveKey(n.seed, fmt.Sprint("nobody", i, k))).Sign(tx.SigningDigest())
			tx.Signature = &signature
			raw = append(raw, tx.Encode())
		}
		spent = append(spent, frameOf(frameTransactions, &struct {
			_   struct{} `cbor:",toarray"`
			Raw [][]byte
		}{Raw: raw}))
	}
	giant := make([]byte, 4<<20)
	giant[0] = frameProposal
	blob := frameOf(frameTransactions, &struct {
		_   struct{} `cbor:",toarray"`
		Raw [][]byte
	}{Raw: [][]byte{make([]byte, 1<<20), make([]byte, 1<<19)}})
	stale := frameOf(frameCertificate, notarization)
	ranges := frameOf(frameRangeRequest, &catchup.RangeRequest{From: 1, To: 64})
	batch := frameOf(frameBatch, &catchup.Batch{From: 2, Blocks: slices.Repeat([]*types.Block{stored.Block}, 64), Finalization: notarization})
	answer := frameOf(frameBlockAnswer, &simplex.BlockAnswer{Block: stored.Block})
	rubbish := bytes.Repeat([]byte{0xff}, 200)
	return map[string]func(int) []byte{
		"bad votes":           func(i int) []byte { return frameOf(frameVote, vote(types.Notarize, i)) },
		"bad nullifies":       func(i int) []byte { return frameOf(frameVote, vote(types.Nullify, i)) },
		"votes of far views":  func(i int) []byte { return valid[i%len(valid)] },
		"stale certificates":  func(int) []byte { return stale },
		"transactions":        func(i int) []byte { return spent[i%len(spent)] },
		"range requests":      func(int) []byte { return ranges },
		"batches":             func(int) []byte { return batch },
		"bodies":              func(int) []byte { return answer },
		"giant proposals":     func(int) []byte { return giant },
		"giant transactions":  func(int) []byte { return blob },
		"undecodable":         func(int) []byte { return rubbish },
		"quiet, for the rate": nil,
	}
}

// flooded starts a network, lets v3 send one kind of frames for a while, as fast
// as its queues take them, and returns the blocks that were made meanwhile and
// how many of its frames left it.
func flooded(t testing.TB, kind string, lasting time.Duration) (blocks types.Height, sent uint64) {
	n, err := Up(context.Background(), Config{Plan: setup.Plan{BlockTime: 200 * time.Millisecond, Seed: testSeed()}, Ephemeral: true,
		Log: logger()})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	awaitNode(t, n.findNode("v0"), 3)
	make := floods(t, n)[kind]
	before, from := sentBy(n, "v3"), n.findNode("v0").finalHeight()
	end := time.After(lasting)
	for i := 0; ; i++ {
		if make != nil && i%64 != 0 {
			frame := make(i)
			for _, to := range []string{"v0", "v1", "v2"} {
				n.findNode("v3").ValidatorNode.(*localValidator).Socket().Send(n.findNode(to).Address, frame)
			}
			continue
		}
		select {
		case <-end:
			return n.findNode("v0").finalHeight() - from, sentBy(n, "v3") - before
		case <-time.After(time.Millisecond): // as its queues take them: they hold more than that
		}
	}
}

func sentBy(n *Network, name string) (frames uint64) {
	for _, s := range n.findNode(name).ValidatorNode.(*localValidator).Socket().Stats() {
		frames += s.FramesSent
	}
	return frames
}

// One validator of four floods the others with each kind of frame: they keep
// their rate. The quiet rate is measured first, in the same run.
func BenchmarkFlood(b *testing.B) {
	const lasting = 4 * time.Second
	quiet, _ := flooded(b, "quiet, for the rate", lasting)
	b.ReportMetric(float64(quiet)/lasting.Seconds(), "quiet-blocks/s")
	for _, kind := range floodKinds {
		b.Run(kind, func(b *testing.B) {
			var blocks types.Height
			var sent uint64
			for range b.N {
				more, frames := flooded(b, kind, lasting)
				blocks, sent = blocks+more, sent+frames
			}
			b.ReportMetric(float64(blocks)/float64(b.N)/lasting.Seconds(), "blocks/s")
			b.ReportMetric(float64(sent)/float64(b.N)/lasting.Seconds(), "frames/s")
			b.ReportMetric(100*float64(blocks)/float64(b.N)/float64(quiet), "%-of-quiet")
		})
	}
}

// floodKinds are the keys of floods, but for the quiet one.
var floodKinds = []string{"bad votes", "bad nullifies", "votes of far views", "stale certificates", "transactions", "range requests",
	"batches", "bodies", "giant proposals", "giant transactions", "undecodable"}

// With DEVNET_SOAK each flood lasts ten seconds, and leaves four fifths of the
// rate; else the worst ones are tried for a moment, in which blocks go on.
func TestAFlooderLeavesTheOthersTheirRate(t *testing.T) {
	kinds, lasting, share := []string{"bad nullifies", "range requests", "giant proposals"}, time.Second, 0.2
	if os.Getenv("DEVNET_SOAK") != "" {
		kinds, lasting, share = floodKinds, 10*time.Second, 0.8
	}
	quiet, _ := flooded(t, "quiet, for the rate", lasting)
	for _, kind := range kinds {
		blocks, sent := flooded(t, kind, lasting)
		t.Logf("%s: %d blocks, %d without; %d frames left the flooder", kind, blocks, quiet, sent)
		if float64(blocks) < share*float64(quiet) {
			t.Errorf("%s: %d blocks in %v, %d without a flood", kind, blocks, lasting, quiet)
		}
		if sent == 0 {
			t.Errorf("%s: nothing was sent", kind)
		}
	}
}
