package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/cowboyinc/devnet/internal/worlds/batch"
)

// show is the display of many runs: a bar on a terminal, and a line for each that
// failed.
type show struct {
	mu       sync.Mutex
	lines    io.Writer // nil: none, the verdicts come as JSON
	progress *mpb.Progress
	bar      *mpb.Bar
	passed   int
	failures int
	began    time.Time
	heard    func() bool // stops waiting for an interrupt
}

func newShow(c *cli.Context, runs int, quiet bool) *show {
	s := &show{lines: c.App.Writer, began: time.Now()}
	if quiet {
		s.lines = nil
	}
	if !isTerminal(c.App.ErrWriter) {
		return s
	}
	s.progress = mpb.New(mpb.WithOutput(c.App.ErrWriter), mpb.WithWidth(48), mpb.WithAutoRefresh())
	s.bar = s.progress.AddBar(int64(runs),
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d runs ")),
		mpb.AppendDecorators(
			decor.Any(func(d decor.Statistics) string { return s.words(d.Current, d.Total, time.Since(s.began)) })),
		mpb.BarRemoveOnComplete())
	// A terminal shows ^C where the cursor is, and what the bar clears begins there.
	s.heard = context.AfterFunc(c.Context, func() { fmt.Fprint(c.App.ErrWriter, "\r") })
	if isTerminal(c.App.Writer) && !quiet {
		s.lines = s.progress // above the bar
	}
	return s
}

// words follow the bar: how many runs failed, and how long the others will take at
// the pace so far.
func (s *show) words(done, of int64, spent time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(" %d failed", s.failures)
	if done > 0 {
		text += fmt.Sprintf(", %s left", (spent * time.Duration(of-done) / time.Duration(done)).Round(time.Second))
	}
	return text
}

// interrupted is the end of a batch before all of its runs have ended.
func (s *show) interrupted(of int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &failure{code: exitFailed, name: "interrupted",
		what: fmt.Sprintf("interrupted: of %d runs %d had passed and %d failed", of, s.passed, s.failures)}
}

// add shows one more verdict.
func (s *show) add(v *batch.Verdict) {
	s.mu.Lock()
	if v.Failed() {
		s.failures++
	} else {
		s.passed++
	}
	s.mu.Unlock()
	if v.Failed() {
		if s.lines != nil {
			var text strings.Builder
			v.Complain(&text)
			fmt.Fprint(s.lines, text.String())
		}
	}
	if s.bar != nil {
		s.bar.Increment()
	}
}

// close takes the bar away.
func (s *show) close() {
	if s.progress != nil {
		s.heard()
		s.bar.Abort(true)
		s.progress.Wait()
	}
}

// isTerminal says whether people read w as it is written.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
