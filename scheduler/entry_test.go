package scheduler

import (
	"bytes"
	"math/big"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
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

// slowSponsored is an entry with a sponsor.
type slowSponsored struct {
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
	Sponsor     types.Hash
}

func (e *slowEntry) encode(sponsor *types.Hash) []byte {
	if sponsor == nil {
		return codec.Marshal(e)
	}
	return codec.Marshal(&slowSponsored{ID: e.ID, Actor: e.Actor, FeePayer: e.FeePayer, GasLimit: e.GasLimit, ExpiresAt: e.ExpiresAt,
		MaxFee: e.MaxFee, MaxPriority: e.MaxPriority, GBA: e.GBA, Bid: e.Bid, Sponsor: *sponsor})
}

// readSlowly reports whether the general decoder takes data for an entry.
func readSlowly(data []byte) bool {
	var nine slowEntry
	if codec.Unmarshal(data, 1<<20, &nine) == nil {
		return nine.FeePayer == nil
	}
	var ten slowSponsored
	return codec.Unmarshal(data, 1<<20, &ten) == nil && ten.FeePayer != nil && *ten.FeePayer != ten.Actor
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
				want.FeePayer, e.Sponsor = &e.FeePayer, new(types.Hash)
				copy(e.Sponsor[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "sponsor"))
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
		if got := e.encodeEntry(); !bytes.Equal(got, want.encode(e.Sponsor)) || len(got) > maxEntryBytes {
			t.Fatalf("%x, want %x", got, want.encode(e.Sponsor))
		}
		if back, err := decodeEntry(e.Place, want.encode(e.Sponsor)); err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("%+v, %v", back, err)
		}
	})
}

// A byte of an entry's head that differs, and an entry that ends too early, is refused: what is
// stored is what was written.
func TestAnEntryIsReadInOneWay(t *testing.T) {
	two := types.WeiOf(2)
	for _, e := range []Entry{
		{ID: types.TimerID{1}, Actor: types.Address{2}, FeePayer: types.Address{2}, GasLimit: 550_000, ExpiresAt: 2_592_001},
		{ID: types.TimerID{1}, Actor: types.Address{2}, FeePayer: bob, GasLimit: 5, ExpiresAt: 6, MaxFeePerCycle: &two,
			MaxPriorityFeePerCycle: &two, GBA: &types.Address{3}, Bid: types.MaxWei, Sponsor: &types.Hash{1}},
	} {
		data := e.encodeEntry()
		if !readSlowly(data) {
			t.Fatalf("%x is no entry", data)
		}
		for at := range data {
			if got, err := decodeEntry(e.Place, data[:at]); err == nil {
				t.Errorf("%d of %d bytes are read as %+v", at, len(data), got)
			}
			for _, change := range []byte{1, 2, 0x20, 0x80, 0xff} {
				changed := bytes.Clone(data)
				changed[at] ^= change
				if got, err := decodeEntry(e.Place, changed); (err == nil) != readSlowly(changed) {
					t.Errorf("byte %d as %x: %+v, %v, and the general decoder takes it: %t", at, changed[at], got, err, readSlowly(changed))
				}
			}
		}
	}
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add((&Entry{GasLimit: 550_000, ExpiresAt: 2_592_001}).encodeEntry())
	f.Add((&Entry{GasLimit: 550_000, ExpiresAt: 2_592_001, FeePayer: bob, Sponsor: &types.Hash{1}}).encodeEntry())
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeEntry(Place{Height: 1, Seq: 2}, data)
		if slowly := readSlowly(data); (err == nil) != slowly {
			t.Fatalf("%x: %v, the general decoder says %t", data, err, slowly)
		}
		if err == nil && !bytes.Equal(e.encodeEntry(), data) {
			t.Fatalf("%x is not what its entry is written as", data)
		}
	})
}
