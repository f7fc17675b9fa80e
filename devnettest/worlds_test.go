package devnettest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/devnettest"
)

// walk does everything with a network that its client can, and notes the outcomes.
type walk struct {
	*testing.T
	n     *devnettest.Network
	ctx   context.Context
	lines []string
}

// say notes an outcome, with its error.
func (w *walk) say(err error, format string, args ...any) {
	w.Helper()
	if err != nil {
		var refused *client.Error
		if !errors.As(err, &refused) {
			w.Errorf("%s: %v", fmt.Sprintf(format, args...), err)
		}
		format, args = "%s: refused: %s", []any{fmt.Sprintf(format, args...), refused.Code}
	}
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// must returns a value that the rest needs.
func must[T any](w *walk) func(T, error) T {
	return func(v T, err error) T {
		w.Helper()
		if err != nil {
			w.Fatal(err)
		}
		return v
	}
}

func actorFile(name string) string { return filepath.Join("..", "fixtures", "actors", name) }

// The two worlds answer alike, but for times and heights. A block takes a quarter of a second:
// Python on a busy machine has its share of time in most of them, and a fire is deferred by mostLate at most.
func TestAllOfTheClientInBothWorlds(t *testing.T) {
	told := map[string][]string{}
	for name, world := range map[string]devnettest.Option{"simulated": devnettest.Simulated(), "live": devnettest.Live()} {
		t.Run(name, func(t *testing.T) {
			n := devnettest.Start(t, world, devnettest.Runners(2), devnettest.BlockTime(250*time.Millisecond), devnettest.Seed(5),
				devnettest.Param("cip3.min_basefee", "3"), devnettest.Actor(actorFile("heartbeat.py")))
			w := &walk{T: t, n: n, ctx: t.Context()}
			for _, part := range []func(){w.chain, w.actors, w.timers, w.jobs, w.runners, w.validators, w.steering, w.faults} {
				part()
			}
			told[name] = w.lines
		})
	}
	if !slices.Equal(told["simulated"], told["live"]) {
		for i := range max(len(told["simulated"]), len(told["live"])) {
			if a, b := at(told["simulated"], i), at(told["live"], i); a != b {
				t.Errorf("line %d:\n simulated  %s\n live       %s", i, a, b)
			}
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

func (w *walk) chain() {
	n, ctx := w.n, w.ctx
	ready, err := n.Ready(ctx)
	w.say(err, "ready %t, chain %d, strict %t", ready.Ready, ready.ChainID, ready.Strict)
	r, err := n.Transfer(ctx, "alice", "bob", client.CBY(2))
	w.say(err, "a transfer is %s", r.Status)
	block := must[client.Block](w)(n.Block(ctx, r.Height))
	listed, err := n.Receipts(ctx, r.Height)
	w.say(err, "its block has it: %t, %t", slices.Contains(block.Transactions, r.Hash), slices.ContainsFunc(listed,
		func(one client.Receipt) bool { return one.Hash == r.Hash }))
	same, err := n.Receipt(ctx, r.Hash)
	w.say(err, "its receipt is the same: %t", same.Fee.Cmp(r.Fee) == 0 && same.Height == r.Height)
	tx, err := n.Transaction(ctx, r.Hash)
	w.say(err, "the transaction is %s, of %s wei", tx.Status, tx.Value)
	latest := must[client.Block](w)(n.LatestBlock(ctx))
	height := must[client.Height](w)(n.Height(ctx))
	w.say(nil, "the latest block is no older: %t", latest.Height >= r.Height && height >= r.Height)
	accounts, err := n.Accounts(ctx)
	w.say(err, "%d accounts, the first is %s", len(accounts), accounts[0].Name)
	carol, err := n.Account(ctx, "carol")
	w.say(err, "carol has nonce %d and %s", carol.Nonce, carol.Balance)
	given, err := n.Faucet(ctx, "carol")
	w.say(err, "the faucet gives %s", given.Amount)
	_, err = n.Submit(ctx, []byte("no transaction"))
	w.say(err, "submit")
	_, err = n.SubmitWait(ctx, []byte("no transaction"))
	w.say(err, "submit and wait")
	_, err = n.Transfer(ctx, "nobody", "bob", client.WeiOf(1))
	w.say(err, "a transfer of nobody")
	fee, err := n.BaseFee(ctx)
	w.say(err, "a cycle costs %t", !fee.BaseFeeCycle.IsZero())
	params := must[[]client.Param](w)(n.Params(ctx))
	least := must[string](w)(n.Param(ctx, "cip3.min_basefee"))
	w.say(nil, "more than 20 parameters: %t, least base fee %s", len(params) > 20, least)
	if _, err := n.Param(ctx, "no.such"); err == nil {
		w.Error("there is a parameter no.such")
	}
	change, err := n.SetParam(ctx, "cip3.min_basefee", "4", 0)
	w.say(err, "%s is %s from a later block on", change.Key, change.Value)
	shown, err := n.OnNode("v1").Height(ctx)
	w.say(err, "v1 has blocks: %t", shown > 0)
}

func (w *walk) actors() {
	n, ctx := w.n, w.ctx
	counter := must[*client.Actor](w)(n.DeployFile(ctx, actorFile("counter.py"), client.Deployment{Init: []byte("40"), Fund: client.CBY(1)}))
	r, err := counter.Call(ctx, "bob", "add", []byte("2"))
	w.say(err, "add is %s: %s, and %s", r.Status, r.Output, r.Events[0].Name)
	r, err = n.Call(ctx, client.Call{To: "counter", Handler: "add", Payload: []byte("5"), DryRun: true, CyclesLimit: 100_000})
	w.say(err, "a dry run is %s: %s", r.Status, r.Output)
	_, err = n.Call(ctx, client.Call{From: "bob", To: "counter", Handler: "add", Payload: []byte("x")})
	var failed *client.ExecutionError
	w.say(nil, "add x fails on chain: %t, %s", errors.As(err, &failed), strings.SplitN(err.Error(), " failed in block", 2)[0])
	read, err := counter.Read(ctx, "count", nil)
	w.say(err, "count is %s: %s", read.Status, read.Text)
	value, err := n.Actor(counter.Address.String()).Get(ctx, []byte("count"))
	w.say(err, "its state has %s", value)
	none, err := counter.Get(ctx, []byte("coun"))
	w.say(err, "what is not there is nil: %t", none == nil)
	entries, err := counter.State(ctx, []byte("c"))
	w.say(err, "%d key", len(entries))
	has, err := counter.Balance(ctx)
	w.say(err, "it has %s", has)
	all := must[[]client.ActorInfo](w)(n.Actors(ctx))
	info, err := counter.Info(ctx)
	w.say(err, "%d actors, %s has %d handlers", len(all), info.Name, len(info.Handlers))
	_, err = n.Deploy(ctx, []byte("def init(payload):\n    raise ValueError('no')\n"), client.Deployment{})
	w.say(nil, "an init that raises: %t", errors.As(err, &failed))
	_, err = n.Deploy(ctx, []byte("import os\n"), client.Deployment{})
	w.say(nil, "what may not run: %t", errors.As(err, &failed))
	_, err = n.DeployFile(ctx, actorFile("none.py"), client.Deployment{})
	w.say(nil, "no file: %t", err != nil)
	_, err = n.Actor("nobody").Info(ctx)
	w.say(err, "an actor that is not there")
}

// mostLate is by how many blocks a slow machine may defer a fire (decision C18).
const mostLate = 8

func (w *walk) timers() {
	n, ctx := w.n, w.ctx
	heart := n.Actor("heartbeat")
	travelled, err := n.AdvanceToNextTimer(ctx)
	late := travelled.Timers[0].Late
	w.say(err, "on the way to the next timer %d fired, late by what a slow machine may: %t", travelled.Fired, late <= mostLate)
	travelled, err = n.AdvanceBlocks(ctx, 2*(10+mostLate))
	w.say(err, "two beats fired, or more: %t", travelled.Fired >= 2)
	printed, err := heart.Logs(ctx)
	w.say(err, "beats were printed: %t", len(printed) >= 3)
	timers := must[[]client.Timer](w)(heart.Timers(ctx))
	pending := must[[]client.Timer](w)(n.Timers(ctx, client.TimerFilter{Actor: "heartbeat", Status: client.TimerPending}))
	w.say(nil, "more than one timer: %t, %d of them pending", len(timers) > 1, len(pending))
	fired, err := n.Timer(ctx, timers[0].ID)
	w.say(err, "the first is %s, its receipt %s", fired.Status, fired.Receipt.Status)
	story, err := n.TimerStory(ctx, timers[0].ID)
	kinds := ""
	for _, entry := range story.Story {
		if entry.Kind != "deferred" {
			kinds += " " + entry.Kind
		}
	}
	w.say(err, "its story:%s", kinds)
	lane, err := n.Lane(ctx, 3)
	w.say(err, "the lane of %d blocks", len(lane))
	_, err = n.ExtendTimer(ctx, pending[0].ID, pending[0].ExpiresAt+10)
	w.say(err, "longer than a timer may live")
	ended, err := n.CancelTimer(ctx, pending[0].ID)
	w.say(err, "then it is %s", ended.Status)
	to := must[client.Height](w)(n.Height(ctx)) + 30
	travelled, err = n.AdvanceTo(ctx, to)
	w.say(err, "further %t, and %d fired", travelled.To >= to, travelled.Fired)
}

func (w *walk) jobs() {
	n, ctx := w.n, w.ctx
	job := must[client.Job](w)(n.SubmitJob(ctx, client.JobRequest{Kind: "custom", Executor: "sha256", Params: "hello", Runners: new(uint64(2)),
		Mode: "deterministic"}))
	done, err := n.WaitJob(ctx, job.ID)
	w.say(err, "the job is %s: %s", done.Status, (*done.Result).String()[:10])
	story, err := n.JobStory(ctx, job.ID)
	w.say(err, "it was %s and %s", story.Story[0].What, story.Story[len(story.Story)-1].What)
	runners, err := n.JobRunners(ctx, job.ID)
	w.say(err, "%d runners, the first %s", len(runners), runners[0].Outcome)
	results, err := n.JobResults(ctx, job.ID)
	w.say(err, "%d results", len(results))
	manual := client.JobRequest{Kind: "custom", Executor: "manual", Params: "?"}
	job = must[client.Job](w)(n.SubmitJob(ctx, manual))
	_, err = n.AnswerJob(ctx, job.ID, []byte{0, 1})
	w.say(err, "answered by hand")
	done, err = n.WaitJob(ctx, job.ID)
	w.say(err, "the job is %s: %s", done.Status, done.Result)
	_, err = n.AnswerJob(ctx, job.ID, nil)
	w.say(err, "answered again")
	job = must[client.Job](w)(n.SubmitJob(ctx, manual))
	_, err = n.CancelJob(ctx, job.ID)
	w.say(err, "cancelled")
	var failed *client.JobError
	_, err = n.WaitJob(ctx, job.ID)
	w.say(nil, "and failed: %t", errors.As(err, &failed) && failed.Job.Error.Code == "cancelled")
	listed, err := n.Jobs(ctx, client.JobFilter{Submitter: "alice", Status: client.JobCompleted})
	w.say(err, "%d jobs are completed", len(listed))
}

func (w *walk) runners() {
	n, ctx := w.n, w.ctx
	joined, err := n.JoinRunner(ctx, client.RunnerRequest{From: "erin"})
	w.say(err, "%s joins", joined.Name)
	here := func(name string, present bool) func() (bool, error) {
		return func() (bool, error) {
			r, err := n.Runner(name).Info(ctx)
			return r.Present == present, err
		}
	}
	w.say(n.RunUntil(ctx, 60, here("r2", true)), "and is present")
	r, err := n.Runner("r2").Pause(ctx)
	w.say(err, "paused it is %s", r.Health)
	r, err = n.Runner("r2").Resume(ctx)
	w.say(err, "then %s", r.Health)
	r, err = n.Runner("r2").Leave(ctx)
	w.say(err, "then %s", r.Health)
	all := must[[]client.Runner](w)(n.Runners(ctx))
	w.say(nil, "%d runners, the last %s", len(all), all[2].Health)
	one := n.Runner(all[0].Address.String())
	w.say(one.Drop(ctx), "%s is gone", all[0].Name)
	w.say(n.RunUntil(ctx, 60, here("r0", false)), "and is not present")
	w.say(one.Drop(ctx), "dropped again")
	w.say(n.Runner("r0").Restart(ctx), "it starts again")
	w.say(n.RunUntil(ctx, 100, here("r0", true)), "and is present")
	at := must[client.Height](w)(n.Height(ctx))
	p, err := n.Presence(ctx, at-1)
	w.say(err, "P has %d bits", len(p.Runners))
	r1 := n.Runner("r1")
	for what, err := range map[string]error{"blackhole": r1.Blackhole(ctx, true), "saturate": r1.Saturate(ctx, true),
		"slow": r1.Slow(ctx, time.Second), "misbehave": r1.Misbehave(ctx, "wrong_result"), "freeze": n.Runner("r0").Freeze(ctx)} {
		if err != nil {
			w.Errorf("%s: %v", what, err)
		}
	}
	for what, err := range map[string]error{"blackhole": r1.Blackhole(ctx, false), "saturate": r1.Saturate(ctx, false),
		"slow": r1.Slow(ctx, 0), "misbehave": r1.Misbehave(ctx, "honest"), "thaw": n.Runner("r0").Thaw(ctx)} {
		if err != nil {
			w.Errorf("%s no more: %v", what, err)
		}
	}
	w.say(n.Runner("0x"+strings.Repeat("12", 20)).Drop(ctx), "a runner that is not there")
	_, err = n.Runner("r9").Info(ctx)
	w.say(err, "%s", n.Runner("r9").Name())
}

func (w *walk) validators() {
	n, ctx := w.n, w.ctx
	all := must[[]client.Validator](w)(n.Validators(ctx))
	w.say(nil, "%d validators", len(all))
	v3 := n.Validator("v3")
	info, err := v3.Info(ctx)
	w.say(err, "%s runs: %t", info.Name, info.Running)
	w.say(n.Validator(info.Address.String()).Kill(ctx), "%s is killed", v3.Name())
	w.say(v3.Kill(ctx), "killed again")
	w.say(v3.Wipe(ctx), "wiped")
	w.say(v3.Restart(ctx), "it starts again")
	caught := func() (bool, error) {
		info, err := v3.Info(ctx)
		head, other := n.Height(ctx)
		return info.Running && info.Height+3 >= head, errors.Join(err, other)
	}
	w.say(n.RunUntil(ctx, 100, caught), "and catches up")
	w.say(v3.Freeze(ctx), "frozen")
	w.say(v3.Thaw(ctx), "thawed")
	w.say(v3.Misbehave(ctx, "withhold_votes"), "it lies")
	w.say(v3.Misbehave(ctx, "honest"), "and no more")
	_, err = n.Validator("v9").Info(ctx)
	w.say(err, "v9")
	w.say(n.Validator("0x12").Kill(ctx), "0x12")
	move, err := n.JoinValidator(ctx, "") // an epoch may end before it is answered
	w.say(err, "%s joins: %t", move.Name, move.Status == "joining" || move.Status == "active")
	move, err = n.Validator("v0").Leave(ctx)
	w.say(err, "%s leaves: %t", move.Name, move.Status == "leaving" || move.Status == "left")
}

func (w *walk) steering() {
	n, ctx := w.n, w.ctx
	pace, err := n.Pause(ctx)
	w.say(err, "paused: %t", pace.Paused)
	_, err = n.SetParam(ctx, "cip3.min_basefee", "5", 0)
	w.say(err, "an instruction to a paused network")
	pace, err = n.Resume(ctx)
	w.say(err, "paused: %t", pace.Paused)
	var late *client.WithinError
	err = n.RunUntil(ctx, 2, func() (bool, error) { return false, nil })
	w.say(nil, "what never comes true: %t", errors.As(err, &late) && late.Blocks == 2)
	mine := errors.New("mine")
	w.say(nil, "its own error: %t", errors.Is(n.RunUntil(ctx, 2, func() (bool, error) { return false, mine }), mine))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = n.Run(ended, 3)
	w.say(nil, "a context that is done: %t", errors.Is(err, context.Canceled))
}

func (w *walk) faults() {
	n, ctx := w.n, w.ctx
	w.say(n.Partition(ctx, []string{"v0", "v1"}, []string{"v2", "v3"}), "two halves")
	effect, err := n.Fault(ctx, client.FaultOrder{Verb: "link", A: "v0", B: "v1", Latency: "20ms"})
	w.say(err, "%s %s", effect.Verb, effect.Detail)
	_, err = n.Fault(ctx, client.FaultOrder{Verb: "no_such"})
	w.say(err, "no such verb")
	w.say(n.Heal(ctx), "healed")
	all, err := n.Faults(ctx)
	w.say(err, "there were faults: %t", len(all) > 10)
}

// A port without a listener does not answer, and a network that is closed is gone.
func TestConnectSaysWhyNot(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	var gone *client.Unreachable
	if _, err := client.Connect(t.Context(), address); !errors.As(err, &gone) {
		t.Errorf("it is connected without a network: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	var waiting *client.NotReadyError
	if err := client.New(address, nil).WaitReady(ctx); !errors.As(err, &waiting) || !strings.Contains(err.Error(), address) {
		t.Errorf("nobody is ready: %v", err)
	}
	n, err := devnettest.Open(t.Context(), devnettest.Validators(1), devnettest.Runners(1), devnettest.Auto())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(n.Close(), n.Close()); err != nil {
		t.Error(err)
	}
	if _, err := n.Height(t.Context()); !errors.As(err, &gone) {
		t.Errorf("a closed network answers: %v", err)
	}
}
