package api

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// readClient is who reads. An address is one client, but for loopback: there each page is one, by its
// origin, and all other programs of this machine are the operator's own.
type readClient struct {
	from    netip.Prefix // zero for all of loopback
	isLocal bool         // it came over loopback
	origin  string       // of a page, if it did; "": it is no page
}

func readClientOf(r *http.Request) readClient {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return readClient{}
	}
	if at.Addr().Unmap().IsLoopback() {
		return readClient{isLocal: true, origin: r.Header.Get("Origin")}
	}
	return readClient{from: originOf(net.TCPAddrFromAddrPort(at))}
}

// budgetShare is how many of ReadBudget a client has.
func (c readClient) budgetShare() time.Duration {
	if c.isOperator() {
		return OperatorBudgets
	}
	return 1
}

// isOperator reports whether it is a program of this machine, and no page.
func (c readClient) isOperator() bool { return c.isLocal && c.origin == "" }

// describeClient are who it is, for itself.
func (c readClient) describeClient() string {
	switch {
	case c.origin != "":
		return "this page"
	case c.isLocal:
		return "this machine"
	}
	return "this address"
}

// readBudgets is what clients spent on reads. What a read took is counted when it is over. It is safe
// for concurrent use, and nil bounds nobody.
//
// Spec: decision C18.
type readBudgets struct {
	mu     sync.Mutex
	full   map[readClient]time.Time // when each budget is whole again
	others time.Time                // the same, of all clients beyond MaxReadClients together
}

func newReadBudgets() *readBudgets { return &readBudgets{full: map[readClient]time.Time{}} }

// timeUntilRead is how long a client has to wait before it may read; 0 if it may.
func (b *readBudgets) timeUntilRead(now time.Time, c readClient) time.Duration {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	full, known := b.full[c]
	if !known && len(b.full) >= MaxReadClients {
		full = b.others
	}
	return max(full.Add(-ReadWindow).Sub(now), 0)
}

// chargeCycles takes the cycles of a read from the budget of its client, which they may overdraw: by one
// budget at most, so that nobody waits for longer than ReadWindow.
func (b *readBudgets) chargeCycles(now time.Time, c readClient, cycles types.Cycles) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	took := time.Duration(min(max(cycles, LeastReadCycles), 2*OperatorBudgets*ReadBudget)) * (ReadWindow / ReadBudget) / c.budgetShare()
	later := func(full time.Time) time.Time {
		if full.Before(now) {
			full = now
		}
		return now.Add(min(full.Add(took).Sub(now), 2*ReadWindow))
	}
	full, known := b.full[c]
	if !known && len(b.full) >= MaxReadClients {
		for other, full := range b.full { // order: each is judged by itself
			if !full.After(now) {
				delete(b.full, other)
			}
		}
	}
	if known || len(b.full) < MaxReadClients {
		b.full[c] = later(full)
		return
	}
	b.others = later(b.others)
}

// readBill is what the reads of a request cost. One goroutine uses it.
type readBill struct {
	client readClient
	cycles types.Cycles
}

type billKey struct{}

// billReads has the reads of a request counted.
func billReads(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bill := &readBill{client: readClientOf(r)}
		ctx := answers.CountCycles(r.Context(), func(cycles types.Cycles) { bill.cycles += cycles })
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, billKey{}, bill)))
	})
}

// beginRead lets a request execute programs beside blocks, in its client's turn and one of places. The
// request pays at the end.
func (s *Server) beginRead(ctx context.Context, in *places) (end func(), err error) {
	bill, ok := ctx.Value(billKey{}).(*readBill)
	if !ok {
		return in.takePlace()
	}
	over, err := s.turns.takeTurn(ctx, bill.client)
	if err != nil {
		return nil, err
	}
	if wait := s.budgets.timeUntilRead(time.Now(), bill.client); wait > 0 {
		over()
		return nil, Refuse(http.StatusTooManyRequests, "too_many_reads", "reads of %s took more than %d cycles in %s",
			bill.client.describeClient(),
			ReadBudget*uint64(bill.client.budgetShare()), ReadWindow).
			Hint("Read less often or less at once. Try again in %d s.", wholeSeconds(wait)).After(wait)
	}
	free, err := in.takePlace()
	if err != nil {
		over()
		return nil, err
	}
	return func() {
		s.budgets.chargeCycles(time.Now(), bill.client, bill.cycles)
		free()
		over()
	}, nil
}
