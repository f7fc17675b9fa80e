package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/vbauerster/mpb/v8"
)

// shownBar is a bar on a terminal while a command waits.
type shownBar struct {
	progress *mpb.Progress
	bar      *mpb.Bar    // nil without a terminal
	heard    func() bool // stops waiting for an interrupt
}

// newBar shows a bar of a width in characters, if w is a terminal. The end of ctx is an interrupt.
func newBar(ctx context.Context, w io.Writer, width int, total int64, around ...mpb.BarOption) (b shownBar) {
	if !isTerminal(w) {
		return b
	}
	b.progress = mpb.New(mpb.WithOutput(w), mpb.WithWidth(width), mpb.WithAutoRefresh())
	b.bar = b.progress.AddBar(total, append(around, mpb.BarRemoveOnComplete())...)
	// A terminal shows ^C where the cursor is, and what the bar clears begins there.
	b.heard = context.AfterFunc(ctx, func() { fmt.Fprint(w, "\r") })
	return b
}

// closeBar takes the bar away.
func (b *shownBar) closeBar() {
	if b.bar != nil {
		b.heard()
		b.bar.Abort(true)
		b.progress.Wait()
	}
}

// unwrapOutput is the output behind one that gives up with the command.
func unwrapOutput(w io.Writer) io.Writer {
	if e, is := w.(*endableWriter); is {
		return e.to
	}
	return w
}

// isTerminal says whether people read w as it is written.
func isTerminal(w io.Writer) bool {
	file, ok := unwrapOutput(w).(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
