package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

// runProgress says how far a run alone has come, which prints nothing itself for as long as its
// script waits.
type runProgress struct {
	mu    sync.Mutex
	pulse *scenario.Pulse // of the run that plays; nil before the first
	runs  int             // that began: a run that failed is made again
}

// watchPulse is batch.Runner.Watch.
func (p *runProgress) watchPulse(pulse *scenario.Pulse) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pulse = pulse
	p.runs++
}

// describePlace is where the run is: "at block 61 of the network, second 58.2".
func (p *runProgress) describePlace() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pulse == nil {
		return "before the script began"
	}
	height, elapsed, begun := p.pulse.Network()
	if !begun {
		return "before the network's first block"
	}
	text := fmt.Sprintf("at block %d of the network, second %.1f", height, elapsed.Seconds())
	if p.runs > 1 {
		text += ", as it is run again"
	}
	return text
}

// printPlace prints where the run is so long after it began.
func (p *runProgress) printPlace(w io.Writer, name string, spent time.Duration) {
	fmt.Fprintf(w, "%s runs for %s, and is %s.\n", name, spent.Round(time.Second), p.describePlace())
}

// printTicks calls print at each tick, until the context ends.
func printTicks(ctx context.Context, ticks <-chan time.Time, print func(at time.Time)) {
	for {
		select {
		case <-ctx.Done():
			return
		case at := <-ticks:
			print(at)
		}
	}
}

// printEach has print called beside its caller each ten seconds, until stop is called.
func printEach(ctx context.Context, print func(at time.Time)) (stop func()) {
	ticker := time.NewTicker(command.NextWord)
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		printTicks(ctx, ticker.C, print)
	}()
	return func() {
		ticker.Stop()
		end()
		<-done
	}
}

// runAlone makes one run in this process as batch.Runner.Alone does, and says each ten seconds
// how far it has come, unless it is silent. So does the error of an interrupt.
func runAlone(ctx context.Context, isSilent bool, w io.Writer, name string,
	run func(one *batch.Runner) (batch.Verdict, error)) (batch.Verdict, error) {
	p := &runProgress{}
	one := *runner
	one.Watch = p.watchPulse
	if !isSilent {
		began := time.Now()
		defer printEach(ctx, func(at time.Time) { p.printPlace(w, name, at.Sub(began)) })()
	}
	v, err := run(&one)
	if errors.Is(err, context.Canceled) {
		err = &failure.Failure{Code: failure.ExitFailed, Name: "interrupted", What: "interrupted " + p.describePlace()}
	}
	return v, err
}
