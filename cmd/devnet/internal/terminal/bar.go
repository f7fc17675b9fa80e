package terminal

import (
	"context"
	"fmt"
	"io"

	"github.com/vbauerster/mpb/v8"
)

// Bar is a bar on a terminal while a command waits.
type Bar struct {
	Progress *mpb.Progress
	Line     *mpb.Bar    // nil without a terminal
	heard    func() bool // stops waiting for an interrupt
}

// NewBar shows a bar of a width in characters, if w is a terminal. The end of ctx is an interrupt.
func NewBar(ctx context.Context, w io.Writer, width int, total int64, around ...mpb.BarOption) (b Bar) {
	if !IsTerminal(w) {
		return b
	}
	b.Progress = mpb.New(mpb.WithOutput(w), mpb.WithWidth(width), mpb.WithAutoRefresh())
	b.Line = b.Progress.AddBar(total, append(around, mpb.BarRemoveOnComplete())...)
	// A terminal shows ^C where the cursor is, and what the bar clears begins there.
	b.heard = context.AfterFunc(ctx, func() { fmt.Fprint(w, "\r") })
	return b
}

// Close takes the bar away.
func (b *Bar) Close() {
	if b.Line != nil {
		b.heard()
		b.Line.Abort(true)
		b.Progress.Wait()
	}
}
