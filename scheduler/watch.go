package scheduler

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A timer that watches a key is in the calendar at the height after its expires_at,
// where the cleanup lane finds it if nothing happens. A block whose transactions
// changed the key's value moves it to the block's own height: from then on it is a
// due timer like any other. State holds, besides its record:
//
//	t/k/<actor><keccak(key)><height><seq>  watchers of a key: id
//	t/x/<height><actor><keccak(key)>       changed at a height, and not all watchers moved yet
//	t/y/<actor><keccak(key)>               changed after the transactions of the last block: digest of the value after them
//	t/K/<actor><keccak(key)><seq>          a watcher of the next height that a fire scheduled: id, digest of the value then
//	t/x/<height><actor><keccak(key)><seq>  such a watcher whose key changed, to be moved: id
//	t/z                                    how many watchers t/k has
//
// A watcher counts changes from its own height on, which is above that of the
// block that scheduled it (decision T4), so t/k needs nothing else to tell who is
// concerned. A watcher in t/K compares with its digest at that height. Later it counts
// as others do, from the height that t/k has for it. A header skips nothing
// while t/x, t/y or t/K holds anything (decision C8).

// StorageWrite is a key of an actor's storage that a part of a block wrote.
type StorageWrite struct {
	Actor  types.Address
	Key    types.Hash // keccak256 of the key
	Before []byte     // the value in state before that part of the block; nil: none
	After  []byte     // after it
}

// keyBytes is an actor and the hash of a key.
const keyBytes = 20 + 32

// watchedKey is a key of an actor's storage.
type watchedKey [keyBytes]byte

func watchedKeyOf(actor types.Address, key types.Hash) (w watchedKey) {
	copy(w[copy(w[:], actor[:]):], key[:])
	return w
}

// keyWatcher is where t/k has a watcher; height is the timer's own.
func keyWatcher(w watchedKey, height types.Height, seq types.Seq) []byte {
	key := binary.BigEndian.AppendUint64(append([]byte("t/k/"), w[:]...), uint64(height))
	return binary.BigEndian.AppendUint64(key, uint64(seq))
}

func keyOfChange(at types.Height, w watchedKey) []byte {
	return append(binary.BigEndian.AppendUint64([]byte("t/x/"), uint64(at)), w[:]...)
}

func keyLate(w watchedKey) []byte { return append([]byte("t/y/"), w[:]...) }

func keyFresh(w watchedKey, seq types.Seq) []byte {
	return binary.BigEndian.AppendUint64(append([]byte("t/K/"), w[:]...), uint64(seq))
}

// isWatching reports whether the timer waits for its key: no other timer is placed
// after its expires_at.
func (e *Entry) isWatching() bool { return e.Height > e.ExpiresAt }

// watcherOf is a timer's place in t/k.
func watcherOf(w *types.Watch, height types.Height, seq types.Seq) []byte {
	return keyWatcher(watchedKeyOf(w.Actor, types.Keccak(w.Key)), height, seq)
}

// resolveWatch settles what a timer watches. Only fifo and eip1559 have
// state-triggered timers.
//
// Spec: CIP-5 §9.8, decisions T26, T27.
func (b *InBlock) resolveWatch(t *types.Timer, stated *types.Watch) error {
	if stated == nil {
		return nil
	}
	p := b.Params
	if p.Policy != Fifo && p.Policy != EIP1559 {
		return newError(CodeWatchUnsupported, "CIP-5 §9.8, T26", "under %s a timer watches nothing: give a height, or use a chain under %s or %s",
			p.Policy, Fifo, EIP1559)
	}
	if uint64(len(stated.Key)) > p.MaxStateKeyBytes {
		return newError(CodeWatchUnsupported, "T26", "the watched key has %d bytes; keys of state have at most %d", len(stated.Key),
			p.MaxStateKeyBytes)
	}
	if err := hasHeightBehind(t.ExpiresAt); err != nil {
		return err
	}
	t.Watch = &types.Watch{Actor: stated.Actor, Key: append(types.Bytes{}, stated.Key...)}
	return nil
}

