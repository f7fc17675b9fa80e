package gateway

import (
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
)

// recent remembers when the last frames of a stream came: at most as many as its
// limit lets through in a second.
type recent []types.Time

// allowsOne reports whether one more is within the limit, and remembers it if so.
func (r *recent) allowsOne(now types.Time, limit int) bool {
	kept := (*r)[:0]
	for _, at := range *r {
		if now < at.Add(second) {
			kept = append(kept, at)
		}
	}
	*r = kept
	if len(kept) >= limit {
		return false
	}
	*r = append(kept, now)
	return true
}

// window counts the events of the last second, by key.
type window[K comparable] struct {
	counts map[K]int
	queue  []occurrence[K] // oldest first
}

type occurrence[K comparable] struct {
	at types.Time
	by K
}

// isWithin reports whether one more of a key is within the limit.
func (w *window[K]) isWithin(now types.Time, by K, limit int) bool {
	gone := 0
	for gone < len(w.queue) && now >= w.queue[gone].at.Add(second) {
		old := w.queue[gone].by
		if w.counts[old]--; w.counts[old] == 0 {
			delete(w.counts, old)
		}
		gone++
	}
	w.queue = w.queue[gone:]
	if len(w.queue) == 0 {
		w.queue = nil // what was dropped in front goes with it
	}
	return w.counts[by] < limit && len(w.queue) < MaxHellos
}

// countOne counts one.
func (w *window[K]) countOne(now types.Time, by K) {
	if w.counts == nil {
		w.counts = map[K]int{}
	}
	w.counts[by]++
	w.queue = append(w.queue, occurrence[K]{now, by})
}

// hellos are the rates of Hellos. Every one that was read counts, good or bad, but for
// one that is refused for its rate.
type hellos struct {
	byIdentity window[types.PublicKey]
	byAddress  window[connection.Address]
}

// admitPeer reports whether one more of a peer is within the limits, and counts it if so.
func (h *hellos) admitPeer(now types.Time, p *peer, limits *params.Params) bool {
	ok := h.byIdentity.isWithin(now, p.key, int(limits.HelloPerIdentity)) && h.byAddress.isWithin(now, p.remote, int(limits.HelloPerAddress))
	if ok {
		h.byIdentity.countOne(now, p.key)
		h.byAddress.countOne(now, p.remote)
	}
	return ok
}
