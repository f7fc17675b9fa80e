package rations

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Fault is what a peer may be blamed for.
type Fault uint8

// The faults.
const (
	Invalid Fault = iota // what no honest validator sends
	Unasked              // an answer that was not asked for
)

// Answer is a kind of message that only comes when it was asked for.
type Answer uint8

// The answers.
const (
	Body  Answer = iota // of a block
	Range               // of finalized blocks
	answers
)

// Frame is what came from a peer.
type Frame struct {
	From types.Address
	Data []byte
}

// Rations is what the peers of a validator may use of it.
type Rations struct {
	accounts map[types.Address]*account
	order    []*account // all, as they became known
	turn     [classes]int
	passed   [classes]int // frames of more urgent classes since the last of this
	queued   [classes]int // frames waiting
	bytes    int          // waiting, of all
	frames   int
	view     types.View
}

// account is the account of one peer.
type account struct {
	peer     types.Address
	levels   [resources]level
	waiting  [classes][][]byte
	single   [classes][1][]byte // where waiting begins: mostly one frame waits
	bytes    int                // waiting
	frames   int
	expected [answers]int
	muted    ban
	shut     ban
}

// ban is a time for which less is taken of a peer, or nothing.
type ban struct {
	until types.Time // 0: there was none
	times int        // how often in a row
}

// isOn reports whether it lasts.
func (b *ban) isOn(now types.Time) bool { return b.until > now }

// beginBan begins one, for twice as long as the one before.
func (b *ban) beginBan(now types.Time) {
	if b.until > 0 && now > b.until.Add(forgiven) {
		b.times = 0
	}
	b.until = now.Add(min(firstBan<<min(b.times, 16), maxBan))
	b.times++
}

// level is what a ration holds, since a time and a view. It may be in debt.
type level struct {
	left int64
	at   types.Time
	view types.View
	rest int64 // nanoseconds times units that did not make a unit yet
}

// New returns rations without peers.
func New() *Rations { return &Rations{accounts: map[types.Address]*account{}} }

// Keep forgets all but the given peers, except those that are muted or shut out.
func (r *Rations) Keep(now types.Time, peers []types.Validator) {
	kept := r.order[:0]
	for _, a := range r.order {
		named := a.shut.isOn(now) || a.muted.isOn(now)
		for i := range peers {
			named = named || peers[i].Address == a.peer
		}
		if named {
			kept = append(kept, a)
			continue
		}
		r.dropWaiting(a, Votes, Blocks, Bulk)
		delete(r.accounts, a.peer)
	}
	clear(r.order[len(kept):])
	r.order = kept
	for i := range peers {
		r.findOrAddAccount(now, peers[i].Address)
	}
}

func (r *Rations) findOrAddAccount(now types.Time, peer types.Address) *account {
	if a := r.accounts[peer]; a != nil {
		return a
	}
	a := &account{peer: peer}
	for i := range a.levels {
		a.levels[i] = level{left: table[i].most, at: now, view: r.view}
	}
	r.accounts[peer] = a
	r.order = append(r.order, a)
	return a
}

// Pace says that the chain has come to a view, which fills some rations.
func (r *Rations) Pace(view types.View) { r.view = max(r.view, view) }

// fillLevel brings a level up to now.
func (r *Rations) fillLevel(now types.Time, a *account, of Resource) *level {
	l, t := &a.levels[of], &table[of]
	if now > l.at {
		passed := min(int64(now-l.at), int64(time.Minute)) // all rations fill within it
		gained := passed*t.second + l.rest
		l.left, l.rest, l.at = l.left+gained/int64(time.Second), gained%int64(time.Second), now
	}
	if r.view > l.view {
		l.left += int64(min(r.view-l.view, types.View(t.most))) * t.view
		l.view = r.view
	}
	if l.left >= t.most {
		l.left, l.rest = t.most, 0
	}
	return l
}

// Offer takes a frame of a peer for later. It answers whether it was taken, and
// whether the peer is to be shut out for it. asked is the request that it answers,
// if that was made (Answers): such a frame costs nothing.
func (r *Rations) Offer(now types.Time, f Frame, class Class, asked bool) (taken, shut bool) {
	a := r.accounts[f.From]
	if a == nil || a.shut.isOn(now) {
		return false, false
	}
	frames, bytes := Frames, Bytes
	if class == Bulk {
		frames, bytes = BulkFrames, BulkBytes
	}
	size := int64(len(f.Data))
	if !asked && (class == Bulk && a.muted.isOn(now) || r.fillLevel(now, a, frames).left < 1 || r.fillLevel(now, a, bytes).left < size) {
		return false, r.takePressure(now, a, size)
	}
	if a.frames >= MaxWaitingFrames || !r.hasRoomFor(a, len(f.Data)) {
		return false, false // that it is not attended to is not the peer's fault
	}
	if !asked {
		a.levels[frames].left--
		a.levels[bytes].left -= size
	}
	if len(a.waiting[class]) == 0 {
		a.waiting[class] = a.single[class][:0]
	}
	a.waiting[class] = append(a.waiting[class], f.Data)
	r.queued[class]++
	a.bytes, a.frames = a.bytes+len(f.Data), a.frames+1
	r.bytes, r.frames = r.bytes+len(f.Data), r.frames+1
	return true, false
}

// hasRoomFor reports whether size more bytes of a peer may wait.
func (r *Rations) hasRoomFor(a *account, size int) bool {
	mine := a.bytes + size
	if mine <= minShare {
		return true
	}
	return mine <= MaxWaitingBytes/4 && r.bytes+size <= MaxWaitingBytes
}