// hasHeightBehind refuses an expires_at without a height after it.
func hasHeightBehind(expiresAt types.Height) error {
	if expiresAt == math.MaxUint64 {
		return newError(CodeExpiresTooLate, "T26", "a timer that watches a key expires before the last height there is, %d",
			uint64(math.MaxUint64))
	}
	return nil
}

// watchKey enters a new timer that watches a key, and returns its place in the
// calendar. After the transactions of a block it watches from the value at this moment.
func (b *InBlock) watchKey(t *types.Timer, at Place) Place {
	from := t.Height
	if b.Value != nil && t.Height == b.Height+1 {
		from++
		key := keyFresh(watchedKeyOf(t.Watch.Actor, types.Keccak(t.Watch.Key)), t.Seq)
		b.KV.Set(key, append(append([]byte{}, t.ID[:]...), valueDigest(b.Value(*t.Watch))...))
	}
	b.rememberWatcher(t.ID, watcherOf(t.Watch, from, t.Seq))
	at.Height = t.ExpiresAt + 1
	return at
}

// rememberWatcher puts a watcher into t/k, unless t/k has it.
func (b *InBlock) rememberWatcher(id types.TimerID, key []byte) {
	if b.KV.Get(key) != nil {
		return
	}
	b.KV.Set(key, append([]byte(nil), id[:]...))
	writeNumber(b.KV, keyWatchers, readWatchers(b.KV)+1)
}

// unwatchKey forgets a timer that ends before its key changed.
func (b *InBlock) unwatchKey(e *Entry) {
	r := mustReadRecord(b.KV.Get(keyRecord(e.ID)))
	b.forgetWatcher(&r, e.Seq)
}

// forgetWatcher removes a watcher from t/k, if t/k has it.
func (b *InBlock) forgetWatcher(r *record, seq types.Seq) {
	key := watcherIn(b.KV, r, seq)
	if key == nil {
		return
	}
	b.KV.Set(key, nil)
	writeNumber(b.KV, keyWatchers, readWatchers(b.KV)-1)
}

// watcherIn returns the key of a watcher in t/k, nil if it is absent. A watcher of the next
// height that a fire scheduled has the height after its own.
func watcherIn(kv KV, r *record, seq types.Seq) []byte {
	for _, height := range []types.Height{r.Height, r.Height + 1} {
		if key := watcherOf(r.Watch, height, seq); kv.Get(key) != nil {
			return key
		}
	}
	return nil
}

// keyWatchers has the number of watchers in t/k, or nothing for none.
var keyWatchers = []byte("t/z")

func readWatchers(kv KV) uint64 { return readNumber(kv, keyWatchers) }

// moveInCalendar moves a timer within the calendar.
func (b *InBlock) moveInCalendar(r *record, e *Entry, height types.Height) {
	b.calendarOf().Remove(e.Place)
	e.Height, r.At = height, height
	b.calendarOf().Insert(*e)
	b.KV.Set(keyRecord(e.ID), r.encodeRecord())
}

// Watched reports whether any timer watches a key. If it returns false, NoteLate
// has nothing to do, and Trigger only if WatchesWait was true for the block before.
func Watched(kv KV) bool { return kv.Get(keyWatchers) != nil }

// WatchesWait reports whether the next block has changes of watched keys to look
// at, whatever its transactions do.
func WatchesWait(kv KV) bool {
	return holdsAny(kv, "t/x/") || holdsAny(kv, "t/y/") || holdsAny(kv, "t/K/")
}

// Trigger makes due the timers whose key has another value after the
// transactions of this block than after those of the block before: at most
// max_triggered_per_block of them, the oldest change first, then by key, height and
// sequence. The others follow in the next blocks. written are the keys written in
// this block so far, without duplicates.
//
// Spec: CIP-5 §9.8, decisions T4, T26, T27.
func (b *InBlock) Trigger(written []StorageWrite) []types.TimerChange {
	late := b.takeLate()
	watched := b.hasWatcher(b.Height, len(written))
	var changed []watchedKey
	for i := range written {
		w := &written[i]
		key := watchedKeyOf(w.Actor, w.Key)
		before, known := late[key]
		delete(late, key)
		if !watched(key) {
			continue
		}
		if !known {
			before = valueDigest(w.Before)
		}
		if !bytes.Equal(before, valueDigest(w.After)) {
			changed = append(changed, key)
		}
	}
	for key := range late { // order: each entry becomes a separate key
		changed = append(changed, key)
	}
	for _, key := range changed {
		b.KV.Set(keyOfChange(b.Height, key), []byte{})
	}
	b.compareFresh()
	return b.wakeWatchers()
}

