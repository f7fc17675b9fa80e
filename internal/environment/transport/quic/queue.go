package quic

import "time"

// queue holds the frames of one kind that wait for one peer, oldest first. Its
// owner guards it.
type queue struct {
	frames []queuedFrame
	bytes  int // of all frames, without their lengths

	maxFrames, maxBytes int
}

type queuedFrame struct {
	frame []byte
	at    time.Time // when it was sent
}

// pushFrame reports whether there was room.
func (q *queue) pushFrame(frame []byte, now time.Time) bool {
	if len(q.frames) >= q.maxFrames || q.bytes+len(frame) > q.maxBytes {
		return false
	}
	q.frames = append(q.frames, queuedFrame{frame, now})
	q.bytes += len(frame)
	return true
}

// dropOlderThan drops what was sent before the given time, and returns how many.
func (q *queue) dropOlderThan(before time.Time) (dropped uint64) {
	n := 0
	for n < len(q.frames) && q.frames[n].at.Before(before) {
		q.bytes -= len(q.frames[n].frame)
		n++
	}
	q.frames = dropFirst(q.frames, n)
	return uint64(n)
}

// takeBatch moves the oldest frames into batch: at least one if the queue is not empty,
// and more while all are at most limit bytes.
func (q *queue) takeBatch(batch [][]byte, limit int) [][]byte {
	n, size := 0, 0
	for n < len(q.frames) && (n == 0 || size+len(q.frames[n].frame) <= limit) {
		frame := q.frames[n].frame
		size += len(frame)
		batch = append(batch, frame)
		n++
	}
	q.bytes -= size
	q.frames = dropFirst(q.frames, n)
	return batch
}

// dropFirst drops the first n and lets their frames go. The rest moves to the front
// when it is no more than was dropped, so that nothing moves twice.
func dropFirst(frames []queuedFrame, n int) []queuedFrame {
	if rest := len(frames) - n; rest > n {
		clear(frames[:n])
		return frames[n:]
	}
	rest := copy(frames, frames[n:])
	clear(frames[rest:])
	return frames[:rest]
}
