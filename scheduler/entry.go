package scheduler

import (
	"cmp"
	"encoding/binary"
	"errors"

	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/types"
)

// Place is where the calendar has a timer.
type Place struct {
	Height types.Height // from which it is due
	Rank   uint64       // its stated tip in wei a cycle, at most 2^64-1; 0 where none counts
	Seq    types.Seq
}

// compare gives the order in which due timers are examined: the highest rank,
// then the least sequence number (decision T16).
func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(q.Rank, p.Rank), cmp.Compare(p.Seq, q.Seq))
}

// Entry is a pending timer as the calendar has it: what it takes to examine the
// timer without reading its record. Place is in the key.
type Entry struct {
	Place
	ID                     types.TimerID
	Actor                  types.Address
	FeePayer               types.Address
	GasLimit               types.Cycles
	ExpiresAt              types.Height
	MaxFeePerCycle         *types.Wei // nil: the bidder's
	MaxPriorityFeePerCycle *types.Wei // nil: the bidder's
	GBA                    *types.Address
	Bid                    types.Wei // locked in the escrow
}

// maxEntryBytes is an entry with the greatest numbers.
const maxEntryBytes = 1 + 2 + 32 + 3*(1+20) + 2*9 + 3*(3+32)

var errEntry = errors.New("scheduler: a due entry is malformed")

// encode returns the deterministic CBOR of the array [id, actor, fee_payer or
// null where the actor pays, gas_limit, expires_at, max_fee_per_cycle or null,
// max_priority_fee_per_cycle or null, gba or null, bid]. It is written out by
// hand, as is decodeEntry, because a block may examine fifty thousand of them.
func (e *Entry) encode() []byte {
	b := make([]byte, 0, maxEntryBytes)
	b = append(b, 0x89, 0x58, 32)
	b = append(b, e.ID[:]...)
	b = append(append(b, 0x54), e.Actor[:]...)
	payer := &e.FeePayer
	if e.FeePayer == e.Actor {
		payer = nil
	}
	b = appendAddress(b, payer)
	b = appendUint(b, uint64(e.GasLimit))
	b = appendUint(b, uint64(e.ExpiresAt))
	b = appendWei(b, e.MaxFeePerCycle)
	b = appendWei(b, e.MaxPriorityFeePerCycle)
	b = appendAddress(b, e.GBA)
	return appendWei(b, &e.Bid)
}

// decodeEntry reads what encode writes and nothing else.
func decodeEntry(p Place, data []byte) (Entry, error) {
	const payerAt = 3 + 32 + 21
	if len(data) < payerAt || data[0] != 0x89 || data[1] != 0x58 || data[2] != 32 || data[35] != 0x54 {
		return Entry{}, errEntry
	}
	e := Entry{Place: p, ID: types.TimerID(data[3:35]), Actor: types.Address(data[36:56])}
	r := reader{rest: data[payerAt:]}
	payer := r.address()
	e.GasLimit, e.ExpiresAt = types.Cycles(r.uint()), types.Height(r.uint())
	e.MaxFeePerCycle, e.MaxPriorityFeePerCycle = r.wei(), r.wei()
	e.GBA = r.address()
	bid := r.wei()
	if r.bad || len(r.rest) > 0 || bid == nil || payer != nil && *payer == e.Actor {
		return Entry{}, errEntry
	}
	e.FeePayer, e.Bid = e.Actor, *bid
	if payer != nil {
		e.FeePayer = *payer
	}
	return e, nil
}

func mustDecodeEntry(p Place, data []byte) Entry {
	e, err := decodeEntry(p, data)
	if err != nil {
		panic(err)
	}
	return e
}

const cborNull = 0xf6

func appendAddress(b []byte, a *types.Address) []byte {
	if a == nil {
		return append(b, cborNull)
	}
	return append(append(b, 0x54), a[:]...)
}

func appendWei(b []byte, w *types.Wei) []byte {
	if w == nil {
		return append(b, cborNull)
	}
	if n, small := w.Uint64(); small {
		return appendUint(b, n)
	}
	return append(b, codec.Marshal(*w)...)
}

// reader cuts values off the front of an entry; bad is set by the first that is
// not as it should be.
type reader struct {
	rest []byte
	bad  bool
}

// null reports whether the next value is null, and takes it off.
func (r *reader) null() bool {
	if len(r.rest) > 0 && r.rest[0] == cborNull {
		r.rest = r.rest[1:]
		return true
	}
	return false
}

func (r *reader) uint() uint64 {
	n, rest, ok := cutUint(r.rest)
	if !ok {
		r.bad, r.rest = true, nil
	}
	r.rest = rest
	return n
}

func (r *reader) address() *types.Address {
	if r.null() {
		return nil
	}
	if len(r.rest) < 21 || r.rest[0] != 0x54 {
		r.bad, r.rest = true, nil
		return nil
	}
	a := types.Address(r.rest[1:21])
	r.rest = r.rest[21:]
	return &a
}

// wei reads an amount: an unsigned integer, or above 2^64-1 tag 2 with 9 to 32
// bytes.
func (r *reader) wei() *types.Wei {
	if r.null() {
		return nil
	}
	if len(r.rest) == 0 || r.rest[0] != 0xc2 {
		w := types.WeiOf(r.uint())
		return &w
	}
	size := r.bignumBytes()
	w := new(types.Wei)
	if size == 0 || codec.Unmarshal(r.rest[:size], size, w) != nil {
		r.bad, r.rest = true, nil
		return nil
	}
	r.rest = r.rest[size:]
	return w
}

// bignumBytes is the length of the tag 2 in front, or 0.
func (r *reader) bignumBytes() int {
	if len(r.rest) < 3 {
		return 0
	}
	size := 2 + int(r.rest[1]&0x1f)
	if r.rest[1] == 0x58 {
		size = 3 + int(r.rest[2])
	}
	if size > len(r.rest) {
		return 0
	}
	return size
}

// appendUint appends n as CBOR has it, in the fewest bytes.
func appendUint(b []byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, byte(n))
	case n < 1<<8:
		return append(b, 0x18, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, 0x19), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, 0x1a), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0x1b), n)
}

// cutUint reads a CBOR unsigned integer in its fewest bytes from the front.
func cutUint(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	if b[0] < 24 {
		return uint64(b[0]), b[1:], true
	}
	if b[0] < 0x18 || b[0] > 0x1b {
		return 0, nil, false
	}
	size := 1 << (b[0] - 0x18)
	if len(b) < 1+size {
		return 0, nil, false
	}
	for _, c := range b[1 : 1+size] {
		n = n<<8 | uint64(c)
	}
	least := uint64(24)
	if size > 1 {
		least = 1 << (4 * size) // what half the bytes could hold
	}
	return n, b[1+size:], n >= least
}