// compareFresh judges fresh watchers, in the block after the one that scheduled them. Their
// keys changed if the present values have other digests. Each key is hashed once.
//
// Spec: decisions T26, T27.
func (b *InBlock) compareFresh() {
	var fresh [][]byte
	scanPrefix(b.KV, []byte("t/K/"), func(key, _ []byte) bool {
		fresh = append(fresh, append([]byte(nil), key...))
		return true
	})
	now := map[watchedKey][]byte{}
	for _, key := range fresh {
		value := append([]byte(nil), b.KV.Get(key)...)
		b.KV.Set(key, nil)
		id, from := types.TimerID(value[:len(types.TimerID{})]), value[len(types.TimerID{}):]
		if !b.isWaiting(id) {
			continue
		}
		of := watchedKey(key[keyPrefixBytes : keyPrefixBytes+keyBytes])
		if _, hashed := now[of]; !hashed {
			now[of] = valueDigest(b.Value(*mustReadRecord(b.KV.Get(keyRecord(id))).Watch))
		}
		if !bytes.Equal(now[of], from) {
			b.KV.Set(append(binary.BigEndian.AppendUint64([]byte("t/x/"), uint64(b.Height)), key[keyPrefixBytes:]...), id[:])
		}
	}
}

// NoteLate keeps the changes of watched keys that were made after the
// transactions of this block, for the next one. written are the keys written since,
// without duplicates.
func (b *InBlock) NoteLate(written []StorageWrite) {
	watched := b.hasWatcher(b.Height+1, len(written))
	var late []int
	for i := range written {
		w := &written[i]
		if watched(watchedKeyOf(w.Actor, w.Key)) && !bytes.Equal(valueDigest(w.Before), valueDigest(w.After)) {
			late = append(late, i)
		}
	}
	for _, i := range late {
		w := &written[i]
		b.KV.Set(keyLate(watchedKeyOf(w.Actor, w.Key)), valueDigest(w.Before))
	}
}

// valueDigest stands for a value; that of none differs from that of every other.
func valueDigest(value []byte) []byte {
	if value == nil {
		return []byte{0}
	}
	hash := types.Keccak(value)
	return hash[:]
}

// takeLate empties t/y. A key in it has another value now than it says, unless
// this block wrote it again.
func (b *InBlock) takeLate() map[watchedKey][]byte {
	late := map[watchedKey][]byte{}
	scanPrefix(b.KV, []byte("t/y/"), func(key, value []byte) bool {
		late[watchedKey(key[keyPrefixBytes:])] = append([]byte(nil), value...)
		return true
	})
	for key := range late { // order: deletes
		b.KV.Set(keyLate(key), nil)
	}
	return late
}

// hasWatcher returns a predicate that is to be called times times: whether a key has a
// watcher of a height up to now. It reads all watchers once, or those of each key,
// whatever is less.
func (b *InBlock) hasWatcher(now types.Height, times int) func(watchedKey) bool {
	if readWatchers(b.KV) > uint64(times) {
		return func(key watchedKey) bool { return len(b.listWatchers(key, now, 1)) > 0 }
	}
	all := map[watchedKey]bool{}
	scanPrefix(b.KV, []byte("t/k/"), func(key, _ []byte) bool {
		key = key[keyPrefixBytes:]
		if types.Height(binary.BigEndian.Uint64(key[keyBytes:])) <= now {
			all[watchedKey(key[:keyBytes])] = true
		}
		return true
	})
	return func(key watchedKey) bool { return all[key] }
}

