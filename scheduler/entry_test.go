package scheduler

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/types"
)

// slowEntry is an entry for the general encoder: what encode must write.
type slowEntry struct {
	_         struct{} `cbor:",toarray"`
	ID        types.TimerID
	Actor     types.Address
	FeePayer  types.Address
	GasLimit  types.Cycles
	ExpiresAt types.Height
}

func TestDueEntriesAreDeterministicCBOR(t *testing.T) {
	number := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 23, 24, 255, 256, 65535, 65536, 1<<32 - 1, 1 << 32}))
	rapid.Check(t, func(t *rapid.T) {
		e := Entry{Height: 7, Seq: 9, GasLimit: types.Cycles(number.Draw(t, "gas")), ExpiresAt: types.Height(number.Draw(t, "expires"))}
		copy(e.ID[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "id"))
		copy(e.Actor[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "actor"))
		copy(e.FeePayer[:], rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, "payer"))
		want := codec.Marshal(&slowEntry{ID: e.ID, Actor: e.Actor, FeePayer: e.FeePayer, GasLimit: e.GasLimit, ExpiresAt: e.ExpiresAt})
		if got := e.encode(); !bytes.Equal(got, want) {
			t.Fatalf("%x, want %x", got, want)
		}
		if back, err := decodeEntry(7, 9, want); err != nil || back != e {
			t.Fatalf("%+v, %v", back, err)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add((&Entry{GasLimit: 550_000, ExpiresAt: 2_592_001}).encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := decodeEntry(1, 2, data)
		var slow slowEntry
		if slowErr := codec.Unmarshal(data, 1<<20, &slow); (err == nil) != (slowErr == nil) {
			t.Fatalf("%x: %v, the general decoder says %v", data, err, slowErr)
		}
		if err == nil && !bytes.Equal(e.encode(), data) {
			t.Fatalf("%x is not what its entry is written as", data)
		}
	})
}