// Next removes and returns the next frame: of the most urgent class, of each peer
// in turn. A class that was skipped maxTurns times gets its turn.
func (r *Rations) Next() (Frame, bool) {
	for class := range Class(classes) {
		if r.passed[class] >= maxTurns {
			if f, ok := r.nextOf(class); ok {
				return f, true
			}
			r.passed[class] = 0
		}
	}
	for class := range Class(classes) {
		if f, ok := r.nextOf(class); ok {
			for later := class + 1; later < classes; later++ {
				r.passed[later]++
			}
			return f, true
		}
	}
	return Frame{}, false
}

func (r *Rations) nextOf(class Class) (Frame, bool) {
	if r.queued[class] == 0 {
		return Frame{}, false
	}
	for i := range r.order {
		at := (r.turn[class] + i) % len(r.order)
		a := r.order[at]
		if len(a.waiting[class]) == 0 {
			continue
		}
		data := a.waiting[class][0]
		a.waiting[class][0] = nil
		if a.waiting[class] = a.waiting[class][1:]; len(a.waiting[class]) == 0 {
			a.waiting[class], a.single[class][0] = nil, nil
		}
		a.bytes, a.frames = a.bytes-len(data), a.frames-1
		r.bytes, r.frames = r.bytes-len(data), r.frames-1
		r.queued[class]--
		r.turn[class], r.passed[class] = at+1, 0
		return Frame{a.peer, data}, true
	}
	return Frame{}, false
}

// Waiting is how many frames wait, of all peers.
func (r *Rations) Waiting() int { return r.frames }

// Spend takes n of a peer's ration. If it has less left, that ration is untouched
// and its patience is charged: ok is false, and muted reports that the peer is
// muted from now on.
func (r *Rations) Spend(now types.Time, peer types.Address, of Resource, n int) (ok, muted bool) {
	a := r.accounts[peer]
	if a == nil {
		return false, false
	}
	if of == Recoveries && a.muted.isOn(now) {
		of = heard
	}
	l := r.fillLevel(now, a, of)
	if l.left < int64(n) && l.left < table[of].most { // who used nothing may do a thing beyond the ration once
		return false, r.takePatience(now, a, excessCost)
	}
	l.left -= int64(n)
	return true, false
}

// Owe takes n of a peer's ration, which may come to be in debt.
func (r *Rations) Owe(now types.Time, peer types.Address, of Resource, n int) {
	if a := r.accounts[peer]; a != nil {
		r.fillLevel(now, a, of).left -= int64(n)
	}
}

// Expect says that a peer was asked for something.
func (r *Rations) Expect(peer types.Address, what Answer) {
	if a := r.accounts[peer]; a != nil {
		a.expected[what] = min(a.expected[what]+1, MaxExpected)
	}
}

// Answers reports whether a peer was asked for the answer that it sends now; each
// request is answered once.
func (r *Rations) Answers(peer types.Address, what Answer) bool {
	a := r.accounts[peer]
	if a == nil || a.expected[what] == 0 {
		return false
	}
	a.expected[what]--
	return true
}

// Blame notes a fault of a peer, and answers whether the peer is muted from now on.
func (r *Rations) Blame(now types.Time, peer types.Address, fault Fault) (muted bool) {
	a := r.accounts[peer]
	if a == nil {
		return false
	}
	cost := int64(invalidCost)
	if fault == Unasked {
		cost = unaskedCost
	}
	return r.takePatience(now, a, cost)
}

// takePatience takes from a peer's patience, and mutes the peer if none is left.
func (r *Rations) takePatience(now types.Time, a *account, cost int64) (muted bool) {
	l := r.fillLevel(now, a, patience)
	l.left -= cost
	if l.left > 0 || a.muted.isOn(now) {
		return false
	}
	a.muted.beginBan(now)
	l.left = table[patience].most
	r.dropWaiting(a, Bulk)
	return true
}

// takePressure takes a dropped frame from a peer's pressure, and shuts the peer out if none is
// left.
func (r *Rations) takePressure(now types.Time, a *account, size int64) (shut bool) {
	l := r.fillLevel(now, a, pressure)
	l.left -= excessCost * (1 + size/excessBytes)
	if l.left > 0 {
		return false
	}
	a.shut.beginBan(now)
	l.left = table[pressure].most
	r.dropWaiting(a, Votes, Blocks, Bulk)
	return true
}

// dropWaiting loses a peer's waiting frames of some classes.
func (r *Rations) dropWaiting(a *account, of ...Class) {
	for _, class := range of {
		r.queued[class] -= len(a.waiting[class])
		a.frames, r.frames = a.frames-len(a.waiting[class]), r.frames-len(a.waiting[class])
		for _, data := range a.waiting[class] {
			a.bytes, r.bytes = a.bytes-len(data), r.bytes-len(data)
		}
		a.waiting[class], a.single[class][0] = nil, nil
	}
}

// Muted reports whether of a peer only frames of the consensus are taken.
func (r *Rations) Muted(now types.Time, peer types.Address) bool {
	a := r.accounts[peer]
	return a != nil && a.muted.isOn(now)
}

// Shut reports whether a peer is shut out.
func (r *Rations) Shut(now types.Time, peer types.Address) bool {
	a := r.accounts[peer]
	return a != nil && a.shut.isOn(now)
}

// Deadline returns when the next ban ends, or types.Never.
func (r *Rations) Deadline(now types.Time) types.Time {
	at := types.Never
	for _, a := range r.order {
		if a.shut.isOn(now) {
			at = min(at, a.shut.until)
		}
	}
	return at
}
