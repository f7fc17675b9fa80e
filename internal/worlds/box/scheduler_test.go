package box

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/worlds/network"
)

func TestALiveWaitEndsByItsSignalItsPatienceItsContextOrTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(func(_ string, err error) { t.Error(err) })
		soon, background := new(network.Signal), context.Background()
		time.AfterFunc(time.Second, soon.Fire)
		soonOver, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		time.AfterFunc(time.Minute, func() { go s.endAllWaits() })
		for _, wait := range []struct {
			ctx      context.Context
			on       *network.Signal
			patience time.Duration
			want     error
		}{
			{background, soon, network.Forever, nil}, {background, soon, 0, nil},
			{background, new(network.Signal), time.Second, network.ErrLate},
			{soonOver, new(network.Signal), network.Forever, context.DeadlineExceeded},
			{background, new(network.Signal), network.Forever, network.ErrClosed},
			{background, soon, 0, nil},
		} {
			if err := s.Wait(wait.ctx, wait.on, wait.patience); !errors.Is(err, wait.want) {
				t.Errorf("%v, want %v", err, wait.want)
			}
		}
	})
}

func TestTheEndOfALiveNetworkWaitsForItsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Value
		s := newScheduler(func(task string, err error) { failed.Store(task) })
		s.Go("a task", func() error {
			err := s.Wait(context.Background(), new(network.Signal), network.Forever)
			time.Sleep(time.Second)
			return err
		})
		synctest.Wait()
		if s.endAllWaits(); failed.Load() != "a task" {
			t.Error("the task goes on")
		}
		s.Go("too late", func() error { t.Error("a task begins after the end"); return nil })
	})
}

// Many goroutines have one turn after another, some give up, and whoever closes it is last.
func TestALiveTurnLetsOneThroughAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(nil)
		turn, within, done := network.NewTurn(s), atomic.Int64{}, atomic.Int64{}
		var all sync.WaitGroup
		for i := range 40 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(10+i%3*1000)*time.Millisecond)
			all.Go(func() {
				defer cancel()
				err := turn.Do(ctx, func() error {
					if within.Add(1) != 1 {
						t.Error("two have the turn")
					}
					time.Sleep(5 * time.Millisecond)
					within.Add(-1)
					done.Add(1)
					return nil
				})
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := done.Load(); n < 26 || n == 40 {
			t.Errorf("%d had their turn", n)
		}
		if err := turn.Close(func() error { s.endAllWaits(); return nil }); err != nil {
			t.Error(err)
		}
		if err := turn.Do(context.Background(), func() error { return nil }); !errors.Is(err, network.ErrClosed) {
			t.Error(err)
		}
	})
}
