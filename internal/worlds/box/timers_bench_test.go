package box

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Timers scheduled a second, end to end: signed transactions of 400 timers each
// handed in at once, until the last is final on four validators with files;
// beside it, the same number of cells as bare state.
func BenchmarkSchedule(b *testing.B) {
	const txs, each = 100, 400
	order := func(count uint64) []byte {
		payload, err := json.Marshal(&samples.Storm{Count: count, Height: 1 << 20})
		if err != nil {
			b.Fatal(err)
		}
		return payload
	}
	for _, s := range switches[:2] {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				config := Config{Home: b.TempDir() + "/home", Seed: testSeed()}
				s.set(&config)
				n := up(b, config)
				alice := newPayer(n, "alice")
				var storms []types.Address
				for i := range txs / 2 {
					receipt := land(b, n, alice.sign(nil, types.Wei{}, types.Deploy{Kind: types.KindDeploy, Code: samples.Code("storm"),
						Salt: types.Hash{byte(i)}, Manifest: types.Manifest{Name: fmt.Sprintf("storm%d", i)}}))
					storms = append(storms, receipt.To)
				}
				b.StartTimer()
				var last types.Hash
				for i := range txs {
					tx := alice.execute(storms[i%len(storms)], "make", order(each))
					tx.CyclesLimit, tx.CellsLimit = 200_000, 200_000 // a timer takes what it keeps (decision T29)
					sig := n.Key("alice").Sign(tx.SigningDigest())
					tx.Signature = &sig
					hash, err := n.Submit(context.Background(), tx.Encode())
					if err != nil {
						b.Fatal(err)
					}
					last = hash
				}
				receipt, err := n.Wait(context.Background(), last)
				if err != nil || receipt.Status != types.StatusOK {
					b.Fatal(receipt, err)
				}
			}
			b.ReportMetric(float64(b.N*txs*each)/b.Elapsed().Seconds(), "timers/s")
		})
	}
}
