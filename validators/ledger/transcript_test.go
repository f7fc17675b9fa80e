package ledger

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// TestTranscripts plays testdata/transcripts. Commands:
//
//	genesis [KEY=VALUE …]      a new chain with these parameters
//	host ACTOR crash|works|TIME  from here on the host of programs crashes over it, or takes so long
//	block [skip=N] [times=N] [share=TIME]  a block, made in such a share of time, with the transactions of the input, one a line:
//	    FROM transfer TO WEI · FROM deploy SAMPLE NAME [WEI] · FROM call ACTOR HANDLER [NUMBER|text]
//	    FROM relay ACTOR call|try|send TARGET HANDLER CYCLES CELLS [NUMBER]
//	    FROM nest 3|4 · FROM set KEY VALUE HEIGHT · FROM config NAME VALUE · FROM cancel ACTOR · FROM extend ACTOR HEIGHT
//	    FROM watch STORM ACTOR KEY BLOCKS: a timer of the storm, which expires after so many blocks
//	    FROM join NAME · FROM leave NAME · FROM bidder ACTOR [BIDDER]
//	  and after any: cycles=N cells=N fee=N tip=N value=N nonce=N
//	show [balances=a,b] [timers=ACTOR] [supply] [validators] [messages] [baseFees]
//	read ACTOR HANDLER         a read-only call
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		var w *world
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if w != nil {
				w.t = t
			}
			switch d.Cmd {
			case "genesis":
				overrides := params.Overrides{}
				for _, arg := range d.CmdArgs {
					overrides[arg.Key] = arg.Vals[0]
				}
				w = newWorld(t, overrides)
				return fmt.Sprintf("height 0, base fees %s %s\n", w.head.header.BaseFeeCycle, w.head.header.BaseFeeCell)
			case "host":
				return w.broken(d.CmdArgs[0].Key, d.CmdArgs[1].Key)
			case "block":
				return w.transcribe(t, d)
			case "show":
				return w.show(d)
			case "read":
				result, err := w.executor.Read(w.head, Call{Actor: w.address(d.CmdArgs[0].Key), Handler: d.CmdArgs[1].Key})
				if err != nil {
					t.Fatal(err)
				}
				return fmt.Sprintf("%s%s output=%s cycles=%d cells=%d\n", result.Outcome.Status, because(result.Outcome.Fault),
					text(result.Outcome.Output), result.Cycles, result.Cells)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func (w *world) transcribe(t *testing.T, d *datadriven.TestData) string {
	times, proposal := 1, w.proposal()
	if d.HasArg("times") {
		d.ScanArgs(t, "times", &times)
	}
	if d.HasArg("skip") {
		d.ScanArgs(t, "skip", &proposal.Skipped)
	}
	var txs []*Checked
	for _, line := range strings.Split(d.Input, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			txs = append(txs, w.parse(t, strings.Fields(line)))
		}
	}
	w.forget()
	if times > 1 {
		w.blocks(times - 1)
		proposal = w.proposal()
	}
	if d.HasArg("share") {
		var share string
		d.ScanArgs(t, "share", &share)
		w.hurried(proposal.Proposer, share)
	}
	w.propose(proposal, txs...)
	return w.report()
}

// hurried gives the next proposal a share of the host's time; each proposer has a
// separate memory.
func (w *world) hurried(proposer types.Address, share string) {
	of, err := time.ParseDuration(share)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.tries == nil {
		w.tries = map[types.Address]*Tries{}
	}
	if w.tries[proposer] == nil {
		w.tries[proposer] = NewTries()
	}
	w.hurry(w.wedge(), of)
	w.pace.Longest, w.pace.Tries = 4*of, w.tries[proposer]
}

// broken makes the host fail on an actor, or take a time on it.
func (w *world) broken(actor, how string) string {
	h, at := w.wedge(), w.address(actor)
	delete(h.crashes, at)
	delete(h.takes, at)
	switch takes, err := time.ParseDuration(how); {
	case err == nil:
		h.takes[at] = takes
	case how == "crash":
		h.crashes[at] = true
	case how != "works":
		w.t.Fatalf("a host does not %q", how)
	}
	return ""
}

