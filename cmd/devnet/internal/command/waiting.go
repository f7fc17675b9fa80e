package command

import (
	"context"
	"fmt"
	"io"
	"net/http/httptrace"
	"net/textproto"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// How long a command waits for an answer before it says so, and before it says so again.
const (
	firstWord = 3 * time.Second
	NextWord  = 10 * time.Second
)

// reasonPatience is how long the network may take to say why a command waits.
const reasonPatience = 2 * time.Second

// Waiting says in time that a command waits for the answer to an order, and knows the
// transaction that the network took from it.
type Waiting struct {
	out         io.Writer
	isSilent    bool
	First, Next time.Duration

	mu    sync.Mutex
	hash  string // of the transaction of the order under way, once the network has it; ""
	since time.Time
	end   context.CancelFunc // of its words; nil: no order is under way
	after *failure.Failure   // what becomes of the order after an interrupt, in its words; nil: a transaction's
}

// NewWaiting prints to out; a silent one prints nothing.
func NewWaiting(out io.Writer, isSilent bool) *Waiting {
	return &Waiting{out: out, isSilent: isSilent, First: firstWord, Next: NextWord}
}

type waitingKey struct{}

// TraceOrders returns a context whose requests are waited for.
func (w *Waiting) TraceOrders(ctx context.Context) context.Context {
	address := ""
	return httptrace.WithClientTrace(context.WithValue(ctx, waitingKey{}, w), &httptrace.ClientTrace{
		GetConn: func(hostPort string) {
			w.ForgetOrder()
			address = hostPort
		},
		WroteHeaderField: func(key string, _ []string) {
			if key == model.InterimHeader { // it is an order
				w.noteOrder(ctx, address)
			}
		},
		Got1xxResponse: func(_ int, header textproto.MIMEHeader) error {
			w.noteHandedIn(header.Get(model.TransactionHeader))
			return nil
		},
		PutIdleConn: func(error) { w.ForgetOrder() }, // the answer was read
	})
}

// SetInterruptWords sets what a command says of an order of its own that outlives it, and the remedy.
func SetInterruptWords(ctx context.Context, what, hint string) {
	if w, ok := ctx.Value(waitingKey{}).(*Waiting); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.after = &failure.Failure{What: what, Hint: hint}
	}
}

// noteOrder notes that an order was sent.
func (w *Waiting) noteOrder(ctx context.Context, address string) {
	ctx, cancel := context.WithCancel(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.end = time.Now(), cancel
	if !w.isSilent {
		go w.printWaits(ctx, address)
	}
}

func (w *Waiting) noteHandedIn(hash string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hash = hash
}

// ForgetOrder notes that no order is under way.
func (w *Waiting) ForgetOrder() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hash = ""
	if w.end != nil {
		w.end()
		w.end = nil
	}
}

// printWaits prints a line after a while, and again and again, until the order is over.
func (w *Waiting) printWaits(ctx context.Context, address string) {
	for wait := w.First; Sleep(ctx, wait); wait = w.Next {
		line := w.describeWait(askWhyWaiting(ctx, address))
		if ctx.Err() == nil {
			fmt.Fprintln(w.out, line)
		}
	}
}

// describeWait says for how long an order is under way, and why it may be.
func (w *Waiting) describeWait(reason string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	what := "Waiting for the answer"
	if w.hash != "" {
		what = "Handed in as " + words.Short(w.hash) + ", and not final"
	}
	return fmt.Sprintf("%s after %s: %s.", what, time.Since(w.since).Round(time.Second), reason)
}

// askWhyWaiting returns what the network says about its blocks.
func askWhyWaiting(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, reasonPatience)
	defer cancel()
	ready, err := client.NewAPI(address).Ready(ctx)
	switch {
	case err != nil:
		return "the network does not say why"
	case ready.Stalled != "":
		return "no block for " + terminal.Duration(ready.SinceMS) + ": " + words.Printable(ready.Stalled)
	}
	return fmt.Sprintf("the network is at height %d", ready.Height)
}

// DescribeInterrupt says what becomes of the order that is under way.
func (w *Waiting) DescribeInterrupt() *failure.Failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &failure.Failure{Code: failure.ExitFailed, What: "interrupted", Name: "interrupted"}
	switch {
	case w.end == nil:
	case w.hash != "":
		f.What += ": the transaction is handed in, and not final"
		f.Hint = "devnet tx " + words.Short(w.hash) + " shows its end."
	case w.after != nil:
		f.What += ": " + w.after.What
		f.Hint = w.after.Hint
	default:
		f.What += " before the network answered"
		f.Hint = "What was asked for may still be done: devnet events --from 1 shows it."
	}
	return f
}
