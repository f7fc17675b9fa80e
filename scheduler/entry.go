package scheduler

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/calendar"
)

// Place is a timer's position in the calendar: the height from which it is due; as
// its rank the tip it states in wei per cycle, at most 2^64-1 and 0 if tips do not
// count; and its sequence number.
type Place = calendar.Place

// Entry is a pending timer in the calendar: all that examining the timer needs,
// without its record. Place is in the key.
type Entry struct {
	Place
	ID                     types.TimerID
	Actor                  types.Address
	FeePayer               types.Address
	GasLimit               types.Cycles // types.DefaultGasLimit: the cap at the fire
	ExpiresAt              types.Height
	MaxFeePerCycle         *types.Wei // nil: the bidder's
	MaxPriorityFeePerCycle *types.Wei // nil: the bidder's
	GBA                    *types.Address
	Bid                    types.Wei   // locked in the escrow
	Sponsor                *types.Hash // the allowance that it draws on, where another than the actor pays (decision T28)
}

// maxEntryBytes is the size of an entry with the largest numbers.
const maxEntryBytes = 1 + 2 + 32 + 3*(1+20) + 2*9 + 3*(3+32) + 2 + 32

var errEntry = errors.New("scheduler: a due entry is malformed")

// encodeEntry returns the deterministic CBOR of the array [id, actor, fee_payer or null
// if the actor pays, gas_limit, expires_at, max_fee_per_cycle or null,
// max_priority_fee_per_cycle or null, gba or null, bid]. If another account pays,
// the transaction of the allowance follows. It is written out by hand, as is
// decodeEntry, because a block may examine fifty thousand of them.
func (e *Entry) encodeEntry() []byte {
	b := make([]byte, 0, maxEntryBytes)
	if (e.Sponsor != nil) != (e.FeePayer != e.Actor) {
		panic("scheduler: timer " + e.ID.String() + " must have a sponsor exactly if its fee payer is not its actor")
	}
	if e.Sponsor == nil {
		b = append(b, cborNine)
	} else {
		b = append(b, cborTen)
	}
	b = append(b, cborBytes, 32)
	b = append(b, e.ID[:]...)
	b = append(append(b, cborAddress), e.Actor[:]...)
	payer := &e.FeePayer
	if e.FeePayer == e.Actor {
		payer = nil
	}
	b = appendAddress(b, payer)
	b = codec.AppendUnsigned(b, uint64(e.GasLimit))
	b = codec.AppendUnsigned(b, uint64(e.ExpiresAt))
	b = appendWei(b, e.MaxFeePerCycle)
	b = appendWei(b, e.MaxPriorityFeePerCycle)
	b = appendAddress(b, e.GBA)
	b = appendWei(b, &e.Bid)
	if e.Sponsor != nil {
		b = append(append(b, cborBytes, 32), e.Sponsor[:]...)
	}
	return b
}

// decodeEntry reads what encode writes and nothing else.
func decodeEntry(p Place, data []byte) (Entry, error) {
	const payerAt = 3 + 32 + 21
	if len(data) < payerAt || data[0] != cborNine && data[0] != cborTen || data[1] != cborBytes || data[2] != 32 || data[35] != cborAddress {
		return Entry{}, errEntry
	}
	e := Entry{Place: p, ID: types.TimerID(data[3:35]), Actor: types.Address(data[36:56])}
	r := reader{rest: data[payerAt:]}
	payer := r.readAddress()
	e.GasLimit, e.ExpiresAt = types.Cycles(r.readUint()), types.Height(r.readUint())
	e.MaxFeePerCycle, e.MaxPriorityFeePerCycle = r.readWei(), r.readWei()
	e.GBA = r.readAddress()
	bid := r.readWei()
	if data[0] == cborTen {
		e.Sponsor = r.readHash()
	}
	if r.bad || len(r.rest) > 0 || bid == nil || payer != nil && *payer == e.Actor || (payer != nil) != (e.Sponsor != nil) {
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

const (
	cborNine    = 0x89 // an array of 9 items
	cborTen     = 0x8a
	cborBytes   = 0x58 // bytes, whose number is the next
	cborNull    = 0xf6
	cborAddress = 0x54 // bytes, 20 of them
)

func appendAddress(b []byte, a *types.Address) []byte {
	if a == nil {
		return codec.AppendNull(b)
	}
	return append(append(b, cborAddress), a[:]...)
}

func appendWei(b []byte, w *types.Wei) []byte {
	if w == nil {
		return codec.AppendNull(b)
	}
	return w.AppendCBOR(b)
}

// reader cuts values off the front of an entry; bad is set by the first that is
// not as it should be.
type reader struct {
	rest []byte
	bad  bool
}

// takeNull reports whether the next value is null, and takes it off.
func (r *reader) takeNull() bool {
	if len(r.rest) > 0 && r.rest[0] == cborNull {
		r.rest = r.rest[1:]
		return true
	}
	return false
}

func (r *reader) readUint() uint64 {
	n, rest, ok := codec.CutUnsigned(r.rest)
	if !ok {
		r.bad, r.rest = true, nil
	}
	r.rest = rest
	return n
}

func (r *reader) readAddress() *types.Address {
	if r.takeNull() {
		return nil
	}
	if len(r.rest) < 21 || r.rest[0] != cborAddress {
		r.bad, r.rest = true, nil
		return nil
	}
	a := types.Address(r.rest[1:21])
	r.rest = r.rest[21:]
	return &a
}

func (r *reader) readHash() *types.Hash {
	if len(r.rest) < 34 || r.rest[0] != cborBytes || r.rest[1] != 32 {
		r.bad, r.rest = true, nil
		return nil
	}
	h := types.Hash(r.rest[2:34])
	r.rest = r.rest[34:]
	return &h
}

// readWei reads an amount: an unsigned integer, or above 2^64-1 tag 2 with 9 to 32
// bytes.
func (r *reader) readWei() *types.Wei {
	if r.takeNull() {
		return nil
	}
	if len(r.rest) == 0 || r.rest[0] != 0xc2 {
		w := types.WeiOf(r.readUint())
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
