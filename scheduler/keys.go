package scheduler

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/types"
)

const keyPrefixBytes = 4 // "t/x/"

var keySequence = []byte("t/s")

func keyRecord(id types.TimerID) []byte  { return append([]byte("t/r/"), id[:]...) }
func keyPayload(id types.TimerID) []byte { return append([]byte("t/p/"), id[:]...) }
func keyActor(a types.Address) []byte    { return append([]byte("t/a/"), a[:]...) }

func keyDue(height types.Height, seq types.Seq) []byte {
	key := binary.BigEndian.AppendUint64([]byte("t/d/"), uint64(height))
	return binary.BigEndian.AppendUint64(key, uint64(seq))
}

// endOfDue is the first key behind all of the due range.
var endOfDue = []byte("t/d0")

func keyOwned(a types.Address, seq types.Seq) []byte {
	key := append([]byte("t/o/"), a[:]...)
	return binary.BigEndian.AppendUint64(key, uint64(seq))
}

// ownedRange is the range of an actor's owner entries.
func ownedRange(a types.Address) (from, to []byte) {
	from = append([]byte("t/o/"), a[:]...)
	to = append([]byte(nil), from...)
	for i := len(to) - 1; ; i-- { // ends at the '/' at the latest
		to[i]++
		if to[i] != 0 {
			return from, to[:i+1]
		}
	}
}

// record is what stays as it is from scheduling to the end.
type record struct {
	_                      struct{} `cbor:",toarray"`
	Height                 types.Height
	Seq                    types.Seq
	Handler                string
	MaxFeePerCycle         *types.Wei
	MaxPriorityFeePerCycle *types.Wei
	Bid                    types.Wei
	GBA                    *types.Address
	ScheduledAt            types.Height
}

// tally is what an actor has in timers.
type tally struct {
	_       struct{} `cbor:",toarray"`
	Pending uint64
	Nonce   uint64 // of the next timer; the first is 0 (decision T27)
}

// maxStoredBytes bounds what is decoded from state; a record with the longest
// handler the parameters can allow is below it.
const maxStoredBytes = 1 << 20

func readTally(kv KV, actor types.Address) (t tally) {
	if data := kv.Get(keyActor(actor)); data != nil {
		mustRead(data, &t)
	}
	return t
}

func writeTally(kv KV, actor types.Address, t tally) { kv.Set(keyActor(actor), codec.Marshal(&t)) }

func readSequence(kv KV) (next types.Seq) {
	if data := kv.Get(keySequence); data != nil {
		mustRead(data, &next)
	}
	return next
}

// mustRead decodes what this package wrote, which is canonical. Anything else in
// state is a bug.
func mustRead(data []byte, v any) {
	if err := codec.UnmarshalLoose(data, maxStoredBytes, v); err != nil {
		panic("scheduler: the state of the timers is damaged: " + err.Error())
	}
}
