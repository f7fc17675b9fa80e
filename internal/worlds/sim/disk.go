package sim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// Disk says how a node's disk behaves.
type Disk struct {
	// Latency is how long a write takes to be synced. The role that writes
	// neither steps nor sends until then, and a crash before then loses the
	// write, or a part of it. With 0 a write is synced when it returns.
	Latency time.Duration
}

// ErrDiskFailed is what every use of a disk answers that DiskFail broke.
var ErrDiskFailed = errors.New("sim: the disk fails")

// ErrDamaged is the error of a log with a damaged record before its end. Damage at
// its end looks like an interrupted write, and is cut off.
var ErrDamaged = errors.New("sim: a record of the log is damaged")

// recordFrame is the size of a record's length and checksum.
const recordFrame = 8

// disk is what a machine keeps.
type disk struct {
	Disk
	node    *node
	failing *fault.Counts
	slow    time.Duration // how much longer a write takes to be synced
	fails   int           // how many uses from now all fail; 0: none was planned
	records [][]byte
	damaged map[int]bool // records whose checksum is wrong, by index; looked up only
	size    int64
	buckets []bucket
	free    types.Time    // when all writes so far will be synced
	pending []pending     // writes that are not synced yet, oldest first
	lying   *fault.Counts // nil unless it reports writes as synced without syncing them
}

// maxLies bounds the writes that a lying disk has not synced: a cache holds no more. The
// oldest is synced when one more comes.
const maxLies = 4096

// bucket is one table of the store: a persistent tree, so that a Commit is
// atomic and can be undone.
type bucket struct {
	name env.Bucket
	tree *trie.Tree
}

// pending is a write that is synced at a time, and how a crash before undoes it.
type pending struct {
	synced types.Time
	undo   func()
}

func newDisk(n *node, d Disk) *disk { return &disk{Disk: d, node: n} }

// checkUsable says whether a process can use the disk.
func (d *disk) checkUsable(l *process) error {
	switch {
	case l.dead:
		return ErrCrashed
	case d.fails > 0:
		if d.fails--; d.fails == 0 {
			d.failing = d.node.world.diskFails(d.node)
			d.failing.Refused.Add(1)
			return ErrDiskFailed
		}
		return nil
	case d.failing != nil:
		d.failing.Refused.Add(1)
		return ErrDiskFailed
	}
	return nil
}

// recordWrite records a write. It keeps the role that made it busy until it is synced.
func (d *disk) recordWrite(undo func()) {
	w := d.node.world
	for len(d.pending) > 0 && d.pending[0].synced <= w.now {
		d.pending = d.pending[1:]
	}
	if d.lying != nil {
		if len(d.pending) >= maxLies {
			d.pending = d.pending[1:]
		}
		d.pending = append(d.pending, pending{types.Never, undo})
		return
	}
	latency := d.Latency + d.slow
	if latency <= 0 {
		return
	}
	if d.slow > 0 {
		d.node.diskSlow.Slowed.Add(1)
	}
	d.free = max(d.free, w.now).Add(latency)
	d.pending = append(d.pending, pending{d.free, undo})
	if w.current != nil && w.current.process.node == d.node {
		w.current.busy = max(w.current.busy, d.free)
	}
}

// loseUnsyncedWrites loses what was not synced, the youngest write first.
func (d *disk) loseUnsyncedWrites() {
	now := d.node.world.now
	for i := len(d.pending) - 1; i >= 0 && d.pending[i].synced > now; i-- {
		d.pending[i].undo()
	}
	if d.lying != nil {
		d.lying.Lost.Add(int64(len(d.pending)))
	}
	d.pending, d.free = nil, 0
}

// syncWrites syncs all writes, and ends the lies about them.
func (d *disk) syncWrites() {
	if d.lying != nil {
		d.lying, d.pending = nil, nil
	}
}

// wipeAll empties the disk.
func (d *disk) wipeAll() {
	d.records, d.size, d.buckets, d.pending, d.free, d.damaged = nil, 0, nil, nil, 0, nil
}

// cutTail drops damaged records from the end, as Replay of a real log does.
func (d *disk) cutTail() {
	for n := len(d.records); n > 0 && d.damaged[n-1]; n-- {
		delete(d.damaged, n-1)
		d.size -= int64(len(d.records[n-1])) + recordFrame
		d.records = d.records[: n-1 : n-1]
	}
}

