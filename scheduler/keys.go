package scheduler

import (
	"encoding/binary"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const keyPrefixBytes = 4 // "t/x/"

var keySequence = []byte("t/s")

func keyRecord(id types.TimerID) []byte  { return append([]byte("t/r/"), id[:]...) }
func keyPayload(id types.TimerID) []byte { return append([]byte("t/p/"), id[:]...) }
func keyActor(a types.Address) []byte    { return append([]byte("t/a/"), a[:]...) }

func keyOfOwner(a types.Address, seq types.Seq) []byte {
	return binary.BigEndian.AppendUint64(keyOwner(a), uint64(seq))
}

func keyOwner(a types.Address) []byte { return append([]byte("t/o/"), a[:]...) }

// scanPrefix calls each for the keys with a prefix, which has a slash, in order, until
// it returns false.
func scanPrefix(kv KV, prefix []byte, each func(key, value []byte) bool) {
	end := len(prefix)
	for prefix[end-1] == 0xff { // ends at the slash at the latest
		end--
	}
	behind := append([]byte(nil), prefix[:end]...)
	behind[end-1]++
	kv.Scan(prefix, behind, each)
}

// holdsAny reports whether state has a key with a prefix.
func holdsAny(kv KV, prefix string) (found bool) {
	scanPrefix(kv, []byte(prefix), func(_, _ []byte) bool {
		found = true
		return false
	})
	return found
}

// record holds the part of a timer that its calendar entry lacks: the entry's
// place, and fields that examining a timer does not read.
type record struct {
	_           struct{}     `cbor:",toarray"`
	At          types.Height // the height of the entry's Place
	Rank        uint64
	Seq         types.Seq
	Height      types.Height // the height it was scheduled for
	Handler     string
	ScheduledAt types.Height
	Watch       *types.Watch
	Examined    types.Height `cbor:"-"` // that of the entry's Place; see encode
}

func (r *record) placeOf() Place {
	return Place{Height: r.At, Rank: r.Rank, Seq: r.Seq, Examined: r.Examined}
}

// tally is an actor's number of pending timers and its next nonce.
type tally struct {
	_       struct{} `cbor:",toarray"`
	Pending uint64
	Nonce   uint64 // the nonce of the next timer; the first is 0 (decision T27)
}

// maxStoredBytes bounds what is decoded from state; a record with the longest
// handler the parameters can allow is below it.
const maxStoredBytes = 1 << 20

func readTally(kv KV, actor types.Address) tally {
	data := kv.Get(keyActor(actor))
	if data == nil {
		return tally{}
	}
	if t, ok := decodeTally(data); ok {
		return t
	}
	return mustReadNew[tally](data)
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
