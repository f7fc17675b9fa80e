package box

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// Timers scheduled a second, end to end: signed transactions of 400 timers each
// handed in at once, until the last is final on four validators with files;
// beside it, on blocks with room for four times the cells: a transaction is let into
// a block that has as many left as its limit says, and a timer takes what it keeps
// (decision T29), so that blocks with the default room take 2,400 of these at most.
func BenchmarkSchedule(b *testing.B) {
	const txs, each = 100, 400
	order := func(count uint64) []byte {
		payload, err := json.Marshal(&samples.Storm{Count: count, Height: 1 << 20})
		if err != nil {
			b.Fatal(err)
		}
		return payload
	}
	room := switches[0]
	room.name, room.set = "room-for-cells", func(c *Config) { c.Params = map[string]string{"cip3.block_cells_limit": "4000000"} }
	for _, s := range append(slices.Clone(switches[:2]), room) {
		b.Run(s.name, func(b *testing.B) {
			var blocks types.Height
			var cells types.Cells
			for b.Loop() {
				b.StopTimer()
				config := Config{Plan: setup.Plan{Seed: testSeed()}, Home: b.TempDir() + "/home"}
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
				var first, last types.Hash
				for i := range txs {
					tx := alice.execute(storms[i%len(storms)], "make", order(each))
					tx.CyclesLimit, tx.CellsLimit = 200_000, 200_000 // a timer takes what it keeps (decision T29)
					sig := n.Key("alice").Sign(tx.SigningDigest())
					tx.Signature = &sig
					hash, err := n.Submit(context.Background(), tx.Encode())
					if err != nil {
						b.Fatal(err)
					}
					if last = hash; i == 0 {
						first = hash
					}
				}
				receipt, err := n.Wait(context.Background(), last)
				if err != nil || receipt.Status != types.StatusOK {
					b.Fatal(receipt, err)
				}
				began, err := n.Wait(context.Background(), first)
				if err != nil {
					b.Fatal(err)
				}
				blocks, cells = blocks+receipt.Height-began.Height+1, receipt.Cells
			}
			b.ReportMetric(float64(b.N*txs*each)/float64(blocks), "timers/block")
			b.ReportMetric(float64(cells)/each, "cells/timer")
			b.ReportMetric(float64(b.N*txs*each)/b.Elapsed().Seconds(), "timers/s")
		})
	}
}
