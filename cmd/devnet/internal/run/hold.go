package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/listen"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// readHold reads --hold, --hold-at and --http.
func (p *plan) readHold(c *cli.Context) error {
	at := c.String("hold-at")
	p.hold, p.http = c.Bool("hold") || at != "", cmp.Or(c.String("http"), command.DefaultHTTP)
	switch {
	case !p.hold && p.http != command.DefaultHTTP && p.http != os.Getenv(command.HTTPVariable):
		return failure.NewUsage("Add --hold, which stops the run and serves its network there.", "--http: only a held run is served")
	case !p.hold:
		return nil
	case p.many || p.shard.Of > 1 || p.countRuns() > 1:
		return failure.NewUsage("Name one scenario, one --seed and one value of each --set.", "--hold: one run is held")
	case p.csv+p.plot != "":
		return failure.NewConflict("--hold: --csv and --plot are for what whole runs measure")
	case p.Backend != batch.Sim:
		return failure.NewUsage("Leave --backend out. devnet up keeps a live network.", "--hold: time stands still only in a simulated run")
	case p.check:
		return failure.NewConflict("--hold: --check runs nothing that could be held")
	case at == "":
		return listen.Check(p.http)
	}
	var err error
	if p.holdAt, err = moment.Parse(at); err != nil {
		return failure.NewUsage("", "--hold-at: %v", err)
	}
	if p.holdAt.Script != "" && filepath.Clean(p.holdAt.Script) != filepath.Clean(p.files[0]) {
		return failure.NewUsage(fmt.Sprintf("Type devnet run %s --seed %d --hold-at %s.", self.ShellQuote(p.holdAt.Script), p.holdAt.Seed,
			self.ShellQuote(at)),
			"--hold-at: %s is a moment of another script than %s", at, p.files[0])
	}
	if p.holdAt.Script != "" && p.seed != nil && *p.seed != p.holdAt.Seed {
		return failure.NewUsage("Leave --seed out, or give both the same.", "--hold-at: %s is a moment of seed %d, and --seed is %d", at,
			p.holdAt.Seed, *p.seed)
	}
	if p.holdAt.Script != "" {
		p.seed = &p.holdAt.Seed
	}
	return listen.Check(p.http)
}

// heldRun is a run that is held, and who serves it.
type heldRun struct {
	*cli.Context
	plan     *plan
	run      *simulated.Held
	pulse    *scenario.Pulse // of the present playing
	verdict  *batch.Verdict  // of the first playing to its end; nil before
	judged   error           // what that verdict ends the command with
	playings int
}

// holdRun makes the run of the plan, stops it, and serves its network until Ctrl-C. What the script failed with is
// the end of the command.
func (p *plan) holdRun(c *cli.Context) error {
	listener, err := net.Listen("tcp", p.http)
	if err != nil {
		return listen.NewInUse(p.http, err)
	}
	defer listener.Close() // where it is served, that is closed already
	h := &heldRun{Context: c, plan: p}
	out := io.Discard
	if !p.json {
		out = c.App.Writer
	}
	h.run = simulated.NewHeld(c.Context, self.Version, simulated.Script{Name: p.files[0], Play: h.playOnce, At: h.placeOfScript, Out: out})
	defer h.run.Close()
	reached, err := h.run.Begin(p.holdAt)
	switch {
	case err != nil:
		return err
	case h.judged == nil && h.run.Empty():
		return failure.New("Leave --hold out, or have it call network().", "--hold: %s made no network that could be held", p.files[0])
	case h.run.Empty():
		return h.judged
	}
	return h.serveUntilSignal(listener, reached)
}

