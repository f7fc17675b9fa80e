package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// hearPatience bounds the wait for validators' events before a block was final: a
// validator that has ended sends no more.
const hearPatience = 2 * time.Second

// hearUpTo returns when the events of running validators until now were read, unless
// that was done at this height. Only scripts need that order.
func (c *Backend) hearUpTo(height types.Height) {
	if !c.script {
		return
	}
	for before := c.heardUpTo.Load(); ; before = c.heardUpTo.Load() {
		if before >= int64(height) {
			return
		}
		if c.heardUpTo.CompareAndSwap(before, int64(height)) {
			break
		}
	}
	ctx, cancel := context.WithTimeout(c.ctx, hearPatience)
	defer cancel()
	var asked sync.WaitGroup
	for _, m := range c.allMembers() {
		m.mu.Lock()
		l := m.life
		m.mu.Unlock()
		if l != nil && m.canAnswer() && m.isFollowed() {
			asked.Go(func() { m.catchUp(ctx, l) })
		}
	}
	asked.Wait()
}

// catchUp waits until what a validator has said until now was heard.
func (m *member) catchUp(ctx context.Context, l *life) {
	seq, missed, err := m.client.Latest(ctx)
	if err != nil {
		return // it has ended, or is about to
	}
	if missed && m.backend.script {
		m.backend.keepFirstError(fmt.Errorf("%s said more than is kept for its driver", m.identity.Name))
	}
	for l.seq.Load() < seq {
		select {
		case <-l.heard:
		case <-l.ctx.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}
