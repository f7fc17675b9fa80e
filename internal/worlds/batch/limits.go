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
	buffer := make([]byte, 0, 4096+len(slow.before)+len(slow.after)+len(hungry.before))
	done, beyond := make(chan struct{}), make(chan *lastWord, 1)
	place := scenario.Position{}
	go func() { // the usual ending
		select {
		case <-done:
		case w := <-beyond:
			what := outOfMemory(memory)
			if w == &slow {
				what = stuckMessage(place.String(), step)
			}
			os.Exit(e.gently(r.limitVerdict(j, v, w.code, what)))
		}
	}()
	go func() {
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		last, since := uint64(0), time.Now()
		var word *lastWord
		for {
			select {
			case <-done:
				return
			case <-look.C:
			}
			beats, alone, at := pulse.Look()
			switch {
			case word != nil:
				if time.Since(since) > gentlePatience {
					word.writeAndExit(buffer, place)
				}
				continue
			case scenario.Heap() > memory:
				word = &hungry
			case !alone || beats != last:
				last, since = beats, time.Now()
				continue
			case time.Since(since) > step:
				word = &slow
			default:
				continue
			}
			place, since = at, time.Now()
			beyond <- word
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