// passed lists the items that the last block skipped.
func (w *world) passed(b *strings.Builder) {
	p := w.last.Block.Passed
	if p == nil {
		return
	}
	for _, q := range p.Questions.Failed {
		fmt.Fprintf(b, "skipped: agent %s for %s\n", w.name(q.Bidder), w.name(q.Actor))
	}
	for _, id := range p.Fires.Failed {
		by := fmt.Sprintf("by %d so far", len(w.head.FailedOver(id)))
		if _, pending := w.head.Timer(id); !pending {
			by = "which ends"
		}
		fmt.Fprintf(b, "passed over: timer %s, %s\n", id.Short(), by)
	}
	for _, seq := range p.Messages.Failed {
		fmt.Fprintf(b, "passed over: message %d\n", seq)
	}
	for _, kind := range []struct {
		what    string
		begun   *uint64
		skipped []types.Skip
	}{{"questions", p.Questions.Begun, p.Questions.Skipped}, {"fires", p.Fires.Begun, p.Fires.Skipped},
		{"deliveries", p.Messages.Begun, p.Messages.Skipped}} {
		for _, s := range kind.skipped {
			fmt.Fprintf(b, "left for later: %d %s after %d begun\n", s.Count, kind.what, s.Begun)
		}
		if kind.begun != nil {
			fmt.Fprintf(b, "out of time: %d %s were begun\n", *kind.begun, kind.what)
		}
	}
}

func (w *world) parse(t *testing.T, f []string) *Checked {
	options := map[string]string{}
	for len(f) > 0 && strings.Contains(f[len(f)-1], "=") {
		key, value, _ := strings.Cut(f[len(f)-1], "=")
		options[key], f = value, f[:len(f)-1]
	}
	c := w.made(t, f)
	if len(options) == 0 {
		return c
	}
	tx := c.Tx
	for key, value := range options {
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		switch key {
		case "cycles":
			tx.CyclesLimit = types.Cycles(n)
		case "cells":
			tx.CellsLimit = types.Cells(n)
		case "fee":
			tx.MaxFeePerCycle, tx.MaxFeePerCell = types.WeiOf(n), types.WeiOf(n)
		case "tip":
			tx.MaxPriorityFeePerCycle = types.WeiOf(n)
		case "value":
			tx.Value = types.WeiOf(n)
		case "nonce":
			tx.Nonce = types.Nonce(n)
		default:
			t.Fatalf("unknown option %s", key)
		}
	}
	return w.checked(f[0], tx)
}

func (w *world) made(t *testing.T, f []string) *Checked {
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(f[i], 10, 64)
		if err != nil {
			t.Fatalf("%v: %v", f, err)
		}
		return n
	}
	payload := func(i int) []byte {
		if i >= len(f) {
			return nil
		}
		if n, err := strconv.ParseUint(f[i], 10, 64); err == nil {
			return samples.Number(n)
		}
		return []byte(f[i])
	}
	from := f[0]
	switch f[1] {
	case "transfer":
		return w.transfer(from, f[2], number(3))
	case "deploy":
		fund := uint64(0)
		if len(f) > 4 {
			fund = number(4)
		}
		return w.deploy(from, f[2], f[3], fund)
	case "call":
		return w.call(from, f[2], f[3], payload(4))
	case "relay":
		order := samples.Order{Target: w.address(f[4]), Handler: f[5], Cycles: types.Cycles(number(6)), Cells: types.Cells(number(7)),
			Payload: payload(8)}
		return w.call(from, f[2], f[3], order.Encode())
	case "nest": // r1, r2, then c or, one deeper, r3 and c
		inner := samples.Order{Target: w.address("c"), Handler: "increment", Payload: []byte{}}
		if number(2) == 4 {
			inner = samples.Order{Target: w.address("r3"), Handler: "call", Payload: inner.Encode()}
		}
		middle := samples.Order{Target: w.address("r2"), Handler: "call", Payload: inner.Encode()}
		return w.call(from, "r1", "call", middle.Encode())
	case "set":
		return w.instructBy(from, governance.OpSetParameter, &governance.SetParameter{Key: f[2], Value: f[3], Height: types.Height(number(4))})
	case "config":
		value := number(3)
		return w.instructBy(from, governance.OpUpdateTimerConfig, map[string]any{"config": map[string]uint64{f[2]: value}})
	case "cancel":
		return w.instructBy(from, governance.OpCancelTimer, &governance.CancelTimer{TimerID: w.firstTimer(t, f[2])})
	case "extend":
		return w.instructBy(from, governance.OpExtendTimer,
			&governance.ExtendTimer{TimerID: w.firstTimer(t, f[2]), NewExpiresAt: types.Height(number(3))})
	case "watch":
		expires := types.Height(number(5))
		watched := types.Watch{Actor: w.address(f[3]), Key: types.Bytes(f[4])}
		return w.call(from, f[2], "make", encodeStorm(t, samples.Storm{Count: 1, In: 1, ExpiresIn: &expires, Watch: &watched}))
	case "bidder":
		var bidder []byte
		if len(f) > 3 {
			address := w.address(f[3])
			bidder = address[:]
		}
		return w.call(from, f[2], "set_gas_bidder", bidder)
	case "join":
		return w.instructBy(from, governance.OpJoinValidator, &governance.JoinValidator{PublicKey: w.key(f[2]).PublicKey()})
	case "leave":
		return w.instructBy(from, governance.OpLeaveValidator, &governance.LeaveValidator{Address: w.address(f[2])})
	}
	t.Fatalf("unknown transaction %v", f)
	return nil
}