// nodeLog implements env.Log on a node's disk.
type nodeLog struct{ process *process }

// Replay implements env.Log.
func (l *nodeLog) Replay(each func(record []byte) error) error {
	d := l.process.node.disk
	if err := d.checkUsable(l.process); err != nil {
		return err
	}
	d.cutTail()
	for i, record := range d.records {
		if d.damaged[i] {
			return fmt.Errorf("record %d of %s's log: %w", i, d.node.name, ErrDamaged)
		}
		if err := each(bytes.Clone(record)); err != nil {
			return err
		}
	}
	return nil
}

// Append implements env.Log.
func (l *nodeLog) Append(records ...[]byte) error {
	n := l.process.node
	d, w := n.disk, n.world
	if err := d.checkUsable(l.process); err != nil {
		return err
	}
	l.process.crashIfDue(BeforeAppend)
	w.trace.traceContent(w.now, kindAppend, n, len(records), w.hashed.hashRecords(records))
	if l.process.isCrashDue(TornAppend) {
		if len(records) > 1 {
			d.appendRecords(records[:w.drawTear(n, len(records))])
		}
		l.process.endWithinStep()
	}
	before, size := len(d.records), d.size
	d.appendRecords(records)
	l.process.Did(env.BytesWritten, uint64(d.size-size))
	d.recordWrite(func() { d.tearRecords(before, size) })
	l.process.crashIfDue(AfterAppend)
	return nil
}

// appendRecords stores records, which must not change any more.
func (d *disk) appendRecords(records [][]byte) {
	for _, record := range records {
		d.records = append(d.records, d.node.world.records.shareRecord(record))
		d.size += int64(len(record)) + recordFrame
	}
}

// tearRecords loses records that were not synced: some, or all, and the one that was
// half written when the power went is cut off, as Replay would.
func (d *disk) tearRecords(before int, size int64) {
	if len(d.records) < before {
		return
	}
	keep := before
	if unsynced := len(d.records) - before; unsynced > 0 {
		keep += d.node.world.drawTear(d.node, unsynced)
	}
	if d.node.death != nil {
		d.node.death.Lost.Add(int64(len(d.records) - keep))
	}
	for _, record := range d.records[before:keep] {
		size += int64(len(record)) + recordFrame
	}
	d.records, d.size = d.records[:keep:keep], size
}

// Rewrite implements env.Log.
func (l *nodeLog) Rewrite(records [][]byte) error {
	n := l.process.node
	d, w := n.disk, n.world
	if err := d.checkUsable(l.process); err != nil {
		return err
	}
	l.process.crashIfDue(BeforeAppend)
	w.rewrites++
	w.trace.traceContent(w.now, kindRewrite, n, len(records), w.hashed.hashRecords(records))
	old, size := d.records, d.size
	d.records, d.size, d.damaged = nil, 0, nil
	d.appendRecords(records)
	l.process.Did(env.BytesWritten, uint64(d.size))
	d.recordWrite(func() { d.records, d.size = old, size })
	l.process.crashIfDue(AfterAppend)
	return nil
}

// Size implements env.Log.
func (l *nodeLog) Size() int64 { return l.process.node.disk.size }

// Close implements env.Log.
func (l *nodeLog) Close() error { return nil }

// nodeStore implements env.Store on a node's disk.
type nodeStore struct{ process *process }

// Commit implements env.Store.
func (s *nodeStore) Commit(writes []env.Write) error {
	n := s.process.node
	d, w := n.disk, n.world
	if err := d.checkUsable(s.process); err != nil {
		return err
	}
	s.process.crashIfDue(BeforeCommit)
	w.trace.traceContent(w.now, kindCommit, n, len(writes), w.hashed.hashWrites(writes))
	old := d.buckets
	d.buckets = slices.Clone(old)
	for i := range w.grouped.groupByTable(writes) {
		group := &w.grouped.groups[i]
		b := d.findOrAddBucket(group.bucket)
		b.tree = w.tables.putChanges(b.tree, group.changes)
	}
	w.grouped.clearAll()
	s.process.Did(env.BytesWritten, uint64(w.hashed.bytes))
	d.recordWrite(func() { d.buckets = old })
	s.process.crashIfDue(AfterCommit)
	return nil
}

// group is the writes of one table, in their order.
type group struct {
	bucket  env.Bucket
	count   int
	changes []trie.Change
}

