package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func clientAt(address string) readClient {
	return readClient{from: netip.PrefixFrom(netip.MustParseAddr(address), 32)}
}

// Decision C18: a client reads until its budget is spent, and again once a part of it is back. No other
// client waits for it.
func TestC18ReadsHaveABudget(t *testing.T) {
	b, now := newReadBudgets(), time.Unix(1_000, 0)
	one, other := clientAt("10.0.0.1"), clientAt("10.0.0.2")
	reads := 0
	for ; b.timeUntilRead(now, one) == 0; reads++ {
		b.chargeCycles(now, one, 1_000_000)
	}
	if reads != ReadBudget/1_000_000+1 {
		t.Errorf("%d reads of a million cycles are let in at once", reads)
	}
	if wait := b.timeUntilRead(now, other); wait != 0 {
		t.Errorf("another client waits %v", wait)
	}
	wait := b.timeUntilRead(now, one)
	if wait <= 0 || wait > time.Second {
		t.Errorf("it waits %v", wait)
	}
	if b.timeUntilRead(now.Add(wait-1), one) == 0 || b.timeUntilRead(now.Add(wait), one) != 0 {
		t.Error("it waits for another time than it is told")
	}
	later := now.Add(wait + ReadWindow)
	sum := types.Cycles(0)
	for at := later; at.Before(later.Add(10 * ReadWindow)); at = at.Add(time.Millisecond) {
		if b.timeUntilRead(at, one) == 0 {
			b.chargeCycles(at, one, 500_000)
			sum += 500_000
		}
	}
	if least, most := types.Cycles(10*ReadBudget), types.Cycles(11*ReadBudget+1_000_000); sum < least || sum > most {
		t.Errorf("%d cycles in ten windows, want %d to %d", sum, least, most)
	}
}

// A read counts something, whatever it took. What is late counts many times its limit, and any debt
// is over within a window.
func TestC18WhatAReadCounts(t *testing.T) {
	b, now, one := newReadBudgets(), time.Unix(1_000, 0), clientAt("10.0.0.1")
	reads := 0
	for ; b.timeUntilRead(now, one) == 0; reads++ {
		b.chargeCycles(now, one, 0)
	}
	if reads != int(ReadWindow/(LeastReadCycles*(ReadWindow/ReadBudget)))+1 {
		t.Errorf("%d empty reads are let in at once", reads)
	}
	two := clientAt("10.0.0.2")
	for reads = 0; b.timeUntilRead(now, two) == 0; reads++ {
		b.chargeCycles(now, two, LateReadTimes*1_000_000)
	}
	if reads != 3 {
		t.Errorf("%d late reads are let in at once", reads)
	}
	for range 100 {
		b.chargeCycles(now, two, 1<<40)
	}
	if wait := b.timeUntilRead(now, two); wait != ReadWindow {
		t.Errorf("after much at once it waits %v", wait)
	}
}

// The operator's own programs have ten budgets. A page that loopback carries has one, by its origin.
func TestC18WhoReads(t *testing.T) {
	budgets := map[string]time.Duration{}
	clients := map[readClient]bool{}
	for _, from := range []struct{ address, origin string }{{"127.0.0.1:1", ""}, {"[::1]:1", ""}, {"127.0.0.1:2", "http://a.example"},
		{"127.0.0.1:3", "http://b.example"}, {"10.0.0.1:1", ""}, {"10.0.0.1:2", "http://a.example"}} {
		r := httptest.NewRequest(http.MethodPost, "/actor/read", nil)
		r.RemoteAddr = from.address
		if from.origin != "" {
			r.Header.Set("Origin", from.origin)
		}
		c := readClientOf(r)
		budgets[from.address+from.origin], clients[c] = c.budgetShare(), true
	}
	want := map[string]time.Duration{"127.0.0.1:1": OperatorBudgets, "[::1]:1": OperatorBudgets, "127.0.0.1:2http://a.example": 1,
		"127.0.0.1:3http://b.example": 1, "10.0.0.1:1": 1, "10.0.0.1:2http://a.example": 1}
	if fmt.Sprint(budgets) != fmt.Sprint(want) || len(clients) != 4 {
		t.Errorf("%v, %d clients", budgets, len(clients))
	}
	b, now, operator := newReadBudgets(), time.Unix(1_000, 0), readClient{isLocal: true}
	reads := 0
	for ; b.timeUntilRead(now, operator) == 0; reads++ {
		b.chargeCycles(now, operator, 1_000_000)
	}
	if reads != OperatorBudgets*ReadBudget/1_000_000+1 {
		t.Errorf("the operator has %d reads of a million cycles", reads)
	}
}

