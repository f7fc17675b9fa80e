package devnet

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
)

const (
	// readyPatience is how long a network may take to be ready.
	readyPatience = 2 * time.Minute
	// logPatience is how long an engine may take to answer about a container.
	logPatience = 10 * time.Second
	// tailLines and maxLogBytes bound the shown part of a log.
	tailLines, maxLogBytes = 30, 4 << 20
	// watchEvery is the interval at which a starting container is checked.
	watchEvery = 250 * time.Millisecond
	// answerEvery is how often an API that is to answer is asked.
	answerEvery = 20 * time.Millisecond
)

// lastLog is what a container logged last.
func lastLog(c testcontainers.Container) string {
	ctx, cancel := context.WithTimeout(context.Background(), logPatience)
	defer cancel()
	logs, err := c.Logs(ctx)
	if err != nil {
		return "its log cannot be read: " + err.Error()
	}
	defer logs.Close()
	data, err := io.ReadAll(io.LimitReader(logs, maxLogBytes))
	if err != nil && len(data) == 0 {
		return "its log cannot be read: " + err.Error()
	}
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	return strings.Join(slices.Clone(lines[max(0, len(lines)-tailLines):]), "\n")
}

// watchUntilEnd returns when a container runs no longer, or when ctx is done.
func watchUntilEnd(ctx context.Context, c testcontainers.Container) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if state, err := c.State(ctx); err == nil && !state.Running {
			return
		}
	}
}