// listWatchers lists at most limit watchers of a key whose heights are up to now, by
// height, then sequence.
func (b *InBlock) listWatchers(key watchedKey, now types.Height, limit uint64) (ids []types.TimerID) {
	b.KV.Scan(keyWatcher(key, 0, 0), keyWatcher(key, now, math.MaxUint64), func(_, id []byte) bool {
		ids = append(ids, types.TimerID(id))
		return uint64(len(ids)) < limit
	})
	return ids
}

// wakeWatchers works off t/x, at most max_triggered_per_block keys and timers.
func (b *InBlock) wakeWatchers() (changes []types.TimerChange) {
	left := b.Params.MaxTriggered
	for _, key := range b.changedKeys(left) {
		if left == 0 {
			break
		}
		at := types.Height(binary.BigEndian.Uint64(key[keyPrefixBytes:]))
		var ids []types.TimerID
		if len(key) == keyPrefixBytes+8+keyBytes {
			ids = b.listWatchers(watchedKey(key[keyPrefixBytes+8:]), at, left)
		} else if id := types.TimerID(b.KV.Get(key)); b.isWaiting(id) {
			ids = append(ids, id)
		}
		for _, id := range ids {
			changes = append(changes, b.triggerWatcher(id)...)
		}
		left -= uint64(len(ids))
		if left > 0 || len(key) > keyPrefixBytes+8+keyBytes {
			b.KV.Set(key, nil)
		}
	}
	return changes
}

// isWaiting reports whether a timer is pending and in t/k.
func (b *InBlock) isWaiting(id types.TimerID) bool {
	r, e, ok := findPending(b.calendarOf(), b.KV, id)
	return ok && r.Watch != nil && watcherIn(b.KV, &r, e.Seq) != nil
}

func (b *InBlock) changedKeys(limit uint64) (keys [][]byte) {
	scanPrefix(b.KV, []byte("t/x/"), func(key, _ []byte) bool {
		keys = append(keys, append([]byte(nil), key...))
		return uint64(len(keys)) < limit
	})
	return keys
}

// triggerWatcher makes a watcher due now. A watcher that has expired stays where the
// cleanup lane finds it, and watches again if it is extended.
func (b *InBlock) triggerWatcher(id types.TimerID) []types.TimerChange {
	r, e, ok := findPending(b.calendarOf(), b.KV, id)
	if !ok {
		panic("scheduler: timer " + id.String() + " watches a key and is not pending")
	}
	b.forgetWatcher(&r, e.Seq)
	if e.ExpiresAt < b.Height {
		return nil
	}
	b.moveInCalendar(&r, &e, b.Height)
	return []types.TimerChange{{Kind: types.ChangeTriggered, Timer: assembleTimer(&r, &e, 0), Status: types.TimerPending, At: b.Height,
		Reason: ReasonTriggered}}
}

// checkWatch says what is wrong with a pending timer's watch, or nil.
func checkWatch(e *Entry, r *record) error {
	if e.isWatching() && (r.Watch == nil || e.Height != e.ExpiresAt+1 || e.Examined != 0) {
		return fmt.Errorf("scheduler: timer %s is at %d, after its expires_at %d, and watches no key", e.ID, e.Height, e.ExpiresAt)
	}
	return nil
}

// checkWatchers says what is wrong with t/k, or nil. A watcher whose time was over
// when its key changed is in it no longer.
func checkWatchers(p *params.Params, kv KV) error {
	keys := scanKeys(kv, "t/k/")
	if n := readWatchers(kv); n != uint64(len(keys)) {
		return fmt.Errorf("scheduler: %d timers watch a key and %d are counted", len(keys), n)
	}
	for _, key := range keys {
		id := types.TimerID(kv.Get(key))
		r, e, ok := findPending(CalendarOf(p, kv), kv, id)
		if !ok || r.Watch == nil || !e.isWatching() || string(watcherIn(kv, &r, e.Seq)) != string(key) {
			return fmt.Errorf("scheduler: the watcher %x has no timer that waits for that key", key[keyPrefixBytes:])
		}
	}
	return nil
}