// Clients beyond those that are remembered share one budget, until one of those is forgotten.
func TestC18TheClientsThatAreRememberedAreBounded(t *testing.T) {
	b, now := newReadBudgets(), time.Unix(1_000, 0)
	nth := func(i int) readClient { return clientAt(fmt.Sprintf("10.1.%d.%d", i/256, i%256)) }
	for i := range MaxReadClients {
		b.chargeCycles(now, nth(i), ReadBudget/2)
	}
	for i := range 8 {
		b.chargeCycles(now, nth(MaxReadClients+i), ReadBudget/4)
	}
	if stranger := nth(MaxReadClients + 9); len(b.full) != MaxReadClients || b.timeUntilRead(now, stranger) == 0 ||
		b.timeUntilRead(now, nth(0)) != 0 {
		t.Errorf("%d clients are remembered, a stranger waits %v", len(b.full), b.timeUntilRead(now, stranger))
	}
	now = now.Add(ReadWindow)
	if b.chargeCycles(now, nth(MaxReadClients), ReadBudget/4); len(b.full) != 1 {
		t.Errorf("%d clients are remembered whose budgets are whole", len(b.full))
	}
}

// A request beyond the budget is told when to come again, and in words what to do.
func TestC18AReadBeyondTheBudgetIsRefused(t *testing.T) {
	w := newWorld(t)
	w.deploy("ping")
	read := model.ReadRequest{Actor: "ping", Handler: "spends"}
	post[model.ReadResult](w, "/actor/read", read)
	e := w.refused(429, "too_many_reads", "POST", "/actor/read", read)
	if e.Message != "reads of this address took more than 37000000 cycles in 10s" ||
		e.Hint != "Read less often or less at once. Try again in 10 s." {
		t.Errorf("%+v", e)
	}
	w.refused(429, "too_many_reads", "POST", "/devnet/send", model.SendRequest{From: "alice", To: "ping", Handler: "x", DryRun: true})
	if get[model.Actor](w, "/actor/ping").Name != "ping" {
		t.Error("what runs no program is refused too")
	}
	r := httptest.NewRecorder()
	writeError(r, Refuse(http.StatusTooManyRequests, "too_many_reads", "").After(2_300*time.Millisecond))
	if after := r.Header().Get("Retry-After"); after != "3" {
		t.Errorf("Retry-After is %q", after)
	}
	free := New(w.chain, Config{FreeReads: true})
	defer func() { _ = free.Close() }()
	w.server = free
	for range 3 {
		post[model.ReadResult](w, "/actor/read", read)
	}
}

// The reads of a client run one at a time, in a number that is bounded. Those of another run beside them.
func TestC18ReadsOfAClientRunInTurn(t *testing.T) {
	r, one, other, operator := newReadTurns(), clientAt("10.0.0.1"), clientAt("10.0.0.2"), readClient{isLocal: true}
	take := func(c readClient) func() {
		t.Helper()
		end, err := r.takeTurn(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	first := take(one)
	take(other)()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 32 { // one that finds room may have it
		if _, err := r.takeTurn(gone, one); !errors.Is(err, context.Canceled) {
			t.Fatalf("two run at once: %v", err)
		}
	}
	turn := make(chan func())
	go func() { turn <- take(one) }()
	first()
	(<-turn)()
	first = take(one)
	r.of[one].count = ClientReads
	if _, err := r.takeTurn(t.Context(), one); Answer(err) == nil || Answer(err).Body.Code != "too_many_reads" {
		t.Errorf("one more is answered with %v", err)
	}
	r.of[one].count = 1
	first()
	for range OperatorBudgets {
		defer take(operator)()
	}
	if len(r.of) != 1 {
		t.Errorf("%d clients are remembered that read nothing", len(r.of)-1)
	}
}

// What belongs to no request costs nobody.
func TestC18OutsideARequestNobodyPays(t *testing.T) {
	answers.SpendCycles(context.Background(), program.LateTimesInAll)
	w := newWorld(t)
	if end, err := w.server.beginRead(context.Background(), w.server.reads); err != nil {
		t.Error(err)
	} else {
		end()
	}
}
