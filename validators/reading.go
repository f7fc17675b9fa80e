package validators

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// reading is what a frame says. Decoding is pure, and so is checking by given sets,
// so the work of one validator of a process counts for all that the frame reaches.
// Messages are never changed after that. Failed checks are not stored.
type reading struct {
	message  any
	sets     simplex.Sets // that it was checked by; nil before
	verified simplex.Verified
}

// decodeResult is a frame's reading, or why it has none.
type decodeResult struct {
	reading *reading
	err     error
}

// slice is a frame's place in memory: while it is held, no other frame can be at
// it.
type slice struct {
	first  *byte
	length int
}

// isBroadcast reports whether a frame's kind is sent to all.
func isBroadcast(frame []byte) bool {
	return len(frame) > 0 && (frame[0] == mesh.Proposal || frame[0] == mesh.Vote || frame[0] == mesh.Certificate)
}

// readFrame decodes a frame, unless that was done.
func (m *Memo) readFrame(frame []byte) (*reading, error) {
	if !isBroadcast(frame) {
		return readAnew(frame)
	}
	if m.slices == nil {
		d := m.readBytes(frame)
		return d.reading, d.err
	}
	d := m.slices.Do(nil, slice{&frame[0], len(frame)}, func() (decodeResult, bool) {
		d := m.readBytes(frame)
		return d, d.err == nil
	})
	return d.reading, d.err
}

// keepSentFrame keeps what a frame says for its receivers, if senders do so.
func (m *Memo) keepSentFrame(frame []byte, message any) {
	if m.asSent && isBroadcast(frame) {
		m.slices.Do(nil, slice{&frame[0], len(frame)}, func() (decodeResult, bool) {
			return decodeResult{reading: &reading{message: message}}, true
		})
	}
}

// readBytes decodes a frame, unless one of the same bytes was.
func (m *Memo) readBytes(frame []byte) decodeResult {
	return memo.DoBytes(m.frames, frame, func() (d decodeResult, keep bool) {
		d.reading, d.err = readAnew(frame)
		return d, d.err == nil
	})
}

func readAnew(frame []byte) (*reading, error) {
	message, err := decodeFrame(frame)
	if err != nil {
		return nil, err
	}
	return &reading{message: message}, nil
}

// checkMessage returns the message verified by sets, by uncached unless that was done.
func (m *Memo) checkMessage(r *reading, sets simplex.Sets, uncached func() (simplex.Verified, error)) (simplex.Verified, error) {
	m.checking.Lock()
	by, verified := r.sets, r.verified
	m.checking.Unlock()
	if by != nil && equalSets(by, sets) {
		return verified, nil
	}
	verified, err := uncached()
	if err == nil {
		m.checking.Lock()
		r.sets, r.verified = sets, verified
		m.checking.Unlock()
	}
	return verified, err
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
