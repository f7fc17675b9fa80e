package pyhost

import (
	"container/list"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of the reads that are remembered.
const (
	maxHints    = 1024 // handlers remembered
	maxHintKeys = 8    // keys of one handler
)

// site is a handler of one code.
type site struct {
	code    types.Hash
	handler string
}

// hints remembers which keys a handler read last time, so that their values
// are sent with the next call. It is only about speed.
type hints struct {
	mu     sync.Mutex
	known  map[site]*list.Element
	recent *list.List // of hint, the most recently used first
}

type hint struct {
	site site
	keys [][]byte
}

func newHints() *hints { return &hints{known: map[site]*list.Element{}, recent: list.New()} }

func (h *hints) hintsFor(s site) [][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.known[s]
	if e == nil {
		return nil
	}
	h.recent.MoveToFront(e)
	return e.Value.(hint).keys
}

// putHints replaces the keys remembered for s; no keys leave them as they are.
func (h *hints) putHints(s site, keys [][]byte) {
	if len(keys) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.known[s]; e != nil {
		e.Value = hint{s, keys}
		return
	}
	h.known[s] = h.recent.PushFront(hint{s, keys})
	if h.recent.Len() > maxHints {
		last := h.recent.Remove(h.recent.Back()).(hint)
		delete(h.known, last.site)
	}
}
