package api

import (
	"context"
	"net/http"
	"sync"
)

// readTurns lets the reads of a client run in turn, so that those of all others find a host of programs
// free. It is safe for concurrent use, and nil holds nobody up.
//
// Spec: decision C18.
type readTurns struct {
	mu sync.Mutex
	of map[readClient]*readQueue // of those that read just now
}

// readQueue is the reads of a client that run or wait.
type readQueue struct {
	count   int
	running chan struct{} // as long as may run at once
}

func newReadTurns() *readTurns { return &readTurns{of: map[readClient]*readQueue{}} }

// readLimits is how many reads of a client may be there at once, and how many of them run.
func (c readClient) readLimits() (all, running int) {
	if c.isOperator() {
		return OperatorReads, OperatorBudgets
	}
	return ClientReads, 1
}

// takeTurn waits for the turn of a client's read, which it has until end. Too many that wait are refused.
func (t *readTurns) takeTurn(ctx context.Context, c readClient) (end func(), err error) {
	if t == nil {
		return func() {}, nil
	}
	all, running := c.readLimits()
	t.mu.Lock()
	q := t.of[c]
	if q == nil {
		q = &readQueue{running: make(chan struct{}, running)}
		t.of[c] = q
	}
	if q.count >= all {
		t.mu.Unlock()
		return nil, Refuse(http.StatusTooManyRequests, "too_many_reads", "%d reads of %s run or wait already", all, c.describeClient()).
			Hint("Wait for the answers of some.")
	}
	q.count++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if q.count--; q.count == 0 {
			delete(t.of, c)
		}
	}
	select {
	case q.running <- struct{}{}:
		return func() {
			<-q.running
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
