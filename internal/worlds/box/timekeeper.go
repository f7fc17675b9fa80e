package box

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// How long it is told that the machine's clock was set, and from which difference on.
const (
	stepAge   = 10 * time.Minute
	leastTold = time.Second
)

// maxRecordBytes bounds the record of time travel: a few numbers.
const maxRecordBytes = 4 << 10

// travelRecord is the file that a restart continues from: the clock of time travel and its
// goal, which belong together (decision C8).
type travelRecord struct {
	Number      uint64        `json:"number,omitempty"`
	Nanoseconds time.Duration `json:"offset_ns"`
	To          types.Height  `json:"to,omitempty"`
	Every       bool          `json:"every,omitempty"`
}

// timekeeper keeps the network's clock where its blocks are: it moves the clock by time travel,
// raises it to the newest stamp at a start, and tells how the machine's clock was set.
type timekeeper struct {
	clock      *clock.Clock
	log        *slog.Logger
	path       string // of the record; "": none is kept
	durability store.Durability
	elsewhere  bool // the nodes run elsewhere, and raise their clocks themselves

	mu        sync.Mutex
	travel    network.Travel
	toldSteps uint64
	raised    struct { // at the start
		at types.Time
		by time.Duration
	}
}

// newTimekeeper reads the record of a home. A record that cannot be read is told and counts as
// none: the clock then begins with the newest block, and an advance ends where it was.
func newTimekeeper(o *origin, c *clock.Clock, log *slog.Logger) *timekeeper {
	k := &timekeeper{clock: c, log: log, durability: o.config.Durability, elsewhere: o.config.Elsewhere != nil}
	if o.home == nil || o.config.Here != nil && !o.config.Here.Driven {
		return k
	}
	k.path = o.home.Clock()
	travel, err := readTravel(k.path)
	if err != nil {
		k.log.Warn("the record of time travel cannot be read; the clock goes on from the newest block, and an advance that was "+
			"under way ends there", "file", k.path, "error", err)
	}
	k.travel = travel
	c.SetOffset(travel.Clock)
	return k
}

func readTravel(path string) (t network.Travel, err error) {
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return t, nil
	case err != nil:
		return t, err
	case len(data) > maxRecordBytes:
		return t, fmt.Errorf("%d bytes, at most %d", len(data), maxRecordBytes)
	}
	var r travelRecord
	if err := json.Unmarshal(data, &r); err != nil {
		return t, err
	}
	return network.Travel{Number: r.Number, Clock: r.Nanoseconds, Goal: simplex.Goal{Height: r.To, Every: r.Every}}, nil
}

func (k *timekeeper) travelRecord() network.Travel {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.travel
}

// keepRecord replaces the record.
func (k *timekeeper) keepRecord(t network.Travel) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.path != "" {
		data, err := json.Marshal(travelRecord{t.Number, t.Clock, t.Goal.Height, t.Goal.Every})
		if err == nil {
			err = home.WriteFile(k.path, append(data, '\n'), k.durability)
		}
		if err != nil {
			return err
		}
	}
	k.travel = t
	return nil
}

// raiseClock raises the clock to the stamp of the block that a validator begins with: the machine's
// clock may have been put back while the network was down (decision C7).
func (k *timekeeper) raiseClock(head *types.Header) {
	by := head.Timestamp.Time().Sub(k.clock.Now())
	if by <= 0 || k.elsewhere {
		return
	}
	k.clock.Raise(head.Timestamp.Time())
	if by < leastTold {
		return
	}
	k.mu.Lock()
	k.raised.by = max(k.raised.by, by)
	k.raised.at = k.clock.Now()
	k.mu.Unlock()
	k.log.Warn("this machine's clock is earlier than the newest block; the network's time goes on from that block", "by", by)
}

// observeClockStep tells of a step of the machine's clock, once. A machine that slept while others made
// blocks rejoins them, by its own clock at most.
func (k *timekeeper) observeClockStep(seen *validators.FinalBlocks) {
	last := seen.Results[len(seen.Results)-1]
	stamp := last.Block.Header.Timestamp.Time()
	if now := k.clock.Now(); stamp.Sub(now) > simplex.TimingOf(last.State.NextParams()).Drift() {
		k.clock.Rejoin(stamp)
	}
	step := k.clock.LastStep()
	k.mu.Lock()
	isNew := step.Count > k.toldSteps
	k.toldSteps = step.Count
	k.mu.Unlock()
	if isNew {
		k.log.Warn("this machine's clock was set, or the machine slept; the network's time goes on without that step", "by", step.By)
	}
}

// clockNotices are what to tell people of the machine's clock now.
func (k *timekeeper) clockNotices() (all []string) {
	now, step := k.clock.Now(), k.clock.LastStep()
	k.mu.Lock()
	defer k.mu.Unlock()
	if by := k.raised.by; by > 0 && now.Sub(k.raised.at) < stepAge {
		all = append(all, fmt.Sprintf("this machine's clock was %v earlier than the newest block at the start; "+
			"the network's time went on from that block", by.Round(time.Second/10)))
	}
	if age := now.Sub(step.At); step.Count > 0 && age < stepAge {
		all = append(all, fmt.Sprintf("%s %s ago; the network's time goes on without that step", stepWords(step.By), age.Round(time.Second)))
	}
	return all
}

func stepWords(by time.Duration) string {
	if by < 0 {
		return fmt.Sprintf("this machine's clock was put back by %v", by.Abs().Round(time.Second/10))
	}
	return fmt.Sprintf("this machine's clock was put forward by %v, or the machine slept,", by.Round(time.Second/10))
}
