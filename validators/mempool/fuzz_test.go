package mempool

import (
	"encoding/binary"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// FuzzPool reads calls from whatever bytes and holds the invariants after each.
func FuzzPool(f *testing.F) {
	f.Add([]byte{0, 1, 0, 9, 9, 10, 0, 1, 1, 9, 9, 200, 1, 2, 3})
	f.Add([]byte("\x00\x01\x00\x09\x09\x0a\x00\x01\x00\xff\xff\x0a\x02\x01\x01\x03\x09\x00\x00\x01\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := New[int](smallLimits)
		now := types.Height(0)
		var last types.Hash
		for i := 0; len(data) >= 6; i++ {
			op, sender, nonce, fee, priority, size := data[0]%5, types.Address{data[1] % 5}, types.Nonce(data[2]), data[3], data[4], int(data[5])
			data = data[6:]
			switch op {
			case 0, 1:
				last = types.Keccak(binary.BigEndian.AppendUint64(nil, uint64(i)))
				e := Entry[int]{Hash: last, Sender: sender, Nonce: nonce, Size: size,
					MaxFeePerCycle: types.WeiOf(uint64(fee)), MaxPriorityFeePerCycle: types.WeiOf(uint64(priority))}
				before := p.Len()
				if _, err := p.Add(now, e, nonce/2); err != nil && p.Len() != before {
					t.Fatal("a refusal changed the pool")
				}
			case 2:
				p.Confirmed([]Account{{sender, nonce}})
			case 3:
				now++
				p.Expire(now, 0)
			case 4:
				p.Drop(last)
			}
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for range p.Pending(Fees{}, func(types.Address) types.Nonce { return 0 }, thirdOf) {
			n++
		}
		if n > p.Len() {
			t.Fatal("more pending than held")
		}
	})
}
