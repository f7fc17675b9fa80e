package main

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

	"github.com/cowboyinc/devnet/internal/base/moment"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/batch"
	simulated "github.com/cowboyinc/devnet/internal/worlds/sim/stage"
)

// readHold reads --hold, --hold-at and --http.
func (p *plan) readHold(c *cli.Context) error {
	at := c.String("hold-at")
	p.hold, p.http = c.Bool("hold") || at != "", cmp.Or(c.String("http"), defaultHTTP)
	switch {
	case !p.hold && p.http != defaultHTTP && p.http != os.Getenv(httpVariable):
		return usage("Add --hold, which stops the run and serves its network there.", "--http: only a held run is served")
	case !p.hold:
		return nil
	case p.many || p.shard.Of > 1 || p.runs() > 1:
		return usage("Name one scenario, one --seed and one value of each --set.", "--hold: one run is held")
	case p.csv+p.plot != "":
		return usage("Leave one of them out.", "--hold: --csv and --plot are for what whole runs measure")
	case p.Backend != batch.Sim:
		return usage("Leave --backend out. devnet up keeps a live network.", "--hold: time stands still only in a simulated run")
	case p.check:
		return usage("Leave one of them out.", "--hold: --check runs nothing that could be held")
	case at == "":
		return listenable(p.http)
	}
	var err error
	if p.holdAt, err = moment.Parse(at); err != nil {
		return usage("", "--hold-at: %v", err)
	}
	if p.holdAt.Script != "" && filepath.Clean(p.holdAt.Script) != filepath.Clean(p.files[0]) {
		return usage(fmt.Sprintf("Type devnet run %s --seed %d --hold-at %s.", quoted(p.holdAt.Script), p.holdAt.Seed, quoted(at)),
			"--hold-at: %s is a moment of another script than %s", at, p.files[0])
	}
	if p.holdAt.Script != "" && p.seed != nil && *p.seed != p.holdAt.Seed {
		return usage("Leave --seed out, or give both the same.", "--hold-at: %s is a moment of seed %d, and --seed is %d", at,
			p.holdAt.Seed, *p.seed)
	}
	if p.holdAt.Script != "" {
		p.seed = &p.holdAt.Seed
	}
	return listenable(p.http)
}

// held is a run that is held, and who serves it.
type held struct {
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
		return noStart("Stop what listens there, or choose another address with --http (port 0: any).",
			"cannot listen on the HTTP address %s: %v", p.http, cause(err))
	}
	defer listener.Close() // where it is served, that is closed already
	h := &held{Context: c, plan: p}
	out := io.Discard
	if !p.json {
		out = c.App.Writer
	}
	h.run = simulated.NewHeld(c.Context, version, simulated.Script{Name: p.files[0], Play: h.play, At: h.at, Out: out})
	defer h.run.Close()
	reached, err := h.run.Begin(p.holdAt)
	switch {
	case err != nil:
		return err
	case h.judged == nil && h.run.Empty():
		return failed("Leave --hold out, or have it call network().", "--hold: %s made no network that could be held", p.files[0])
	case h.run.Empty():
		return h.judged
	}
	return h.serve(listener, reached)
}

// play plays the script once, on networks of open.
func (h *held) play(ctx context.Context, open scenario.Open, out io.Writer) (failure string) {
	one, trace := *runner, ""
	one.Open = func(context.Context, batch.World) scenario.Open { return open }
	one.Watch = func(pulse *scenario.Pulse) { h.pulse = pulse }
	if h.playings++; h.playings == 1 {
		trace = h.plan.trace
	}
	job := h.plan.only()
	v := one.Once(ctx, h.plan.World, job, trace, out, func(v batch.Verdict) int {
		if !h.plan.json {
			v.Complain(h.App.Writer)
		}
		return report(h.App.ErrWriter, h.judge(job, &v), h.plan.json)
	})
	if ctx.Err() == nil && h.verdict == nil && !h.run.Changed() {
		v.Hold = "" // it is held
		h.verdict = &v
		if v.Failed() && !h.plan.json {
			v.Complain(h.App.Writer)
		}
		h.judged = h.judge(job, &v)
	}
	return strings.TrimRight(v.Error, "\n")
}

// judge reports on the run, and returns the command's end.
func (h *held) judge(job batch.Job, v *batch.Verdict) error {
	t, err := h.plan.newTally()
	if err != nil {
		return err
	}
	t.add(job, v)
	return h.plan.conclude(h.Context, t)
}

// only is the run of a plan that has one.
func (p *plan) only() (job batch.Job) {
	for job = range p.mine() {
		return job
	}
	return job
}

// at is where the script is.
func (h *held) at() string {
	_, _, at := h.pulse.Look()
	return at.String()
}

// serve serves the network until Ctrl-C.
func (h *held) serve(listener net.Listener, reached bool) error {
	driven := api.NewDriven(h.run, api.Config{Hosts: callable(h.plan.http), Held: h.run}, h.run.Tell)
	ctx, end := context.WithCancel(context.Background())
	server := api.HTTPServer(driven, ctx)
	served := make(chan error, 1)
	go func() { served <- server.Serve(api.Bounded(listener)) }()
	driven.Lock() // requests are served already
	h.introduce(listener.Addr().String(), reached)
	driven.Unlock()
	var err error
	select {
	case err = <-served:
		err = failed("", "the HTTP server stopped: %v", err)
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
		return failed("devnet run without --hold makes the whole run, and judges it.",
			"the run was left at %s, before the script's end: nothing is judged", h.run.Moment())
	}
	return h.judged
}

// introduce prints where the run is held, and what to type.
func (h *held) introduce(bound string, reached bool) {
	if h.plan.json {
		return
	}
	w, at := h.App.Writer, h.run.Held()
	fmt.Fprintln(w)
	if !reached {
		fmt.Fprintf(w, "The script ended at height %d, before %s.\n", at.Height, h.plan.holdAt)
	}
	where, address := at.Moment, reachable(bound)
	if at.Ended && at.Failure == "" {
		where += ", the end of a run that passed"
	}
	facts(w, "held", where, "step", fmt.Sprint(at.Step), "height", height(at.Height), "script", at.At, "digest", at.Digest.String(),
		"page", "http://"+address+everywhere(bound))
	if warning := exposed(bound, h.run.Info().Strict); warning != "" {
		fmt.Fprintln(w, warning)
	}
	flag := ""
	if elsewhere := homeHTTP(defaultHome); address != defaultHTTP || elsewhere != "" && elsewhere != address {
		flag = " --http " + address
	}
	fmt.Fprintf(w, asTyped("In another terminal, for example; Ctrl-C ends it:\n  devnet status%[1]s\n  devnet step --block%[1]s\n"+
		"  devnet step --back 100%[1]s\n"), flag)
}
