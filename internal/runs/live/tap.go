package live

import (
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/observe"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// maxHeard bounds the frames that wait to be judged. They are judged with each
// final block and whenever the script looks, so that no script gets near.
const maxHeard = 1 << 17

// tap queues validators' frames until they can be judged: the sender of a vote must
// not wait for the audit of a state. It is safe for concurrent use.
type tap struct {
	mu     sync.Mutex
	heard  []sentFrame
	last   map[types.Address]*byte // the latest frame of each sender; looked up only
	missed bool                    // more than maxHeard were heard
}

type sentFrame struct {
	from  types.Address
	frame []byte
}

// keepFrame implements box.Config.Overhear. A frame that goes to all peers in turn is
// kept once.
func (h *tap) keepFrame(from types.Address, frame []byte) {
	if len(frame) == 0 || len(frame) > observe.MaxVoteBytes {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last[from] == &frame[0] {
		return
	}
	if h.last == nil {
		h.last = map[types.Address]*byte{}
	}
	h.last[from] = &frame[0]
	if len(h.heard) == maxHeard {
		h.missed = true
		return
	}
	h.heard = append(h.heard, sentFrame{from, frame})
}

// takeFrames returns what was heard since it was last called.
func (h *tap) takeFrames() (heard []sentFrame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	heard, h.heard = h.heard, nil
	return heard
}

// hasOverflowed says whether a frame was ever missed.
func (h *tap) hasOverflowed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.missed
}

// linkReports queues gateways' reports on connections until they can be judged. It is
// safe for concurrent use.
type linkReports struct {
	mu    sync.Mutex
	heard []linkReport
}

type linkReport struct {
	validator types.Address
	report    gateway.Report
}

// queueReport implements box.Config.Gateway. It drops all but arrivals and leaves, which
// are as many as runners connect and disconnect.
func (l *linkReports) queueReport(validator types.Address, report gateway.Report) {
	switch report.(type) {
	case gateway.Arrived, gateway.Left:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.heard = append(l.heard, linkReport{validator, report})
	}
}

// takeReports returns what was heard since it was last called.
func (l *linkReports) takeReports() (heard []linkReport) {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard, l.heard = l.heard, nil
	return heard
}
