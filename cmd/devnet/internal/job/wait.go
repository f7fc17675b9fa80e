package job

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/urfave/cli/v2"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// errEnded stops following the events of a job that is over.
var errEnded = errors.New("the job is over")

// awaitJob follows a job until it ended and the actor that it names was called back,
// with a bar on a terminal. It waits as long as the job may: its deadlines come from
// the chain.
func awaitJob(c *cli.Context, n *client.API, id string) (model.Job, error) {
	from, err := n.Height(c.Context)
	if err != nil {
		return model.Job{}, err
	}
	j, err := n.Job(c.Context, id)
	if err != nil {
		return j, err
	}
	if types.JobStatus(j.Status).Ended() {
		if told, err := calledBack(c, n, &j); told || err != nil {
			return j, err
		}
	}
	bar := newJobBar(c, &j)
	defer bar.Close()
	// The job already has the changes of block from: the changes after it come as
	// events.
	follow := client.Follow{From: from + 1, Kinds: []string{model.EventBlock, model.EventJob}}
	err = n.Events(c.Context, follow, func(e client.Event) error {
		switch e.Kind {
		case model.EventBlock:
			var b struct{ Height types.Height }
			if err := command.DecodeEvent(e, &b); err != nil {
				return err
			}
			bar.atBlock(b.Height)
		case model.EventJob:
			var happened model.JobEvent
			if err := command.DecodeEvent(e, &happened); err != nil || happened.ID != j.ID {
				return err
			}
			bar.onEvent(&happened)
			switch happened.What {
			case model.JobCompleted, model.JobFailed, model.JobCancelled:
				if j.Callback == nil {
					return errEnded
				}
			case model.JobCalledBack:
				return errEnded
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, errEnded):
		return n.Job(c.Context, j.ID.String())
	case err == nil:
		err = c.Context.Err()
	}
	return j, err
}

// calledBack reports whether no actor waits any more for the outcome of a job that
// ended.
func calledBack(c *cli.Context, n *client.API, j *model.Job) (bool, error) {
	if j.Callback == nil {
		return true, nil
	}
	story, err := (&client.Client{API: n}).JobStory(c.Context, j.ID)
	return slices.ContainsFunc(story.Story, func(e model.JobEvent) bool { return e.What == model.JobCalledBack }), err
}

// jobBar is the display of a running job: the progress of its committee. It is empty
// without a terminal.
type jobBar struct {
	terminal.Bar

	mu       sync.Mutex
	what     string
	height   types.Height
	deadline types.Height
	runners  uint64
	timeout  uint64
	done     map[types.Address]uint8 // of the committee, in percent
}

func newJobBar(c *cli.Context, j *model.Job) *jobBar {
	b := &jobBar{what: j.Status, deadline: j.Deadline, runners: j.Runners, timeout: j.TimeoutBlocks, done: map[types.Address]uint8{}}
	b.Bar = terminal.NewBar(c.Context, c.App.ErrWriter, 32, 100,
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return b.barWords() })))
	return b
}

// barWords follow the bar.
func (b *jobBar) barWords() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf(" %s, block %d of %d", b.what, b.height, b.deadline)
}

func (b *jobBar) atBlock(h types.Height) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.height = h
}

// onEvent takes in an event: a new draw begins again, and a runner that gave a result
// is done.
func (b *jobBar) onEvent(e *model.JobEvent) {
	b.mu.Lock()
	b.what = e.What
	switch e.What {
	case model.JobDrawn, model.JobWaiting, model.JobRetried:
		clear(b.done)
		b.deadline = e.Height + types.Height(b.timeout)
	case model.JobResulted, model.JobCommitted, model.JobRevealed:
		if e.Runner != nil {
			b.done[*e.Runner] = 100
		}
	case model.JobProgressed:
		if e.Runner != nil && e.Fraction != nil {
			b.done[*e.Runner] = max(b.done[*e.Runner], min(100, *e.Fraction))
		}
	}
	percent := int64(0)
	for _, done := range b.done {
		percent += int64(done)
	}
	percent /= int64(max(1, b.runners))
	b.mu.Unlock()
	if b.Line != nil {
		b.Line.SetCurrent(min(99, percent))
	}
}
