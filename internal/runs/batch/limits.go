package batch

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// Limits of a run that a watching goroutine checks. It ends the process, since nothing
// inside it stops a step of Starlark.
const (
	// lookEvery is the interval at which memory and script are checked.
	lookEvery = 20 * time.Millisecond
	// gentlePatience is how long the usual ending of a run may take. It needs
	// memory, which the collector grants to no goroutine while the script copies
	// gigabytes in one step.
	gentlePatience = 2 * time.Second
)

// stepEnv is the environment variable that sets another limit than
// scenario.MaxStepTime, as a duration.
const stepEnv = "DEVNET_RUN_STEP"

// overrun reports a run that is beyond a limit.
type overrun struct {
	gently  func(Verdict) int                   // tells it as ever; the process ends with the code it returns
	bluntly func(Verdict) (fd int, text []byte) // what is written where gently takes too long; asked before the run
}

// atMark stands for a place in a script that is not known yet.
const atMark = "@AT@"

// lastWord is a verdict on a run beyond a limit, written without any memory.
type lastWord struct {
	fd, code      int
	before, after []byte // the text before and after the place
	placed        bool   // the text has a place
}

func (e *overrun) lastWord(v Verdict) lastWord {
	fd, text := e.bluntly(v)
	before, after, placed := bytes.Cut(text, []byte(atMark))
	return lastWord{fd, v.Code, before, after, placed}
}

// writeAndExit writes it and ends the process. It allocates nothing where the buffer is
// large enough.
func (w *lastWord) writeAndExit(buffer []byte, at scenario.Position) {
	_, _ = syscall.Write(w.fd, w.textAt(buffer, at))
	syscall.Exit(w.code)
}

// textAt is it with its place.
func (w *lastWord) textAt(buffer []byte, at scenario.Position) []byte {
	buffer = append(buffer[:0], w.before...)
	if w.placed && at.Line > 0 {
		buffer = append(append(buffer, at.File...), ':')
		buffer = append(strconv.AppendInt(buffer, int64(at.Line), 10), ':')
		buffer = strconv.AppendInt(buffer, int64(at.Column), 10)
	}
	return append(buffer, w.after...)
}

// limitVerdict is the verdict on a run beyond a limit.
func (r *Runner) limitVerdict(j Job, v Verdict, code int, what string) Verdict {
	v.Code, v.Error = code, what
	v.Replay = r.Replay(j, v.World, v.Seed)
	return v
}

// excess is the limit that a run is beyond.
type excess int

// The limits.
const (
	withinLimits excess = iota
	beyondMemory
	beyondStep
)

// look is what is seen of a run at one time.
type look struct {
	at    time.Time
	heap  uint64 // bytes
	beats uint64 // steps that the script has begun
	alone bool   // the script runs, and waits for nothing
}

// runWatch judges a run by looks at it.
type runWatch struct {
	memory uint64        // bytes
	step   time.Duration // that one step may take
	beats  uint64        // at the latest look
	since  time.Time     // since when the step is under way, or the run is beyond a limit
	found  excess
}

// judge decides by a look whether the run is beyond a limit. It allocates nothing.
func (w *runWatch) judge(l look) excess {
	switch {
	case l.heap > w.memory:
		w.found, w.since = beyondMemory, l.at
	case !l.alone || l.beats != w.beats:
		w.beats, w.since = l.beats, l.at
	case l.at.Sub(w.since) > w.step:
		w.found, w.since = beyondStep, l.at
	}
	return w.found
}

// boundRun bounds the memory of this process, and the time that one step of the
// script takes, until stop is called. A run beyond ends the process.
func (r *Runner) boundRun(j Job, v Verdict, pulse *scenario.Pulse, e overrun) (stop func()) {
	memory, restore := limitMemory()
	step := scenario.MaxStepTime
	if d, err := time.ParseDuration(os.Getenv(stepEnv)); err == nil && d > 0 {
		step = d
	}
	hungry, slow := e.lastWord(r.limitVerdict(j, v, Failed, outOfMemory(memory))),
		e.lastWord(r.limitVerdict(j, v, Mistaken, stuckMessage(atMark, step)))
	words := [...]*lastWord{beyondMemory: &hungry, beyondStep: &slow}
	buffer := make([]byte, 0, 4096+len(slow.before)+len(slow.after)+len(hungry.before))
	done, exceeded := make(chan struct{}), make(chan excess, 1)
	place := scenario.Position{}
	go func() { // the usual ending
		select {
		case <-done:
		case found := <-exceeded:
			what := outOfMemory(memory)
			if found == beyondStep {
				what = stuckMessage(place.String(), step)
			}
			os.Exit(e.gently(r.limitVerdict(j, v, words[found].code, what)))
		}
	}()
	go func() {
		ticks := time.NewTicker(lookEvery)
		defer ticks.Stop()
		w := runWatch{memory: memory, step: step, since: time.Now()}
		for {
			select {
			case <-done:
				return
			case <-ticks.C:
			}
			if w.found != withinLimits {
				if time.Since(w.since) > gentlePatience {
					words[w.found].writeAndExit(buffer, place)
				}
				continue
			}
			beats, alone, at := pulse.Look()
			if found := w.judge(look{time.Now(), scenario.Heap(), beats, alone}); found != withinLimits {
				place = at
				exceeded <- found
			}
		}
	}()
	return func() {
		close(done)
		restore()
	}
}

// stuckMessage is what a run fails with whose script does not get on.
func stuckMessage(at string, limit time.Duration) string {
	return fmt.Sprintf("%s: one step of the script takes more than %v: does it compare, hash or print a self-containing list, "+
		"or compute huge numbers?",
		strings.TrimSpace(at), limit)
}