func (w *world) firstTimer(t *testing.T, actor string) types.TimerID {
	pending := w.head.Timers(w.address(actor))
	if len(pending) == 0 {
		t.Fatalf("%s has no timer", actor)
	}
	return pending[0].ID
}

// report prints the last block.
func (w *world) report() string {
	var b strings.Builder
	h, r := &w.last.Block.Header, w.last
	fmt.Fprintf(&b, "height %d", h.Height)
	if h.Skipped > 0 {
		fmt.Fprintf(&b, " (skipped %d)", h.Skipped)
	}
	fmt.Fprintf(&b, " base fees %s %s, used %d cycles %d cells, timers %d\n", h.BaseFeeCycle, h.BaseFeeCell, h.CyclesUsed, h.CellsUsed,
		h.TimerCyclesUsed)
	if r.Lane.Policy != scheduler.Fifo {
		fmt.Fprintf(&b, "lane %s: base fee %s, examined %d, used %d, cleanup %d, agents %d\n", r.Lane.Policy, h.BaseFeeLaneTimer,
			r.Lane.Examined, r.Lane.Cycles, r.Lane.GCCycles, r.Lane.AskCycles)
	}
	w.passed(&b)
	for _, d := range w.dropped {
		fmt.Fprintf(&b, "dropped: %v\n", d.Err)
	}
	for i := range r.Receipts {
		w.receipt(&b, &r.Receipts[i])
	}
	for i := range r.Timers {
		c := &r.Timers[i]
		fmt.Fprintf(&b, "timer %s of %s: %s due %d expires %d", c.Timer.ID.Short(), w.name(c.Timer.Actor), c.Status, c.Timer.Height,
			c.Timer.ExpiresAt)
		if c.Reason != "" {
			fmt.Fprintf(&b, " (%s)", c.Reason)
		}
		if c.Status == types.TimerFired {
			fmt.Fprintf(&b, ": %s, %d cycles, %d cells, paid %s", c.Result, c.CyclesUsed, c.CellsUsed, c.FeePaid)
		}
		if !c.Priority.IsZero() {
			fmt.Fprintf(&b, ", priority %s", c.Priority)
		}
		if c.Weight.Den != 0 {
			fmt.Fprintf(&b, ", weight %s", c.Weight)
		}
		b.WriteByte('\n')
	}
	for _, e := range r.Events {
		fmt.Fprintf(&b, "event %s\n", w.event(e))
	}
	for _, l := range r.Logs {
		fmt.Fprintf(&b, "log of %s: %s\n", w.name(l.Actor), l.Line)
	}
	if r.Burned != (Burned{}) || r.Tips != (Tips{}) {
		fmt.Fprintf(&b, "burned %s + %s + %s, tips %s + %s\n", r.Burned.Cycle, r.Burned.Cell, r.Burned.LaneTimer, r.Tips.Transactions,
			r.Tips.Timers)
	}
	if r.NextSet != nil {
		fmt.Fprintf(&b, "the next epoch is %d, of %d validators\n", r.NextSet.Epoch, len(r.NextSet.Members))
	}
	if r.HasWork {
		b.WriteString("work is due\n")
	}
	return b.String()
}

