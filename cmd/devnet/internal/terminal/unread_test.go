package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

// heldReader is an output that nobody reads until read is called.
type heldReader struct {
	mu   sync.Mutex // held: writes wait
	text strings.Builder
}

func (r *heldReader) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// What a command shows waits for its reader, whole and in order. The command's end does not wait for it.
func TestAnUnreadOutputDoesNotKeepACommandFromEnding(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	to := &heldReader{}
	w := &EndableWriter{To: to, Ended: ctx}
	for i := range 3 {
		if n, err := fmt.Fprintf(w, "line %d\n", i); n != 7 || err != nil {
			t.Fatal(n, err)
		}
	}
	to.mu.Lock()
	wrote := make(chan error)
	go func() {
		_, err := io.WriteString(w, "unread\n")
		wrote <- err
	}()
	end()
	if err := <-wrote; !errors.Is(err, errUnread) {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "later\n"); !errors.Is(err, errUnread) {
		t.Error("a later write waits again:", err)
	}
	to.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	if got := to.text.String(); !strings.HasPrefix(got, "line 0\nline 1\nline 2\n") || strings.Contains(got, "later") {
		t.Errorf("%q", got)
	}
}

// A command that ends while its output is read says its last words.
func TestAnEndedCommandStillSaysWhatIsRead(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	end()
	to := &heldReader{}
	w := &EndableWriter{To: to, Ended: ctx}
	if _, err := io.WriteString(w, "Stopped.\n"); err != nil || to.text.String() != "Stopped.\n" {
		t.Errorf("%q, %v", to.text.String(), err)
	}
}

// What nodes log waits for nobody. The reader finds the oldest lines, and how many are missing.
func TestLogsThatNobodyReadHoldNoNode(t *testing.T) {
	to := &heldReader{}
	w := NewQueuedWriter(to)
	to.mu.Lock()
	const written = 3 * maxUnreadLines
	for i := range written {
		fmt.Fprintf(w, "line %d\n", i)
	}
	to.mu.Unlock()
	w.FlushAndClose()
	fmt.Fprint(w, "after its end\n")
	lines := strings.Split(strings.TrimSpace(to.text.String()), "\n")
	for i, line := range lines {
		if line != fmt.Sprintf("line %d", i) {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	// One line is under way, and maxUnreadLines wait.
	if n := len(lines); n < maxUnreadLines || n > maxUnreadLines+1 {
		t.Errorf("%d lines", n)
	}
}

// steppedReader reads one write for each token, and all once tokens is closed.
type steppedReader struct {
	tokens chan struct{}
	text   strings.Builder
}

func (r *steppedReader) Write(p []byte) (int, error) {
	<-r.tokens
	return r.text.Write(p)
}

// Once lines are read again, the gap is told.
func TestAGapInALogIsTold(t *testing.T) {
	to := &steppedReader{tokens: make(chan struct{})}
	w := NewQueuedWriter(to)
	for i := range maxUnreadLines + 10 {
		fmt.Fprintf(w, "line %d\n", i)
	}
	left := w.leftOut
	for range 10 { // ten lines are read: there is room
		to.tokens <- struct{}{}
	}
	fmt.Fprint(w, "again\n")
	close(to.tokens)
	w.FlushAndClose()
	text := to.text.String()
	if want := fmt.Sprintf("Left out: %d lines that nobody read.\nagain\n", left); left < 9 || !strings.HasSuffix(text, want) {
		t.Errorf("%d left out; the output ends %q", left, text[max(0, len(text)-80):])
	}
}
