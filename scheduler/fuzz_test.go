package scheduler

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// requestOf reads a request from whatever bytes: which arguments are given, then
// their values.
func requestOf(data []byte) (now types.Height, r program.TimerRequest) {
	word := func() (n uint64) {
		var b [8]byte
		data = data[copy(b[:], data):]
		return binary.LittleEndian.Uint64(b[:])
	}
	given := word()
	now, r.Height = types.Height(word()), types.Height(word())
	if given&1 != 0 {
		r.GasLimit = ptr(types.Cycles(word()))
	}
	if given&2 != 0 {
		r.ExpiresAt = ptr(types.Height(word()))
	}
	if given&4 != 0 {
		r.FeePayer = ptr([]types.Address{alice, bob, types.SystemAddress(3)}[word()%3])
	}
	if given&8 != 0 {
		r.Bid, r.GBA = ptr(types.WeiOf(word())), &bob
	}
	if given&16 != 0 {
		r.Handler = strings.Repeat("h", int(word()%300))
	}
	if given&32 != 0 {
		r.MaxFeePerCycle = ptr(types.WeiOf(word()))
	}
	if given&64 != 0 {
		r.MaxPriorityFeePerCycle = ptr(types.WeiOf(word()))
	}
	if given&128 != 0 {
		r.PriorityTier = []string{TierEconomy, TierUrgent, "soon"}[word()%3]
	}
	r.Payload = data
	return now, r
}

func FuzzSchedule(f *testing.F) {
	words := func(ns ...uint64) (b []byte) {
		for _, n := range ns {
			b = binary.LittleEndian.AppendUint64(b, n)
		}
		return b
	}
	f.Add(append(words(0, 5, 6), `{"_handler":"h","_payload":"aGk="}`...))
	f.Add(words(31, 5, 6, 1000, 7, 0, 9, 4))
	f.Add(words(3, 1<<64-2, 1<<64-1, 550_000, 1<<64-1))
	f.Add(words(32|64, 5, 6, 999, 1))
	f.Add(words(32|64, 5, 6, 1<<63, 1<<64-1))
	f.Add(words(128, 5, 6, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		now, r := requestOf(data)
		scheduleUnder(t, Fifo, now, r)
		scheduleUnder(t, EIP1559, now, r)
	})
}

// scheduleUnder: a refusal writes nothing, and what is accepted is within every
// bound that the policy has.
func scheduleUnder(t *testing.T, policy string, now types.Height, r program.TimerRequest) {
	w := newWorld()
	w.p.Policy, w.fees.Lane = policy, types.WeiOf(1000)
	most := map[string]types.Cycles{Fifo: 550_000, EIP1559: 250_000}[policy]
	timer, _, err := w.at(now).Schedule(alice, nil, r)
	if err != nil {
		var refusal *Error
		if !errors.As(err, &refusal) || w.kv.writes != 0 {
			t.Fatalf("%v with %d writes", err, w.kv.writes)
		}
		return
	}
	got, ok := Get(&w.p, w.kv, now, timer.ID)
	if !ok || got.Height <= now || got.ExpiresAt < got.Height ||
		(got.GasLimit != types.DefaultGasLimit && got.GasLimit < 1000) || got.GasLimit > most ||
		got.FeePayer != alice || len(got.Handler) == 0 || len(got.Handler) > 256 || !bytes.Equal(got.Payload, timer.Payload) {
		t.Fatalf("accepted %+v as %+v", r, got)
	}
	if policy == EIP1559 && got.MaxFeePerCycle != nil && (got.MaxFeePerCycle.Less(w.fees.Lane) ||
		got.MaxPriorityFeePerCycle != nil && got.MaxFeePerCycle.Sub(w.fees.Lane).Less(*got.MaxPriorityFeePerCycle)) {
		t.Fatalf("accepted %s/%s", got.MaxFeePerCycle, got.MaxPriorityFeePerCycle)
	}
	if err := Check(&w.p, w.kv); err != nil {
		t.Fatal(err)
	}
}

// FuzzReadAnswer: for any answer of a bidder, its bids come from a map of the
// spec's names to unsigned integers below 2^256, or there are none.
func FuzzReadAnswer(f *testing.F) {
	for _, seed := range []TxFeeParams{{}, {MaxFeePerCycle: ptr(types.MaxWei)},
		{MaxPriorityFeePerCycle: ptr(types.WeiOf(1 << 40)), MaxFeePerCell: &types.Wei{}}} {
		f.Add(codec.Marshal(&seed))
	}
	f.Add([]byte{0xf6})
	f.Add([]byte("\xa1\x71max_fee_per_cycle\x20"))
	f.Add([]byte("\xa1\x71max_fee_per_cycle\xf9\x3c\x00"))
	f.Fuzz(func(t *testing.T, output []byte) {
		said, ok := readAnswer(output)
		var plain map[string]any
		err := cbor.Unmarshal(output, &plain)
		if ok && err != nil {
			t.Fatalf("read %x, which is not a map: %v", output, err)
		}
		if !ok {
			if said != (bid{}) {
				t.Fatal("nonsense has numbers")
			}
			return
		}
		for name, got := range map[string]*types.Wei{"max_fee_per_cycle": said.maxFee, "max_priority_fee_per_cycle": said.priority} {
			if got == nil != (plain[name] == nil) || got != nil && digits(plain[name]) != got.String() {
				t.Fatalf("%x: %s is %v, read as %v", output, name, plain[name], got)
			}
		}
		for name := range plain {
			if !strings.Contains(" max_fee_per_cycle max_priority_fee_per_cycle max_fee_per_cell max_priority_fee_per_cell ", " "+name+" ") {
				t.Fatalf("took the unknown name %q", name)
			}
		}
	})
}

func digits(number any) string {
	if n, ok := number.(big.Int); ok {
		return n.String()
	}
	return fmt.Sprint(number)
}
