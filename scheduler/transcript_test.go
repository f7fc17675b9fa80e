package scheduler

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// The transcripts speak of one block at a time: schedule, cancel and extend are
// its transactions, block ends it and prints what the lane did. Handlers follow the
// handler command for their timer.
type transcript struct {
	*world
	names  map[types.TimerID]string
	ids    map[string]types.TimerID
	deeds  map[string][]string
	says   map[types.Address]string // what bidders answer
	marked int
}

func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		s := &transcript{world: newWorld(), names: map[types.TimerID]string{}, ids: map[string]types.TimerID{}, deeds: map[string][]string{},
			says: map[types.Address]string{}}
		s.world.handle, s.world.answer = s.handle, s.answer
		for _, name := range []string{"alice", "bob"} {
			s.fund(addressOf(name), types.WeiOf(10_000_000_000))
		}
		datadriven.RunTest(t, path, s.run)
	})
}

func (s *transcript) run(t *testing.T, d *datadriven.TestData) string {
	arg := func(key string) (value string) {
		if d.HasArg(key) {
			d.ScanArgs(t, key, &value)
		}
		return value
	}
	switch d.Cmd {
	case "params":
		for _, a := range d.CmdArgs {
			if err := s.p.Set(a.Key, a.Vals[0]); err != nil {
				t.Fatal(err)
			}
		}
		return "ok"
	case "schedule":
		return s.scheduled(arg, strings.TrimSuffix(d.Input, "\n"))
	case "cancel":
		change, err := s.blockNow().Cancel(s.address(arg("by")), s.ids[d.CmdArgs[0].Key])
		return s.changed(change, err)
	case "extend":
		change, err := s.blockNow().Extend(s.address(arg("by")), s.ids[d.CmdArgs[0].Key], types.Height(number(arg("to"))))
		return s.changed(change, err)
	case "fees":
		for _, a := range d.CmdArgs {
			wei := types.WeiOf(number(a.Vals[0]))
			switch a.Key {
			case "cycle":
				s.fees.Cycle = wei
			case "cell":
				s.fees.Cell = wei
			case "lane":
				s.fees.Lane = wei
			}
		}
		return "ok"
	case "bidder":
		s.says[s.address(d.CmdArgs[0].Key)] = d.Input
		return "ok"
	case "set-gas-bidder":
		s.blockNow().SetGasBidder(s.address(arg("by")), ptr(s.address(arg("to"))))
		return "ok"
	case "balance":
		var b strings.Builder
		for _, a := range d.CmdArgs {
			fmt.Fprintf(&b, "%s %s\n", a.Key, s.Balance(s.address(a.Key)))
		}
		return b.String()
	case "lambda":
		return biasLambda(&s.p, s.kv)
	case "p50":
		return previousP50(s.kv, s.now()).String()
	case "handler":
		s.deeds[d.CmdArgs[0].Key] = strings.Fields(d.Input)
		return "ok"
	case "begin":
		s.marked = s.kv.mark()
		return "ok"
	case "rollback":
		s.kv.rollback(s.marked)
		return "ok"
	case "fund":
		for _, a := range d.CmdArgs {
			s.fund(s.address(a.Key), types.WeiOf(number(a.Vals[0])))
		}
		return "ok"
	case "cells-left":
		s.cells = types.Cells(number(d.CmdArgs[0].Key))
		return "ok"
	case "skip-to":
		s.head = types.Height(number(d.CmdArgs[0].Key)) - 1
		return "ok"
	case "block":
		return s.blocks(d)
	case "pending":
		return s.pending(s.address(d.CmdArgs[0].Key))
	case "next-due":
		height, ok := NextDue(&s.p, s.kv)
		return fmt.Sprintf("%d %v", height, ok)
	case "state":
		return s.state()
	}
	t.Fatalf("unknown command %s", d.Cmd)
	return ""
}

