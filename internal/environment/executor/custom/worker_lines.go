package custom

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/process"
)

const (
	// maxWorkerLine bounds a line of a worker program, in bytes: the longest result in
	// hexadecimal digits, and the fields around it.
	maxWorkerLine = 2*executor.MaxResultBytes + 4<<10
	// maxUnread bounds the orders that a worker program has not read, in bytes: a few jobs of the
	// maximum size.
	maxUnread = 16 << 20
	// maxIdle bounds the lines in a row that change nothing: progress that does not rise, or
	// lines about work that ended. A program without a fault has at most 101 of each
	// work that was cancelled.
	maxIdle = 2048
)

// order is a line to the program.
type order struct {
	Do       string          `json:"do"` // judge, work or cancel
	ID       uint64          `json:"id"`
	Executor string          `json:"executor,omitempty"`
	Job      *types.Hash     `json:"job,omitempty"`
	Params   *types.Bytes    `json:"params,omitempty"`
	Bounds   *workerBounds   `json:"bounds,omitempty"`
	Format   push.DataFormat `json:"data_format,omitempty"`
}

// workerBounds are the bounds of a job that its result has to keep.
type workerBounds struct {
	WallSeconds uint64 `json:"max_wall_time_seconds"`
	ReturnBytes int    `json:"max_return_bytes"`
}

func orderOf(do string, id uint64, name string, spec *push.JobSpec) order {
	params := types.Bytes(spec.JobType.Custom.Params)
	return order{Do: do, ID: id, Executor: name, Params: &params, Format: spec.ResultSchema.DataFormat,
		Bounds: &workerBounds{spec.Bounds.MaxWallTimeSeconds, executor.ReturnBytes(spec)}}
}

// programLine is a line of the program.
type programLine struct {
	Say       string       `json:"say"` // accept, refuse, progress, result, failure or offer
	ID        uint64       `json:"id"`
	Why       string       `json:"why"`     // of refuse and failure
	Percent   uint8        `json:"percent"` // of progress
	Detail    string       `json:"detail"`  // of progress
	Result    *types.Bytes `json:"result"`
	Executors *[]string    `json:"executors"` // of offer
}

// ask is a question that waits for the program's answer.
type ask struct {
	spec    types.Hash
	at      time.Time
	settled chan struct{} // closed when refusal is what the program said
	refusal *execution.Refusal
}

func (a *ask) settleAnswer(refusal *execution.Refusal) {
	a.refusal = refusal
	close(a.settled)
}

// task is a job that the program does.
type task struct {
	job   *executor.Job
	gauge execution.Gauge
	done  chan outcome // takes one
}

type outcome struct {
	result []byte
	err    error
}

// life is one run of the program. The worker's mutex guards its fields.
type life struct {
	worker  *Worker
	process *process.Process
	asks    map[uint64]*ask
	works   map[uint64]*task
	unread  [][]byte // lines to the program
	size    int      // bytes of unread
	more    chan struct{}
	idle    int // lines in a row that changed nothing
	over    bool
	unheard error // the program left too many orders unread
}

// startLife starts the program. The caller holds the worker's mutex.
func (w *Worker) startLife() (*life, error) {
	p, err := process.Start(w.ctx, process.Command{Argv: w.config.Argv, Env: w.config.Env, Memory: w.config.Memory})
	if err != nil {
		return nil, err
	}
	return &life{worker: w, process: p, asks: map[uint64]*ask{}, works: map[uint64]*task{}, more: make(chan struct{}, 1)}, nil
}

// runLife reads the program until it ends or breaks the protocol, and leaves nothing of it.
func (l *life) runLife() {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		l.writeQueue()
	}()
	why := l.readLines()
	l.worker.mu.Lock()
	l.over, why = true, cmp.Or(why, l.unheard)
	if l.worker.life == l {
		l.worker.life = nil
	}
	l.worker.mu.Unlock()
	l.wakeWriter()
	l.process.Kill()
	ended := l.process.Wait()
	<-gone
	switch {
	case why != nil:
	case ended != nil:
		why = ended
	default:
		why = errors.New("exit status 0")
	}
	l.worker.noteEnd(l, why)
}