// playOnce plays the script once, on networks of open.
func (h *heldRun) playOnce(ctx context.Context, open scenario.Open, out io.Writer) (failure string) {
	one, trace := *runner, ""
	one.Open = func(context.Context, batch.World) scenario.Open { return open }
	one.Watch = func(pulse *scenario.Pulse) { h.pulse = pulse }
	if h.playings++; h.playings == 1 {
		trace = h.plan.trace
	}
	job := h.plan.onlyJob()
	v := one.Once(ctx, h.plan.World, job, trace, out, func(v batch.Verdict) int {
		if !h.plan.json {
			printComplaint(h.App.Writer, &v)
		}
		return command.ReportError(h.App.ErrWriter, h.judgeRun(job, &v), h.plan.json)
	})
	if ctx.Err() == nil && h.verdict == nil && !h.run.Changed() {
		v.Hold = "" // it is held
		h.verdict = &v
		if v.Failed() && !h.plan.json {
			printComplaint(h.App.Writer, &v)
		}
		h.judged = h.judgeRun(job, &v)
	}
	return strings.TrimRight(v.Error, "\n")
}

// judgeRun reports on the run, and returns the command's end.
func (h *heldRun) judgeRun(job batch.Job, v *batch.Verdict) error {
	t, err := h.plan.newTally()
	if err != nil {
		return err
	}
	t.addRun(job, v)
	return h.plan.concludeRuns(h.Context, t)
}

// onlyJob is the run of a plan that has one.
func (p *plan) onlyJob() (job batch.Job) {
	for job = range p.jobsOfShard() {
		return job
	}
	return job
}

// placeOfScript is where the script is.
func (h *heldRun) placeOfScript() string {
	_, _, at := h.pulse.Look()
	return at.String()
}

// serveUntilSignal serves the network until Ctrl-C.
func (h *heldRun) serveUntilSignal(listener net.Listener, reached bool) error {
	driven := api.NewDriven(h.run, api.Config{Hosts: listen.CallableNames(h.plan.http), Held: h.run}, h.run.Tell)
	ctx, end := context.WithCancel(context.Background())
	server := api.HTTPServer(driven, ctx)
	served := make(chan error, 1)
	go func() { served <- server.Serve(api.Bounded(listener)) }()
	driven.Lock() // requests are served already
	h.printIntroduction(listener.Addr().String(), reached)
	driven.Unlock()
	var err error
	select {
	case err = <-served:
		err = failure.New("", "the HTTP server stopped: %v", err)
	case <-h.Done():
	}
	end()
	err = errors.Join(err, driven.Close(), server.Close())
	driven.Lock() // a request may move the run still
	defer driven.Unlock()
	if err != nil {
		return err
	}
	if h.verdict == nil {
		return failure.New("devnet run without --hold makes the whole run, and judges it.",
			"the run was left at %s, before the script's end: nothing is judged", h.run.Moment())
	}
	return h.judged
}

// printIntroduction prints where the run is held, and what to type.
func (h *heldRun) printIntroduction(bound string, reached bool) {
	if h.plan.json {
		return
	}
	w, at := h.App.Writer, h.run.Held()
	fmt.Fprintln(w)
	if !reached {
		fmt.Fprintf(w, "The script ended at height %d, before %s.\n", at.Height, h.plan.holdAt)
	}
	where, address := at.Moment, listen.ReachableAddress(bound)
	if at.Ended && at.Failure == "" {
		where += ", the end of a run that passed"
	}
	terminal.PrintFacts(w, "held", where, "step", fmt.Sprint(at.Step), "height", terminal.Height(at.Height), "script", at.At, "digest",
		at.Digest.String(), "page", "http://"+address+listen.NoteAllAddresses(bound))
	if warning := listen.WarnOfExposure(bound, h.run.Info().Strict); warning != "" {
		fmt.Fprintln(w, warning)
	}
	flag := ""
	if elsewhere := command.HomeHTTP(command.DefaultHome); address != command.DefaultHTTP || elsewhere != "" && elsewhere != address {
		flag = " --http " + address
	}
	fmt.Fprintf(w, self.ReplaceName("In another terminal, for example; Ctrl-C ends it:\n  devnet status%[1]s\n  devnet step --block%[1]s\n"+
		"  devnet step --back 100%[1]s\n"), flag)
}