func number(text string) uint64 {
	n, err := strconv.ParseUint(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (s *transcript) address(name string) types.Address {
	switch name {
	case "escrow":
		return types.TimerEscrow
	case "proposer":
		return proposer
	}
	if n, ok := strings.CutPrefix(name, "system"); ok {
		return types.SystemAddress(byte(number(n)))
	}
	return addressOf(name)
}

func nameOf(a types.Address) string {
	if a.InSystemBand() {
		return fmt.Sprintf("system%d", a[19])
	}
	return strings.TrimRight(string(a[1:]), "\x00")
}

func (s *transcript) scheduled(arg func(string) string, payload string) string {
	r := program.TimerRequest{Height: types.Height(number(arg("at"))), Payload: []byte(payload), Handler: arg("handler")}
	if v := arg("payload-bytes"); v != "" {
		r.Payload = make([]byte, number(v))
	}
	if v := arg("gas"); v != "" {
		r.GasLimit = ptr(types.Cycles(number(v)))
	}
	if v := arg("expires"); v != "" {
		r.ExpiresAt = ptr(types.Height(number(v)))
	}
	if v := arg("payer"); v != "" {
		r.FeePayer = ptr(s.address(v))
	}
	if v := arg("bid"); v != "" {
		r.Bid = ptr(types.WeiOf(number(v)))
	}
	if v := arg("max-fee"); v != "" {
		r.MaxFeePerCycle = ptr(types.WeiOf(number(v)))
	}
	if v := arg("tip"); v != "" {
		r.MaxPriorityFeePerCycle = ptr(types.WeiOf(number(v)))
	}
	if v := arg("gba"); v != "" {
		r.GBA = ptr(s.address(v))
	}
	r.PriorityTier = arg("tier")
	var signed *types.Sponsorship
	if v := arg("signer"); v != "" {
		signed = signedBy(s.address(v), types.Wei{})
	}
	if v := arg("sponsor"); v != "" {
		signed.Most = types.WeiOf(number(v))
	}
	timer, events, err := s.blockNow().Schedule(s.address(arg("by")), signed, r)
	if err != nil {
		return refusal(err)
	}
	s.ids[arg("name")], s.names[timer.ID] = timer.ID, arg("name")
	gas := "cap"
	if timer.GasLimit != types.DefaultGasLimit {
		gas = fmt.Sprint(uint64(timer.GasLimit))
	}
	line := fmt.Sprintf("seq=%d height=%d handler=%s payload=%dB payer=%s gas=%s expires=%d", timer.Seq, timer.Height, timer.Handler,
		len(timer.Payload), nameOf(timer.FeePayer), gas, timer.ExpiresAt)
	if timer.MaxFeePerCycle != nil {
		line += " max-fee=" + timer.MaxFeePerCycle.String()
	}
	if timer.MaxPriorityFeePerCycle != nil {
		line += " tip=" + timer.MaxPriorityFeePerCycle.String()
	}
	for _, e := range events {
		line += "\nevent " + e.Name
	}
	return line
}

// answer says what the bidder command said: used=N cycles, then fail=CODE,
// garbage, or fee=N and tip=N.
func (s *transcript) answer(_ *world, q BidCall) Answer {
	said, known := s.says[q.Bidder]
	if !known {
		return Answer{Fault: "no_actor"}
	}
	var fees TxFeeParams
	a := Answer{}
	for _, word := range strings.Fields(said) {
		verb, value, _ := strings.Cut(word, "=")
		switch verb {
		case "used":
			a.Cycles = types.Cycles(number(value))
		case "fail":
			a.Fault = value
		case "garbage":
			a.Output = []byte("garbage")
		case "fee":
			fees.MaxFeePerCycle = ptr(types.WeiOf(number(value)))
		case "tip":
			fees.MaxPriorityFeePerCycle = ptr(types.WeiOf(number(value)))
		}
	}
	if a.Fault == "" && a.Output == nil {
		a.Output = codec.Marshal(&fees)
	}
	return a
}

func refusal(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Error()
	}
	return "error: " + err.Error()
}

func (s *transcript) changed(change types.TimerChange, err error) string {
	if err != nil {
		return refusal(err)
	}
	return s.line(change)
}

// handle does the actions of a timer: use=N cycles, cells=N, fail, cancel=NAME,
// drain (its payer's balance), at=+N to schedule the next under the same name.
func (s *transcript) handle(w *world, o Fire) Fired {
	name := s.names[o.Timer.ID]
	fired := Fired{Result: types.StatusOK, Cycles: 1000, Cells: 10}
	for _, deed := range s.deeds[name] {
		verb, value, _ := strings.Cut(deed, "=")
		switch verb {
		case "use":
			fired.Cycles = types.Cycles(number(value))
		case "cells":
			fired.Cells = types.Cells(number(value))
		case "fail":
			fired.Result = types.StatusReverted
		case "drain":
			w.fund(o.Timer.FeePayer, types.Wei{})
		case "cancel":
			if change, err := w.blockNow().Cancel(o.Timer.Actor, s.ids[value]); err == nil {
				fired.Changes = append(fired.Changes, change)
			}
		case "at":
			next, err := w.schedule(o.Timer.Actor, program.TimerRequest{Height: w.now() + types.Height(number(value[1:]))})
			if err != nil {
				panic(err)
			}
			s.names[next.ID], s.ids[name] = name, next.ID
			fired.Changes = append(fired.Changes, Scheduled(next))
		}
	}
	return fired
}

func (s *transcript) line(c types.TimerChange) string {
	line := fmt.Sprintf("%s %s", s.names[c.Timer.ID], c.Status)
	if c.Status == types.TimerFired {
		line += fmt.Sprintf(" result=%s cycles=%d cells=%d fee=%s", c.Result, c.CyclesUsed, c.CellsUsed, c.FeePaid)
	}
	if c.Weight.Den > 0 {
		line += fmt.Sprintf(" priority=%s weight=%s", c.Priority, c.Weight)
	} else if !c.Priority.IsZero() {
		line += fmt.Sprintf(" bid=%s", c.Priority)
	}
	if !c.TipPaid.IsZero() && isAuction(&s.p) {
		line += fmt.Sprintf(" pays=%s", c.TipPaid)
	}
	if c.Reason != "" {
		line += " (" + c.Reason + ")"
	}
	if c.Status == types.TimerPending && c.Reason == "" {
		line += fmt.Sprintf(" for %d", c.Timer.Height)
	}
	if c.Timer.Deferrals > 0 {
		line += fmt.Sprintf(" deferrals=%d", c.Timer.Deferrals)
	}
	return line
}

func (s *transcript) blocks(d *datadriven.TestData) string {
	var b strings.Builder
	count := 1
	if len(d.CmdArgs) > 0 {
		count = int(number(d.CmdArgs[0].Key))
	}
	for range count {
		out := s.block()
		fmt.Fprintf(&b, "block %d: examined=%d cycles=%d cells=%d gc=%d", s.head, out.Examined, out.Cycles, out.Cells, out.GCCycles)
		if len(s.asked) > 0 {
			fmt.Fprintf(&b, " asked=%d for %d", len(s.asked), out.AskCycles)
		}
		b.WriteString("\n")
		for _, c := range out.Changes {
			b.WriteString("  " + s.line(c) + "\n")
		}
		for _, e := range out.Events {
			b.WriteString("  event " + e.Name + "\n")
		}
	}
	return b.String()
}

func (s *transcript) pending(actor types.Address) string {
	var b strings.Builder
	for _, t := range Pending(&s.p, s.kv, s.head, actor) {
		fmt.Fprintf(&b, "%s seq=%d height=%d expires=%d deferrals=%d\n", s.names[t.ID], t.Seq, t.Height, t.ExpiresAt, t.Deferrals)
	}
	fmt.Fprintf(&b, "count=%d", pendingCount(s.kv, actor))
	return b.String()
}

// state prints every key with the length of its value.
func (s *transcript) state() string {
	var b strings.Builder
	for _, p := range s.kv.dump() {
		fmt.Fprintf(&b, "%s", p.key[:3])
		if len(p.key) > 3 {
			fmt.Fprintf(&b, "/%x", p.key[4:])
		}
		fmt.Fprintf(&b, " %dB\n", len(p.value))
	}
	return b.String()
}
