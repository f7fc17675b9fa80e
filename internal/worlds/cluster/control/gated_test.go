package control

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// begun is an executor that notes what it is asked to do.
type begun struct {
	env.Executor
	drawn []types.Height
}

func (b *begun) Execute(id execution.ID, _ *push.JobSpec, _ func(execution.Report)) {
	b.drawn = append(b.drawn, id.Drawn)
}
func (b *begun) Cancel(execution.ID) {}
func (b *begun) Close()              {}

func TestWorkBeginsWhenTheDriverHasSeenItsBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &begun{}
		h := newGatedExecutor(b)
		draw := func(height types.Height) { h.Execute(execution.ID{Drawn: height}, nil, nil) }
		want := func(all ...types.Height) {
			t.Helper()
			synctest.Wait()
			if !slices.Equal(b.drawn, all) {
				t.Fatalf("work of the blocks %v has begun, want %v", b.drawn, all)
			}
		}
		h.showHeight(4)
		draw(4)
		draw(5)
		draw(6)
		draw(6)
		want(4)
		h.showHeight(5)
		want(4, 5)
		h.showHeight(3) // what came late
		h.Cancel(execution.ID{Drawn: 6})
		h.showHeight(6)
		want(4, 5)
		draw(7)
		time.Sleep(holdPatience) // virtual: the driver looks elsewhere
		want(4, 5, 7)
		h.showHeight(7)
		want(4, 5, 7)
		draw(8)
		h.Close()
		time.Sleep(2 * holdPatience)
		want(4, 5, 7)
	})
}
