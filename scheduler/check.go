package scheduler

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/types"
)

// Check reads all timers in state and returns the first thing that is never
// true of them, or nil (see the package comment). It costs the whole state.
func Check(kv KV) error {
	counts := make(map[types.Address]uint64)
	var bad error
	next := readSequence(kv)
	kv.Scan(keyDue(Place{}), endOfDue, func(key, value []byte) bool {
		e, err := decodeEntry(splitDueKey(key), value)
		if err == nil {
			err = checkEntry(kv, &e, next)
		}
		counts[e.Actor]++
		bad = err
		return err == nil
	})
	if bad != nil {
		return bad
	}
	if n, m := len(scanKeys(kv, "t/d/", "t/d0")), len(scanKeys(kv, "t/r/", "t/r0")); n != m {
		return fmt.Errorf("scheduler: %d due entries and %d records", n, m)
	}
	if n, m := len(scanKeys(kv, "t/d/", "t/d0")), len(scanKeys(kv, "t/o/", "t/o0")); n != m {
		return fmt.Errorf("scheduler: %d due entries and %d owner entries", n, m)
	}
	for _, key := range scanKeys(kv, "t/p/", "t/p0") {
		if kv.Get(keyRecord(types.TimerID(key[keyPrefixBytes:]))) == nil {
			return fmt.Errorf("scheduler: payload %x has no timer", key[keyPrefixBytes:])
		}
	}
	for _, key := range scanKeys(kv, "t/a/", "t/a0") {
		actor := types.Address(key[keyPrefixBytes:])
		if own := readTally(kv, actor); own.Pending != counts[actor] || own.Nonce < own.Pending {
			return fmt.Errorf("scheduler: actor %s counts %d timers, %d ever, and has %d", actor, own.Pending, own.Nonce, counts[actor])
		}
	}
	return nil
}

func checkEntry(kv KV, e *Entry, next types.Seq) error {
	data := kv.Get(keyRecord(e.ID))
	if data == nil {
		return fmt.Errorf("scheduler: due entry %d/%d has no record", e.Height, e.Seq)
	}
	var r record
	mustRead(data, &r)
	switch {
	case r.place() != e.Place:
		return fmt.Errorf("scheduler: timer %s stands at %v and its record says %v", e.ID, e.Place, r.place())
	case e.Seq >= next:
		return fmt.Errorf("scheduler: timer %s has sequence %d, the next is %d", e.ID, e.Seq, next)
	case string(kv.Get(keyOwned(e.Actor, e.Seq))) != string(e.ID[:]):
		return fmt.Errorf("scheduler: timer %s is missing among those of actor %s", e.ID, e.Actor)
	case readTally(kv, e.Actor).Pending == 0:
		return fmt.Errorf("scheduler: actor %s has timer %s and counts none", e.Actor, e.ID)
	}
	return nil
}

func scanKeys(kv KV, from, to string) (keys [][]byte) {
	kv.Scan([]byte(from), []byte(to), func(key, _ []byte) bool {
		keys = append(keys, append([]byte(nil), key...))
		return true
	})
	return keys
}
