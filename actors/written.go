package actors

import (
	"bytes"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Written is a key of an actor's storage whose value changed: the old and the new
// value as in the states, nil for an absent value. They differ exactly where the
// values do.
type Written struct {
	Actor  types.Address
	Key    types.Hash // keccak256 of the key
	Before []byte
	After  []byte
}

// WrittenSince lists the keys of storage that have another value than at a
// snapshot which was not reverted, in the order they were first written. It costs
// what was written since.
func (s *State) WrittenSince(snapshot int) (written []Written) {
	seen := map[string]bool{}
	for i := snapshot; i < len(s.journal); i++ {
		u := &s.journal[i]
		if u.key[0] != prefixStorage || seen[u.key] {
			continue
		}
		seen[u.key] = true
		before := u.value
		if !u.known {
			before, _ = s.base.Get([]byte(u.key))
		}
		after := s.writes[u.key]
		if (before == nil) == (after == nil) && bytes.Equal(before, after) {
			continue
		}
		const actorEnds = 1 + len(types.Address{})
		written = append(written, Written{Actor: types.Address([]byte(u.key[1:actorEnds])),
			Key: types.Hash([]byte(u.key[actorEnds:])), Before: before, After: after})
	}
	return written
}

// StorageWritten lists the keys of an actor's storage that this state has written
// over its base and not deleted, in the order they were first written. It costs a
// look at every write.
func (s *State) StorageWritten(actor types.Address) (keys [][]byte) {
	prefix := string(addressKey(prefixStorage, actor))
	seen := map[string]bool{}
	for i := range s.journal {
		key := s.journal[i].key
		if !strings.HasPrefix(key, prefix) || seen[key] {
			continue
		}
		seen[key] = true
		if value := s.writes[key]; value != nil {
			var entry Entry
			mustDecode(value, &entry)
			keys = append(keys, entry.Key)
		}
	}
	return keys
}