func (w *world) receipt(b *strings.Builder, r *types.Receipt) {
	fmt.Fprintf(b, "%d %s %s → %s", r.Index, r.Origin, w.name(r.Sender), w.name(r.To))
	if r.Handler != "" {
		fmt.Fprintf(b, ".%s", r.Handler)
	}
	fmt.Fprintf(b, ": %s%s, %d cycles, %d cells, fee %s", r.Status, because(r.Error), r.Cycles, r.Cells, r.Fee)
	if !r.Tip.IsZero() {
		fmt.Fprintf(b, " with tip %s", r.Tip)
	}
	if len(r.Output) > 0 {
		fmt.Fprintf(b, ", output %s", text(r.Output))
	}
	b.WriteByte('\n')
	for _, e := range r.Events {
		fmt.Fprintf(b, "  event %s\n", w.event(e))
	}
}

func because(f *types.Fault) string {
	if f == nil {
		return ""
	}
	if len(f.Message) > 60 {
		return fmt.Sprintf(" (%s)", f.Code)
	}
	return fmt.Sprintf(" (%s: %s)", f.Code, f.Message)
}

// event prints the map of the chain's own events by its keys.
func (w *world) event(e types.Event) string {
	var fields map[string]any
	if e.Actor != types.GovernanceAddress || codec.UnmarshalLoose(e.Data, 1<<20, &fields) != nil {
		return fmt.Sprintf("%s of %s: %s", e.Name, w.name(e.Actor), text(e.Data))
	}
	keys := make([]string, 0, len(fields))
	for key := range fields {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	s := e.Name
	for _, key := range keys {
		value := fields[key]
		if bytes, ok := value.([]byte); ok {
			value = text(bytes)
			if len(bytes) == 20 {
				value = w.name(types.Address(bytes))
			}
		}
		s += fmt.Sprintf(" %s=%v", key, value)
	}
	return s
}

// text prints numbers as numbers, words as words, and the rest by its first bytes.
func text(b []byte) string {
	switch {
	case len(b) == 8 && b[0] == 0:
		return strconv.FormatUint(binary.BigEndian.Uint64(b), 10)
	case len(b) == 0:
		return "-"
	case len(b) < 64 && strings.IndexFunc(string(b), func(r rune) bool { return r < 32 || r > 126 }) < 0:
		return string(b)
	}
	return fmt.Sprintf("0x%x…", b[:min(4, len(b))])
}

func (w *world) show(d *datadriven.TestData) string {
	var b strings.Builder
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "balances":
			for _, name := range arg.Vals {
				fmt.Fprintf(&b, "%s has %s wei, nonce %d\n", name, w.balance(name), w.head.Account(w.address(name)).Nonce)
			}
		case "timers":
			for _, timer := range w.head.Timers(w.address(arg.Vals[0])) {
				fmt.Fprintf(&b, "timer %s due %d expires %d limit %d payer %s, deferred %d times\n",
					timer.ID.Short(), timer.Height, timer.ExpiresAt, timer.GasLimit, w.name(timer.FeePayer), timer.Deferrals)
			}
		case "supply":
			s := w.head.Supply()
			fmt.Fprintf(&b, "genesis %s, burned %s + %s + %s, circulating %s\n", s.Genesis, s.BurnedCycle, s.BurnedCell, s.BurnedLaneTimer,
				s.Circulating())
		case "validators":
			fmt.Fprintf(&b, "epoch %d:", w.head.Validators().Epoch)
			for _, v := range w.head.Validators().Members {
				fmt.Fprintf(&b, " %s", w.name(v.Address))
			}
			b.WriteByte('\n')
		case "messages":
			n := 0
			w.head.Messages(func(*actors.Message) bool { n++; return true })
			fmt.Fprintf(&b, "%d messages wait\n", n)
		case "fees":
			f := w.head.NextBaseFees()
			fmt.Fprintf(&b, "next base fees %s %s %s\n", f.Cycle, f.Cell, f.LaneTimer)
		case "skippable":
			if n := w.head.Skippable(); n < 1<<32 {
				fmt.Fprintf(&b, "skippable %d\n", n)
			} else {
				fmt.Fprintf(&b, "skippable without a bound\n")
			}
		}
	}
	return b.String()
}
