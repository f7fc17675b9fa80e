package devnettest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
)

// held is a test that a test looks at: what it logs, and what it does at its end.
type held struct {
	testing.TB
	failed bool
	logged strings.Builder
	last   []func()
}

func (h *held) Helper()                        {}
func (h *held) Failed() bool                   { return h.failed }
func (h *held) Cleanup(f func())               { h.last = append(h.last, f) }
func (h *held) Logf(format string, a ...any)   { fmt.Fprintf(&h.logged, format+"\n", a...) }
func (h *held) Errorf(format string, a ...any) { h.failed = true; h.Logf(format, a...) }

func (h *held) end() {
	for _, f := range h.last {
		f()
	}
}

func TestAFailedTestShowsTheTimeline(t *testing.T) {
	for _, world := range []Option{Simulated(), Live()} {
		for _, fails := range []bool{false, true} {
			h := &held{TB: t}
			n := Start(h, world, Validators(1), Runners(0), Seed(9), Actor("../fixtures/actors/counter.py"))
			if _, err := n.Call(t.Context(), client.Call{To: "counter", Handler: "add", Payload: []byte("x")}); err == nil {
				t.Error("x is a number")
			}
			h.failed = fails
			h.end()
			text := h.logged.String()
			if !fails {
				if text != "" {
					t.Errorf("a test that passed shows %s", text)
				}
				continue
			}
			text = strings.Join(strings.Fields(text), " ") // lines are broken at 80 columns
			for _, want := range []string{"1 validators and 0 runners, seed 9", "v0 block", "the test: send from=alice handler=add",
				"a call of add at counter failed"} {
				if !strings.Contains(text, want) {
					t.Errorf("it does not show %q:\n%s", want, text)
				}
			}
		}
	}
}

func TestWrongOptionsAreRefused(t *testing.T) {
	for want, options := range map[string][]Option{
		"Validators: a network has 1 to 100": {Validators(0)},
		"Runners: a network has 0 to 100":    {Runners(101)},
		"BlockTime: whole milliseconds":      {BlockTime(time.Microsecond)},
		"BlockTime or Auto":                  {Auto(), BlockTime(time.Second)},
		"no.such":                            {Param("no.such", "1")},
		"none.py":                            {Validators(1), Runners(0), Actor("none.py")},
	} {
		if n, err := Open(t.Context(), options...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it opens %v: %v, and not %s", n, err, want)
		}
	}
}

// Events follow a simulated network, and continue after it went back.
func TestEventsOfASimulatedNetwork(t *testing.T) {
	n, ctx := Start(t, Validators(1), Runners(0)), t.Context()
	if _, err := n.Transfer(ctx, "alice", "bob", client.WeiOf(1)); err != nil { // so that something is told
		t.Fatal(err)
	}
	begin, err := n.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	for _, amount := range []uint64{5, 7} {
		if err := begin.Revert(); err != nil {
			t.Fatal(err)
		}
		r, err := n.Transfer(ctx, "alice", "bob", client.WeiOf(amount))
		if err != nil {
			t.Fatal(err)
		}
		var seen []client.Receipt
		var blocks int
		err = n.Events(ctx, client.Follow{From: r.Height, Kinds: []string{client.EventBlock, client.EventTx}}, func(e client.Event) error {
			if e.Kind == client.EventBlock {
				_, err := e.Block()
				blocks++
				return err
			}
			got, err := e.Receipt()
			seen = append(seen, got)
			if _, wrong := e.Timer(); wrong == nil {
				t.Error("a receipt is a timer")
			}
			return errors.Join(err, enough)
		})
		if !errors.Is(err, enough) || blocks != 1 || len(seen) != 1 || seen[0].Hash != r.Hash {
			t.Errorf("%v, %d blocks, %v: the transfer was %s", err, blocks, seen, r.Hash)
		}
	}
}

func TestEventsAreOfTheirKind(t *testing.T) {
	for kind, read := range map[string]func(client.Event) error{
		client.EventBlock:    func(e client.Event) error { _, err := e.Block(); return err },
		client.EventTx:       func(e client.Event) error { _, err := e.Receipt(); return err },
		client.EventTimer:    func(e client.Event) error { _, err := e.Timer(); return err },
		client.EventLog:      func(e client.Event) error { _, err := e.Log(); return err },
		client.EventJob:      func(e client.Event) error { _, err := e.Job(); return err },
		client.EventPresence: func(e client.Event) error { _, err := e.Presence(); return err },
		client.EventFault:    func(e client.Event) error { _, err := e.Fault(); return err },
	} {
		if err := read(client.Event{Kind: kind, Data: []byte("{}")}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if read(client.Event{Kind: kind, Data: []byte("[")}) == nil || read(client.Event{Kind: "other", Data: []byte("{}")}) == nil {
			t.Errorf("%s is read from an invalid text", kind)
		}
	}
}

// A live network keeps no snapshot, and reports that; a simulated one keeps none of a
// job.
func TestWhatKeepsASnapshotAway(t *testing.T) {
	var refused *client.Error
	live := Start(t, Live(), Validators(1), Runners(0))
	if _, err := live.Snapshot(); !errors.As(err, &refused) || refused.Code != "not_simulated" {
		t.Errorf("a live network: %v", err)
	}
	n := Start(t, Validators(1), Runners(1))
	if _, err := n.SubmitJob(t.Context(), client.JobRequest{Kind: "custom", Executor: "manual"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Snapshot(); !errors.As(err, &refused) || refused.Code != "not_at_rest" || refused.Hint == "" {
		t.Errorf("with an open job: %v", err)
	}
}

// A fault says when it began, and when it ended.
func TestAFaultHasItsTimes(t *testing.T) {
	n := Start(t, Validators(4), Runners(0))
	for _, verb := range []string{"freeze", "thaw"} {
		if _, err := n.Fault(t.Context(), client.FaultOrder{Verb: verb, Node: "v1"}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Run(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		all, err := n.Faults(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatalf("the faults are %+v: %v", all, err)
		}
		block, err := n.Block(t.Context(), mustHeight(t, n))
		if err != nil {
			t.Fatal(err)
		}
		f := all[0]
		if f.BeganMS == 0 || f.BeganMS > block.TimestampMS || f.Ended != (verb == "thaw") || f.Ended != (f.EndedMS != nil) {
			t.Errorf("after %s it is %+v", verb, f)
		}
		if f.EndedMS != nil && (*f.EndedMS <= f.BeganMS || *f.EndedMS > block.TimestampMS) {
			t.Errorf("it ended at %d and began at %d, by block %d", *f.EndedMS, f.BeganMS, block.TimestampMS)
		}
	}
}

func mustHeight(t *testing.T, n *Network) client.Height {
	t.Helper()
	h, err := n.Height(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}
