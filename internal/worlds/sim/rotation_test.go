package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators/history"
)

// absences lists the blocks from a height on at which not all runners are present.
func (l *labour) absences(from types.Height) (at []string) {
	for h := from; h <= l.Tip(); h++ {
		if p := l.presence[h]; p != nil && p.Bitmap.Count() < len(l.runners) {
			at = append(at, fmt.Sprintf("%d: %d", h, p.Bitmap.Count()))
		}
	}
	return at
}

// CIP-11 §5.3: three of ten validators go and three others come, twice, or the subset
// epoch is over every nine blocks, with a job a block in flight. No runner is missing
// from any P, and every job is done by the committee first drawn. With this seed there are
// runners whom only the overlap keeps: of their new subset of four three have just come,
// and are as far away as the time of a block or two.
func TestSection53RotationCostsNobodyPresenceOrAJob(t *testing.T) {
	for _, c := range []struct {
		name      string
		rule      string
		epoch     string // of subsets
		churns    int
		rotations uint64
	}{
		{"churn under subset", "subset", "8192", 2, 2},
		{"churn under safe", "safe", "8192", 2, 2},
		{"epochs under subset", "subset", "9", 0, 7},
		{"epochs and churn under subset", "subset", "9", 2, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := labouring(t, NetworkConfig{World: quick(52), Validators: 10, Runners: 12, Params: params.Overrides{
				"cip11.presence_rule": c.rule, "cip11.subset_epoch_blocks": c.epoch, "cip11.overlap_blocks": "8",
				"cip11.min_subset": "4", "cip11.max_subset": "4", "chain.epoch_blocks": "24"}})
			l.blocks(6)
			from, jobs := l.Tip(), 0
			for h := range types.Height(72) {
				if h%24 == 4 && int(h/24) < c.churns {
					l.churn(3, int(h/24))
				}
				l.submit(echo(3, push.Deterministic))
				jobs++
				l.blocks(1)
			}
			l.blocks(8)
			if absent := l.absences(from); len(absent) > 0 {
				t.Errorf("not all of 12 are present: %v", absent)
			}
			head := l.bestValidator().Head()
			if got := head.Block.Header.SubsetEpoch; got < c.rotations {
				t.Errorf("subsets rotated %d times, want %d", got, c.rotations)
			}
			if done := l.did(types.JobChangeCompleted); done != jobs || l.did(types.JobChangeRetried) != 0 || head.State.OpenJobs() != 0 {
				t.Errorf("of %d jobs %d are done, %d drawn again, %d open", jobs, done, l.did(types.JobChangeRetried), head.State.OpenJobs())
			}
			for i := range 3 * c.churns {
				if name := fmt.Sprint("w", i); l.Status(name) != history.StatusActive || !l.votes(name) {
					t.Errorf("%s is %s", name, l.Status(name))
				}
			}
		})
	}
}

// churn has so many validators leave, the last there are, and others come.
func (l *labour) churn(count, round int) {
	l.Helper()
	for i := round * count; i < (round+1)*count; i++ {
		_, joins := l.Join(l.Context(), fmt.Sprint("w", i))
		_, leaves := l.Leave(l.Context(), fmt.Sprint("v", 9-i))
		if err := errors.Join(joins, leaves); err != nil {
			l.Fatal(err)
		}
		for _, runner := range l.runners {
			l.Link(runner, fmt.Sprint("w", i), Link{Latency: 700 * time.Millisecond})
		}
	}
}

// Blocks faster than pings, and heights that time travel skips, empty no P: a ping is
// stale by heights and by time (decision J13).
func TestJ13FastBlocksAndTimeTravelEmptyNoPresence(t *testing.T) {
	for _, c := range []struct {
		name   string
		params params.Overrides
	}{
		{"block time 0", params.Overrides{"chain.block_time_ms": "0"}},
		{"auto", params.Overrides{"chain.block_time_auto": "true", "chain.block_time_ms": "0"}},
		{"one second", nil},
	} {
		rest := 2 * time.Second // the last job's end
		if c.params == nil {
			rest = 12 * time.Second
		}
		t.Run(c.name, func(t *testing.T) {
			l := labouring(t, NetworkConfig{World: Config{Seed: 1, Link: Link{Latency: 3 * time.Millisecond}}, Runners: 6,
				Params: c.params})
			spec := echo(3, push.Deterministic)
			spec.TimeoutBlocks = 1000 // heights, of which there are a hundred a second
			step := func(count int) {
				for range count {
					l.submit(spec) // where blocks are made on demand
					if err := l.RunFor(300 * time.Millisecond); err != nil {
						t.Fatal(err)
					}
				}
			}
			step(10)
			from, began := l.Tip(), l.Now()
			step(20)
			blocks, took := l.Tip()-from, l.Now().Sub(began)
			if absent := l.absences(from); len(absent) > 0 {
				t.Errorf("not all of 6 are present: %v", absent)
			}
			for range 3 {
				if err := l.RunFor(rest); err != nil { // travel takes the time of what is open
					t.Fatal(err)
				}
				at := l.Tip()
				if receipt := advance(t, l.Network, history.Target{Blocks: 500}); receipt.To < at+500 {
					t.Errorf("it got from %d to %d", at, receipt.To)
				}
				step(3)
				if absent := l.absences(at); len(absent) > 0 {
					t.Errorf("behind travel not all of 6 are present: %v", absent)
				}
			}
			if err := l.RunFor(rest); err != nil {
				t.Fatal(err)
			}
			if done := l.did(types.JobChangeCompleted); done != 39 || l.did(types.JobChangeRetried) > 0 {
				t.Errorf("of 39 jobs %d are done, %d drawn again", done, l.did(types.JobChangeRetried))
			}
			if fast := c.params != nil; fast != (blocks > 100) {
				t.Errorf("%d blocks in %v", blocks, took)
			}
		})
	}
}
