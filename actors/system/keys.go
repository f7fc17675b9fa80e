package system

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// maxRecordBytes bounds records that this package reads from its own state: the
// largest spec or result, with room.
const maxRecordBytes = 1 << 21

// Keys in the storage of the registry, 0x01.
func keyProfile(a types.Address) []byte  { return append([]byte("runner/"), a[:]...) }
func keyStanding(a types.Address) []byte { return append([]byte("standing/"), a[:]...) }
func keyIndex(i uint32) []byte           { return binary.BigEndian.AppendUint32([]byte("index/"), i) }

var (
	keyRegistered = []byte("registered")
	keyRotation   = []byte("rotation")
)

// Keys in the storage of the dispatcher, 0x02.
func keyJob(id types.Hash) []byte     { return append([]byte("job/"), id[:]...) }
func keySpec(id types.Hash) []byte    { return append([]byte("spec/"), id[:]...) }
func keyNonce(a types.Address) []byte { return append([]byte("nonce/"), a[:]...) }
func keyMRU(m types.Address, k push.JobKind) []byte {
	return append(append([]byte("mru/"), m[:]...), byte(k))
}

var keyJobs = []byte("jobs")

// Keys in the storage of the verifier, 0x03.
func keyCommitment(id types.Hash, member types.Address) []byte {
	return append(append([]byte("commitments/"), id[:]...), member[:]...)
}

func keyResult(id types.Hash, member types.Address) []byte {
	return append(append([]byte("result/"), id[:]...), member[:]...)
}

func keyEarlier(id types.Hash) []byte { return append([]byte("earlier/"), id[:]...) }

// RunnerIn returns the runner of whose record a key in the storage of the registry
// is a part.
func RunnerIn(key []byte) (runner types.Address, ok bool) {
	for _, prefix := range []string{"runner/", "standing/"} {
		if address, found := bytes.CutPrefix(key, []byte(prefix)); found {
			return types.Address(address), true
		}
	}
	return runner, false
}

// SpecIn returns the job whose spec is stored under a key in the storage of the
// dispatcher.
func SpecIn(key []byte) (job types.Hash, ok bool) {
	id, found := bytes.CutPrefix(key, []byte("spec/"))
	if !found {
		return job, false
	}
	return types.Hash(id), true
}

// Keys that are not in any storage, in the order of their bytes. Their values
// follow from jobs and runners; Audit checks that.
const (
	prefixWaiting  = "j/w" // ‖ height_be8 ‖ sequence number_be8 → id: jobs that wait to be drawn, by the height since which they do
	prefixVacant   = "j/v" // ‖ sequence number_be8 → id: jobs with a place to be drawn again
	prefixDeadline = "j/d" // ‖ height_be8 ‖ sequence number_be8 → id: open jobs by deadline
	prefixFree     = "j/f" // ‖ place_be4 → 1: free places of the registry below its size
	prefixLeaving  = "j/l" // ‖ height_be8 ‖ place_be4 → address: deregistered runners without a job, by the height at which stakes return
)

func keyFree(place uint32) []byte { return binary.BigEndian.AppendUint32([]byte(prefixFree), place) }

func keyLeaving(at types.Height, place uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte(prefixLeaving), uint64(at)), place)
}

func keyWaiting(since types.Height, seq types.Seq) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte(prefixWaiting), uint64(since)), uint64(seq))
}

func keyVacant(seq types.Seq) []byte {
	return binary.BigEndian.AppendUint64([]byte(prefixVacant), uint64(seq))
}

func keyDeadline(deadline types.Height, seq types.Seq) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte(prefixDeadline), uint64(deadline)), uint64(seq))
}

// placeIn returns the place that ends a key.
func placeIn(key []byte) uint32 { return binary.BigEndian.Uint32(key[len(key)-4:]) }

// loadRecord reads a record from the storage of a system actor; nil if there is none.
// State that does not decode is a bug of ours, or a store that lied.
func loadRecord[T any](s actors.Reader, of types.Address, key []byte) *T {
	data, found := actors.StorageOf(s, of, key)
	if !found {
		return nil
	}
	record := new(T)
	if err := codec.UnmarshalLoose(data, maxRecordBytes, record); err != nil {
		panic(fmt.Sprintf("system: state holds a %T under %q that does not decode: %v", record, key, err))
	}
	return record
}

func (b *InBlock) storeRecord(of types.Address, key []byte, record any) {
	b.State.SetStorage(of, key, codec.Marshal(record))
}
