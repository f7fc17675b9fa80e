package validators

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// Limits of the frames whose reading a Memo keeps: more than the validators of
// one process broadcast in several views.
const (
	memoFrames     = 4096
	memoFrameBytes = 16 << 20 // of all of them
)

// reading is what a frame says. Decoding is pure, and so is checking by given
// sets, so that what one validator of a process has read and checked is so for
// all whom the frame reaches. Messages are never changed after that. What does
// not hold is not kept.
type reading struct {
	message  any
	sets     simplex.Sets // that it was checked by; nil before
	verified simplex.Verified
}

// readings are the frames read last, by their bytes.
type readings struct {
	frames map[string]*reading
	order  []string // oldest first
	bytes  int
}

// broadcasts reports whether a frame is of a kind that goes to all.
func broadcasts(frame []byte) bool {
	return len(frame) > 0 && (frame[0] == mesh.Proposal || frame[0] == mesh.Vote || frame[0] == mesh.Certificate)
}

// read decodes a frame, unless that was done. A nil Memo always does.
func (m *Memo) read(frame []byte) (*reading, error) {
	if m == nil || !broadcasts(frame) {
		return readAnew(frame)
	}
	m.mu.Lock()
	known := m.heard.frames[string(frame)]
	m.mu.Unlock()
	if known != nil {
		return known, nil
	}
	fresh, err := readAnew(frame)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard.keep(frame, fresh)
	return fresh, nil
}

func readAnew(frame []byte) (*reading, error) {
	message, err := decodeFrame(frame)
	if err != nil {
		return nil, err
	}
	return &reading{message: message}, nil
}

func (r *readings) keep(frame []byte, fresh *reading) {
	if r.frames[string(frame)] != nil || len(frame) > memoFrameBytes {
		return
	}
	for len(r.order) >= memoFrames || r.bytes+len(frame) > memoFrameBytes {
		delete(r.frames, r.order[0])
		r.bytes -= len(r.order[0])
		r.order = r.order[1:]
	}
	key := string(frame)
	r.frames[key] = fresh
	r.order = append(r.order, key)
	r.bytes += len(frame)
}

// check returns the message verified by sets, by anew unless that was done.
func (m *Memo) check(r *reading, sets simplex.Sets, anew func() (simplex.Verified, error)) (simplex.Verified, error) {
	if m == nil {
		return anew()
	}
	m.mu.Lock()
	by, verified := r.sets, r.verified
	m.mu.Unlock()
	if by != nil && equalSets(by, sets) {
		return verified, nil
	}
	verified, err := anew()
	if err == nil {
		m.mu.Lock()
		r.sets, r.verified = sets, verified
		m.mu.Unlock()
	}
	return verified, err
}

// maxSets is how many sets a Memo knows: those of this epoch and the next, and
// of validators that are behind.
const maxSets = 4

// same returns the sets that another validator has, where they are equal, so
// that they are compared once an epoch and not once a message.
func (m *Memo) same(sets simplex.Sets) simplex.Sets {
	if m == nil {
		return sets
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, known := range m.sets {
		if equalSets(known, sets) {
			return known
		}
	}
	if len(m.sets) == maxSets {
		m.sets = m.sets[1:]
	}
	m.sets = append(m.sets, sets)
	return sets
}

// equalSets compares by content, unless they are one.
func equalSets(a, b simplex.Sets) bool {
	if len(a) == len(b) && len(a) > 0 && &a[0] == &b[0] {
		return true
	}
	return slices.EqualFunc(a, b, func(a, b types.ValidatorSet) bool {
		return a.Epoch == b.Epoch && slices.Equal(a.Members, b.Members)
	})
}