// queueLine queues a line. A program that leaves too much of them unread is ended. The caller
// holds the worker's mutex.
func (l *life) queueLine(o order) {
	line, err := json.Marshal(o)
	if err != nil {
		panic("custom: " + err.Error()) // an order is plain data
	}
	if l.size+len(line) > maxUnread {
		l.unheard = fmt.Errorf("more than %d bytes of its orders are unread", maxUnread)
		l.process.Kill()
		return
	}
	l.unread, l.size = append(l.unread, append(line, '\n')), l.size+len(line)+1
	l.wakeWriter()
}

func (l *life) wakeWriter() {
	select {
	case l.more <- struct{}{}:
	default: // it is awake
	}
}

// writeQueue writes what is queued until the life is over.
func (l *life) writeQueue() {
	for range l.more {
		for {
			line, over := l.nextLine()
			if over {
				return
			}
			if line == nil {
				break
			}
			_, _ = l.process.Stdin.Write(line) // who does not read is ended
		}
	}
}

func (l *life) nextLine() (line []byte, over bool) {
	l.worker.mu.Lock()
	defer l.worker.mu.Unlock()
	if len(l.unread) == 0 || l.over {
		return nil, l.over
	}
	line = l.unread[0]
	l.unread, l.size = l.unread[1:], l.size-len(line)
	return line, false
}

// readLines takes lines until the end. Its error is a line that breaks the protocol.
func (l *life) readLines() error {
	lines := bufio.NewScanner(l.process.Stdout)
	lines.Buffer(nil, maxWorkerLine)
	for n := 1; lines.Scan(); n++ {
		if err := l.applyLine(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d of its output: %w", n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("a line of its output has more than %d bytes", maxWorkerLine)
	}
	return nil
}

// parseLine reads a line of a worker program.
func parseLine(line []byte) (s programLine, err error) {
	if _, err := executor.ParseJSON(line); err != nil {
		return s, fmt.Errorf("no JSON: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, fmt.Errorf("no line of the protocol: %w", err)
	}
	switch s.Say {
	case "accept", "refuse", "progress", "failure":
	case "result":
		if s.Result == nil {
			return s, errors.New("a result without a field result")
		}
	case "offer":
		if s.Executors == nil {
			return s, errors.New("an offer without a field executors")
		}
	default:
		return s, fmt.Errorf("say is %.40q: want accept, refuse, progress, result, failure or offer", s.Say)
	}
	return s, nil
}

// applyLine applies a line. At most maxIdle lines in a row may change nothing.
func (l *life) applyLine(line []byte) error {
	s, err := parseLine(line)
	if err != nil {
		return err
	}
	useful, err := l.changesAnything(&s)
	if err != nil {
		return err
	}
	if useful {
		l.idle = 0
	} else if l.idle++; l.idle > maxIdle {
		return fmt.Errorf("more than %d lines in a row that change nothing", maxIdle)
	}
	return nil
}

// changesAnything reports whether a line changed anything.
func (l *life) changesAnything(s *programLine) (useful bool, err error) {
	w := l.worker
	w.mu.Lock()
	defer w.mu.Unlock()
	switch s.Say {
	case "offer":
		return l.takeOffer(*s.Executors)
	case "accept", "refuse":
		a := l.asks[s.ID]
		if a == nil {
			return false, nil
		}
		delete(l.asks, s.ID)
		var refusal *execution.Refusal
		if s.Say == "refuse" {
			refusal = execution.Refuse(push.Unsupported, "%s", execution.Words(s.Why))
		}
		w.rememberVerdict(a.spec, refusal)
		a.settleAnswer(refusal)
		return true, nil
	}
	one := l.works[s.ID]
	if one == nil {
		return false, nil
	}
	switch s.Say {
	case "progress":
		report, rises := one.gauge.Rise(one.job.ID, s.Percent, s.Detail)
		if rises {
			one.job.Progress(report.Fraction, report.Detail)
		}
		return rises, nil
	case "result":
		one.done <- outcome{result: *s.Result}
	case "failure":
		one.done <- outcome{err: errors.New(execution.Words(s.Why))}
	}
	delete(l.works, s.ID)
	return true, nil
}

// takeOffer takes what the program offers from now on. The caller holds the worker's mutex.
func (l *life) takeOffer(names []string) (useful bool, err error) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for _, name := range names {
		if !slices.Contains(l.worker.config.Executors, name) {
			return false, fmt.Errorf("offer of %.40q: the setting executors does not have it", name)
		}
	}
	useful = !slices.Equal(names, l.worker.asked) && l.worker.later == nil
	l.worker.putOffer(names)
	return useful, nil
}
