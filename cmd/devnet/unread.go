package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/plural"
)

// unreadPatience is how long an output may take to be read once the command is asked to end.
const unreadPatience = time.Second

// maxUnreadLines is how many lines for standard error wait for who reads them.
const maxUnreadLines = 1024

var errUnread = errors.New("nobody reads the output")

// surviveUnread has a command that runs a node go on, and end, though nobody reads what it writes: a pipe
// that its owner forgot, or a terminal that Ctrl-S holds. What it shows waits for the reader, and the
// command's end does not. What nodes log on standard error never waits: a node that did would stand still.
// The result is called at the end.
func surviveUnread(c *cli.Context) (flush func()) {
	c.App.Writer = &endableWriter{to: c.App.Writer, ended: c.Context}
	errs := newQueuedWriter(c.App.ErrWriter)
	c.App.ErrWriter = errs
	return errs.flushAndClose
}

// endableWriter is an output whose writes wait until they are read. From the end of a context on they wait
// unreadPatience together, and then fail.
type endableWriter struct {
	to    io.Writer
	ended context.Context

	mu  sync.Mutex
	cut bool
}

func (w *endableWriter) Write(p []byte) (int, error) {
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
		n, err := w.to.Write(data)
		done <- written{n, err}
	}()
	select {
	case one := <-done:
		return one.n, one.err
	case <-w.ended.Done():
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

func newQueuedWriter(to io.Writer) *queuedWriter {
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

// flushAndClose waits until all is written, at most unreadPatience.
func (w *queuedWriter) flushAndClose() {
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
