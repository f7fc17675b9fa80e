package command

import (
	"context"
	"time"
)

// Sleep waits; it returns false when ctx is done.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Terms of --watch.
const (
	// WatchEvery is the interval at which the files are checked.
	WatchEvery = 300 * time.Millisecond
	// MaxWatched bounds the watched files, so that a folder with all of a disk below
	// it is refused and not walked without end.
	MaxWatched = 20_000
)
