package command

import (
	"io"
	"testing"
)

// An answered order is over: what is interrupted later has nothing to do with it.
func TestAnAnsweredOrderIsOver(t *testing.T) {
	w := NewWaiting(io.Discard, true)
	w.noteOrder(t.Context(), "")
	w.noteHandedIn("0x01")
	w.ForgetOrder()
	if f := w.DescribeInterrupt(); f.What != "interrupted" || f.Hint != "" {
		t.Errorf("%+v", f)
	}
}
