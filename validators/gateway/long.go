package gateway

import (
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// longFrames is the ration of long frames of each runner. It outlasts a connection, so that
// a runner that reconnects gets no more of it.
//
// Spec: decision J24.
type longFrames struct {
	// used is when each ration is full again. A key whose time has passed has all of it.
	used  map[types.PublicKey]types.Time
	swept int // entries after the last sweep
}

// minSweep is from how many entries on those that are over are looked for.
const minSweep = 64

// allowsFrame reports whether the ration of a runner covers a frame, and takes it from the ration
// if so. size is in bytes, with the type.
func (l *longFrames) allowsFrame(now types.Time, of types.PublicKey, size int) bool {
	long := push.Long(size)
	if long == 0 {
		return true
	}
	full := max(l.used[of], now).Add(second * time.Duration(long) / push.LongBytesPerSecond)
	if full > now.Add(second*push.LongBytes/push.LongBytesPerSecond) {
		return false
	}
	if l.used == nil {
		l.used = map[types.PublicKey]types.Time{}
	}
	l.used[of] = full
	l.forgetFull(now)
	return true
}

// forgetFull forgets the rations that are full, when the entries have doubled.
func (l *longFrames) forgetFull(now types.Time) {
	if len(l.used) < max(2*l.swept, minSweep) {
		return
	}
	for key, full := range l.used { // order: each is judged by itself
		if full <= now {
			delete(l.used, key)
		}
	}
	l.swept = len(l.used)
}
