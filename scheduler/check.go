package scheduler

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/calendar"
)

// Check reads all timers in state and returns the first thing that is never
// true of them, or nil (see the package comment). It costs the whole state.
func Check(p *params.Params, kv KV) error {
	if err := calendar.Check(kv, calendar.SizesOf(p)); err != nil {
		return err
	}
	if err := checkWindow(kv); err != nil {
		return err
	}
	if err := checkWatchers(p, kv); err != nil {
		return err
	}
	counts := make(map[types.Address]uint64)
	sponsored := make(map[types.Hash]allowanceSum)
	next := readSequence(kv)
	items := CalendarOf(p, kv).tiers.Due(math.MaxUint64, math.MaxUint64) // all of them
	for _, item := range items {
		e, err := decodeEntry(item.Place, item.Value)
		if err == nil {
			err = checkEntry(kv, &e, next)
		}
		if err != nil {
			return err
		}
		counts[e.Actor]++
		if e.Sponsor != nil {
			had := sponsored[*e.Sponsor]
			sponsored[*e.Sponsor] = allowanceSum{had.timers + 1, had.bids.Add(e.Bid)}
		}
	}
	if err := checkAllowances(kv, sponsored); err != nil {
		return err
	}
	if n := len(scanKeys(kv, "t/r/")); n != len(items) {
		return fmt.Errorf("scheduler: %d timers in the calendar and %d records", len(items), n)
	}
	if n := len(scanKeys(kv, "t/o/")); n != len(items) {
		return fmt.Errorf("scheduler: %d timers in the calendar and %d owner entries", len(items), n)
	}
	for _, key := range scanKeys(kv, "t/p/") {
		if kv.Get(keyRecord(types.TimerID(key[keyPrefixBytes:]))) == nil {
			return fmt.Errorf("scheduler: payload %x has no timer", key[keyPrefixBytes:])
		}
	}
	for _, key := range scanKeys(kv, "t/n/") {
		if kv.Get(keyRecord(types.TimerID(key[keyPrefixBytes:]))) == nil {
			return fmt.Errorf("scheduler: failures of unknown timer %x are stored", key[keyPrefixBytes:])
		}
	}
	for _, key := range scanKeys(kv, "t/d/") {
		if kv.Get(keyRecord(types.TimerID(key[keyPrefixBytes:]))) == nil {
			return fmt.Errorf("scheduler: cached answer of unknown timer %x", key[keyPrefixBytes:])
		}
	}
	for _, key := range scanKeys(kv, "t/a/") {
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
		return fmt.Errorf("scheduler: the timer of height %d and sequence %d has no record", e.Height, e.Seq)
	}
	r := mustReadRecord(data)
	switch {
	case r.placeOf() != e.Place:
		return fmt.Errorf("scheduler: timer %s: got the place %v, want %v by its record", e.ID, e.Place, r.placeOf())
	case e.Seq >= next:
		return fmt.Errorf("scheduler: timer %s has sequence %d, the next is %d", e.ID, e.Seq, next)
	case string(kv.Get(keyOfOwner(e.Actor, e.Seq))) != string(e.ID[:]):
		return fmt.Errorf("scheduler: timer %s is missing among those of actor %s", e.ID, e.Actor)
	case !paysByWord(kv, e):
		return fmt.Errorf("scheduler: timer %s is paid by %s, who is not whose allowance it draws on", e.ID, e.FeePayer)
	case readTally(kv, e.Actor).Pending == 0:
		return fmt.Errorf("scheduler: actor %s has timer %s and counts none", e.Actor, e.ID)
	}
	return checkWatch(e, &r)
}

func scanKeys(kv KV, prefix string) (keys [][]byte) {
	scanPrefix(kv, []byte(prefix), func(key, _ []byte) bool {
		keys = append(keys, append([]byte(nil), key...))
		return true
	})
	return keys
}

// checkWindow checks that the sums of actors equal those of the blocks in the
// window, that the spread follows from the sums, and that no value is 0.
func checkWindow(kv KV) error {
	var fires []actorFires
	scanPrefix(kv, []byte("t/w/"), func(_, value []byte) bool {
		fires = appendFires(fires, value)
		return true
	})
	fires = sumByActor(fires)
	if n := len(scanKeys(kv, "t/u/")); n != len(fires) {
		return fmt.Errorf("scheduler: %d actors fired in the window and %d have a sum", len(fires), n)
	}
	spread := make(map[uint64]uint64)
	for _, f := range fires {
		if sum := recentFires(kv, f.Actor); sum != f.Fires || sum == 0 {
			return fmt.Errorf("scheduler: actor %s fired %d times in the window, and %d are counted", f.Actor, f.Fires, sum)
		}
		spread[f.Fires]++
	}
	keys := scanKeys(kv, "t/v/")
	if len(keys) != len(spread) {
		return fmt.Errorf("scheduler: the actors of the window have %d sums, and %d are counted", len(spread), len(keys))
	}
	for _, key := range keys {
		sum := binary.BigEndian.Uint64(bytes.TrimPrefix(key, []byte("t/v/")))
		if n := readNumber(kv, key); n != spread[sum] {
			return fmt.Errorf("scheduler: %d actors fired %d times in the window, and %d are counted", spread[sum], sum, n)
		}
	}
	return nil
}
