package run

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

// show is the display of many runs: a bar on a terminal, and a line for each that
// failed.
type show struct {
	terminal.Bar
	mu       sync.Mutex
	lines    io.Writer // nil: none, the verdicts come as JSON
	passed   int
	failures int
	began    time.Time
}

func newShow(c *cli.Context, runs int, quiet bool) *show {
	s := &show{lines: c.App.Writer, began: time.Now()}
	if quiet {
		s.lines = nil
	}
	s.Bar = terminal.NewBar(c.Context, c.App.ErrWriter, 48, int64(runs), mpb.PrependDecorators(decor.CountersNoUnit("%d of %d runs ")),
		mpb.AppendDecorators(
			decor.Any(func(d decor.Statistics) string { return s.barWords(d.Current, d.Total, time.Since(s.began)) })))
	if s.Line != nil && terminal.IsTerminal(c.App.Writer) && !quiet {
		s.lines = s.Progress // above the bar
	}
	return s
}

// barWords follow the bar: how many runs failed, and how long the others will take at
// the pace so far.
func (s *show) barWords(done, of int64, spent time.Duration) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(" %d failed", s.failures)
	if done > 0 {
		text += fmt.Sprintf(", %s left", (spent * time.Duration(of-done) / time.Duration(done)).Round(time.Second))
	}
	return text
}

// lineText says what the bar shows.
func (s *show) lineText(of int64, spent time.Duration) string {
	s.mu.Lock()
	done := int64(s.passed + s.failures)
	s.mu.Unlock()
	return fmt.Sprintf("%d of %d runs after %s:%s.", done, of, spent.Round(time.Second), s.barWords(done, of, spent))
}

// interruptedError is the end of a batch before all of its runs have ended.
func (s *show) interruptedError(of int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &failure.Failure{Code: failure.ExitFailed, Name: "interrupted",
		What: fmt.Sprintf("interrupted: of %d runs %d had passed and %d failed", of, s.passed, s.failures)}
}

// addVerdict shows one more verdict.
func (s *show) addVerdict(v *batch.Verdict) {
	s.mu.Lock()
	if v.Failed() {
		s.failures++
	} else {
		s.passed++
	}
	s.mu.Unlock()
	if v.Failed() && s.lines != nil {
		var text strings.Builder
		v.Complain(&text)
		fmt.Fprint(s.lines, text.String())
	}
	if s.Line != nil {
		s.Line.Increment()
	}
}

// printComplaint prints a failing run. On a terminal what was wrong is broken between words; commands to type and
// the timeline stay as they are.
func printComplaint(w io.Writer, v *batch.Verdict) {
	var text strings.Builder
	v.Complain(&text)
	wrong, rest, _ := strings.Cut(text.String(), "\n")
	fmt.Fprintf(w, "%s\n%s", terminal.Wrap(wrong, "", terminal.MessageColumns(w)), rest)
}
