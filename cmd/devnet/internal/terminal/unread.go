package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
)

// unreadPatience is how long an output may take to be read once the command is asked to end.
const unreadPatience = time.Second

// maxUnreadLines is how many lines for standard error wait for who reads them.
const maxUnreadLines = 1024

var errUnread = errors.New("nobody reads the output")

// EndableWriter is an output whose writes wait until they are read. From the end of a context on they wait
// unreadPatience together, and then fail.
type EndableWriter struct {
	To    io.Writer
	Ended context.Context

	mu  sync.Mutex
	cut bool
}

func (w *EndableWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return 0, errUnread
	}
	type written struct {
		n   int
		err error
	}
	done, data := make(chan written, 1), bytes.Clone(p)
	go func() {
		n, err := w.To.Write(data)
		done <- written{n, err}
	}()
	select {
	case one := <-done:
		return one.n, one.err
	case <-w.Ended.Done():
	}
	patience := time.NewTimer(unreadPatience)
	defer patience.Stop()
	select {
	case one := <-done:
		return one.n, one.err
	case <-patience.C:
		w.cut = true
		return 0, errUnread
	}
}

// queuedWriter is an output whose writes never wait. It keeps maxUnreadLines of them for the reader, and
// says how many it left out.
type queuedWriter struct {
	mu      sync.Mutex
	queue   chan []byte // nil: it is closed
	leftOut int
	written chan struct{} // closed once all is written
}

// NewQueuedWriter writes to to in the background.
func NewQueuedWriter(to io.Writer) *queuedWriter {
	w := &queuedWriter{queue: make(chan []byte, maxUnreadLines), written: make(chan struct{})}
	go func(queue <-chan []byte) {
		defer close(w.written)
		for p := range queue {
			_, _ = to.Write(p)
		}
	}(w.queue)
	return w
}

func (w *queuedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue == nil {
		return len(p), nil
	}
	if w.leftOut > 0 && len(w.queue) < cap(w.queue)-1 {
		w.queue <- fmt.Appendf(nil, "Left out: %s that nobody read.\n", plural.Of(w.leftOut, "line"))
		w.leftOut = 0
	}
	if w.leftOut > 0 || len(w.queue) == cap(w.queue) {
		w.leftOut++
		return len(p), nil
	}
	w.queue <- bytes.Clone(p)
	return len(p), nil
}

// FlushAndClose waits until all is written, at most unreadPatience.
func (w *queuedWriter) FlushAndClose() {
	w.mu.Lock()
	if w.queue != nil {
		close(w.queue)
		w.queue = nil
	}
	w.mu.Unlock()
	patience := time.NewTimer(unreadPatience)
	defer patience.Stop()
	select {
	case <-w.written:
	case <-patience.C:
	}
}