// grouping is the room for the groups of one commit: the next takes it again.
type grouping struct {
	groups  []group
	changes []trie.Change // of all groups
}

// maxGrouped is for how many changes the room is kept.
const maxGrouped = 1 << 12

// groupByTable parts writes by table, in the order in which tables come first. A
// store has few tables.
func (g *grouping) groupByTable(writes []env.Write) []group {
	for i := range writes {
		g.findOrAddGroup(writes[i].Bucket).count++
	}
	g.changes = slices.Grow(g.changes, len(writes))[:len(writes)]
	all := g.changes
	for i := range g.groups {
		one := &g.groups[i]
		one.changes, all = all[:0:one.count], all[one.count:]
	}
	for i := range writes {
		one := g.findOrAddGroup(writes[i].Bucket)
		one.changes = append(one.changes, trie.Change{Key: writes[i].Key, Value: writes[i].Value})
	}
	return g.groups
}

func (g *grouping) findOrAddGroup(b env.Bucket) *group {
	for i := range g.groups {
		if g.groups[i].bucket == b {
			return &g.groups[i]
		}
	}
	g.groups = append(g.groups, group{bucket: b})
	return &g.groups[len(g.groups)-1]
}

// clearAll makes the room free, and holds on to no write.
func (g *grouping) clearAll() {
	clear(g.groups)
	g.groups = g.groups[:0]
	clear(g.changes)
	if g.changes = g.changes[:0]; cap(g.changes) > maxGrouped {
		g.changes = nil
	}
}

// findOrAddBucket returns the table with a name, made if there is none. The pointer is valid
// until the next call.
func (d *disk) findOrAddBucket(name env.Bucket) *bucket {
	for i := range d.buckets {
		if d.buckets[i].name == name {
			return &d.buckets[i]
		}
	}
	d.buckets = append(d.buckets, bucket{name, trie.Empty})
	return &d.buckets[len(d.buckets)-1]
}

// treeOf returns the table of a name to be read.
func (d *disk) treeOf(name env.Bucket) *trie.Tree {
	for i := range d.buckets {
		if d.buckets[i].name == name {
			return d.buckets[i].tree
		}
	}
	return trie.Empty
}

// Get implements env.Store.
func (s *nodeStore) Get(b env.Bucket, key []byte) ([]byte, error) {
	d := s.process.node.disk
	if err := d.checkUsable(s.process); err != nil {
		return nil, err
	}
	value, found := d.treeOf(b).Get(key)
	if !found {
		return nil, nil
	}
	return append([]byte{}, value...), nil
}

// Scan implements env.Store.
func (s *nodeStore) Scan(b env.Bucket, from, to []byte, backwards bool, each func(key, value []byte) bool) error {
	d := s.process.node.disk
	if err := d.checkUsable(s.process); err != nil {
		return err
	}
	if backwards {
		d.treeOf(b).ScanBack(from, to, each)
	} else {
		d.treeOf(b).Scan(from, to, each)
	}
	return nil
}

// Close implements env.Store.
func (s *nodeStore) Close() error { return nil }

// hasher hashes what is written, part by part: the length of each and the part.
type hasher struct {
	digest xxhash.Digest
	bytes  int // of the last hashed data, lengths included
}

func (h *hasher) beginRecord() {
	h.digest.Reset()
	h.bytes = 0
}

func (h *hasher) hashPart(part []byte) {
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(part)))
	h.digest.Write(length[:])
	h.digest.Write(part)
	h.bytes += len(length) + len(part)
}

// hashRecords hashes records.
func (h *hasher) hashRecords(records [][]byte) uint64 {
	h.beginRecord()
	for _, record := range records {
		h.hashPart(record)
	}
	return h.digest.Sum64()
}

func (h *hasher) hashWrites(writes []env.Write) uint64 {
	h.beginRecord()
	for i := range writes {
		h.hashPart([]byte(writes[i].Bucket))
		h.hashPart(writes[i].Key)
		h.hashPart(writes[i].Value)
	}
	return h.digest.Sum64()
}

// endWithinStep ends the process that is in a step, at this instruction.
func (l *process) endWithinStep() {
	l.struck = true
	_, _ = l.node.world.orders.Kill(l.node, &fault.Order{Verb: fault.Crash, Node: l.node.name}) // it runs
	panic(roles.Killed{})
}
