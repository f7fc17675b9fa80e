package scheduler

import (
	"bytes"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/types"
)

// slowEntry is an entry for the general encoder: what encode must write.
type slowEntry struct {
	_           struct{} `cbor:",toarray"`
	ID          types.TimerID
	Actor       types.Address
	FeePayer    *types.Address
	GasLimit    types.Cycles
	ExpiresAt   types.Height
	MaxFee      *types.Wei
	MaxPriority *types.Wei
	GBA         *types.Address
	Bid         types.Wei
}

func TestDueEntriesAreDeterministicCBOR(t *testing.T) {
	number := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 23, 24, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32}))
	amount := func(t *rapid.T, name string) types.Wei {
		w, _ := types.WeiFromBig(new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, name)))
		return w
	}
	address := func(t *rapid.T, name string) types.Address {
		return types.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, name))
	}
	rapid.Check(t, func(t *rapid.T) {
		e := Entry{Place: Place{Height: 7, Rank: 8, Seq: 9}, GasLimit: types.Cycles(number.Draw(t, "gas")),
			ExpiresAt: types.Height(number.Draw(t, "expires")), Actor: address(t, "actor"), Bid: amount(t, "bid")}
		copy(e.ID[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "id"))
		e.FeePayer = e.Actor
		want := slowEntry{ID: e.ID, Actor: e.Actor, GasLimit: e.GasLimit, ExpiresAt: e.ExpiresAt, Bid: e.Bid}
		if rapid.Bool().Draw(t, "has payer") {
			e.FeePayer = address(t, "payer")
			if e.FeePayer != e.Actor {
				want.FeePayer = &e.FeePayer
			}
		}
		if rapid.Bool().Draw(t, "has fees") {
			fee, tip := amount(t, "fee"), amount(t, "tip")
			e.MaxFeePerCycle, e.MaxPriorityFeePerCycle = &fee, &tip
			want.MaxFee, want.MaxPriority = &fee, &tip
		}
		if rapid.Bool().Draw(t, "has bidder") {
			gba := address(t, "gba")
			e.GBA, want.GBA = &gba, &gba
		}
		if got := e.encode(); !bytes.Equal(got, codec.Marshal(&want)) || len(got) > maxEntryBytes {
			t.Fatalf("%x, want %x", got, codec.Marshal(&want))
		}
		if back, err := decodeEntry(e.Place, codec.Marshal(&want)); err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("%+v, %v", back, err)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add((&Entry{GasLimit: 550_000, ExpiresAt: 2_592_001}).encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeEntry(Place{Height: 1, Seq: 2}, data)
		var slow slowEntry
		slowErr := codec.Unmarshal(data, 1<<20, &slow)
		if slowErr == nil && slow.FeePayer != nil && *slow.FeePayer == slow.Actor {
			slowErr = errEntry // written as null
		}
		if (err == nil) != (slowErr == nil) {
			t.Fatalf("%x: %v, the general decoder says %v", data, err, slowErr)
		}
		if err == nil && !bytes.Equal(e.encode(), data) {
			t.Fatalf("%x is not what its entry is written as", data)
		}
	})
}
