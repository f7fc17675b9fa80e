package simulated

import (
	"context"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/bench"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/validators/history"
)

// Terms of a bench, in virtual time.
const (
	// benchPatience is how long a transaction may take to become final: a dozen of
	// the longest views.
	benchPatience = 6 * time.Minute
	// benchRound is after how long one that is not is handed in again: a validator
	// that crashed forgets its pool.
	benchRound = 10 * time.Second
)

// Bench is a simulated network with the HTTP API. Waiting callers drive it.
type Bench struct {
	*Stage
	version string
	told    *scenario.Timeline
	awaits  bool
	answers *sim.Answers          // of runners, which mocks give
	waiting map[types.Hash][]byte // handed in, and perhaps not final; looked up only
	follows func(types.Height)    // the subscriber; nil: none
}

var _ bench.Network = (*Bench)(nil)

// OpenBench returns what makes networks for benches of a devnet of that version. notes
// gets messages' use of their lines; it may be nil. Python starts at once, for the
// first of them: before its first message there is much else to do.
func OpenBench(version string, notes func(*program.Probed)) bench.Open {
	hosts := newHosts(notes)
	hosts.Ahead()
	return func(c bench.Config) (bench.Network, error) {
		b, err := newBench(version, c, nil, hosts)
		hosts = newHosts(notes) // earlier hosts belong to that network, or are closed
		if err != nil {
			return nil, err // a nil *Bench would make a Network that is not nil
		}
		return b, nil
	}
}

// NewBench makes a network for a bench. A timeline, which may be nil, gets its events.
func NewBench(version string, c bench.Config, told *scenario.Timeline) (*Bench, error) {
	return newBench(version, c, told, newHosts(nil))
}

// newBench takes the hosts over: where it fails they are closed.
func newBench(version string, c bench.Config, told *scenario.Timeline, hosts *pyhost.Pool) (*Bench, error) {
	pace := scenario.Pace{Auto: true}
	if c.BlockTime != "" {
		var err error
		if pace, err = scenario.ParsePace(c.BlockTime); err != nil {
			hosts.Close()
			return nil, refusal.New("invalid_request", "block_time is %v", err).At("block_time")
		}
	}
	if c.Validators == 0 {
		c.Validators = 1
	}
	accounts := wallet.Users()
	if c.Open {
		accounts = append(accounts, wallet.Faucet)
	}
	if told == nil {
		told = new(scenario.Timeline)
	}
	settled := sim.NetworkConfig{Accounts: accounts, Unjudged: true, Apart: c.Apart, Runners: c.Runners, Open: c.Open}
	if c.Runners > 0 && !c.Open {
		settled.Answers = new(sim.Answers)
	}
	s, err := openStage(scenario.Config{Seed: c.Seed, Validators: c.Validators, BlockTime: pace.BlockTime, Auto: pace.Auto,
		Params: c.Params, Timeline: told}, settled, hosts)
	if err != nil {
		return nil, refusal.New("invalid_request", "%v", err).At("params")
	}
	s.views = readmodel.NewSource(s.Genesis, samples.Mux{Other: inBlocks{sim.Unhurried{Host: s.hosts}}}, s.Scheme())
	return &Bench{Stage: s, version: version, told: told, awaits: true, answers: settled.Answers, waiting: map[types.Hash][]byte{}}, nil
}

// inBlocks has reads share the interpreters of blocks: nothing is executed at once
// here, and each further Python is a quarter of a second before the first test.
type inBlocks struct{ program.Host }

// Open implements program.Host.
func (h inBlocks) Open(program.Purpose) (program.Session, error) {
	return h.Host.Open(program.ForBlock)
}

// Probing implements program.Prober.
func (h inBlocks) Probing(tell func(*program.Probed)) (program.Host, func()) {
	return samples.Mux{Other: h.Host}.Probing(tell)
}

// Awaits implements bench.Network.
func (b *Bench) Awaits(on bool) { b.awaits = on }

// Info implements api.Backend.
func (b *Bench) Info() answers.Info {
	info := b.Stage.Info()
	info.Version = b.version
	if state, _, err := b.Genesis.State(); err == nil { // a network runs on it
		info.Genesis = state.Root()
	}
	return info
}

// Signer implements api.Backend: it signs for the system key, and a network that is open
// has a faucet as well.
func (b *Bench) Signer(name string) env.Signer {
	if name == wallet.System {
		return b.SystemKey()
	}
	if name == wallet.Faucet && slices.Contains(b.config.Accounts, name) {
		return b.Scheme().Signer(b.Key(name))
	}
	return b.Stage.Signer(name)
}

// RunnerNodes implements api.Backend, for GET /ready; no test waits for runners.
func (b *Bench) RunnerNodes() []answers.RunnerNode { return nil }

// Submit implements api.Backend.
func (b *Bench) Submit(_ context.Context, raw []byte) (types.Hash, error) {
	hash, err := b.Stage.Submit(raw)
	if err == nil {
		b.waiting[hash] = slices.Clone(raw)
	}
	return hash, err
}

// Pending implements api.Backend. It looks into a pool between two steps: whoever only looks does not move the network.
func (b *Bench) Pending(hash types.Hash) (*types.Transaction, types.Address) {
	name := b.bestValidator()
	if name == "" {
		return nil, types.Address{}
	}
	found := b.Validator(name).WaitingNow(hash)
	if found == nil {
		return nil, types.Address{}
	}
	return found.Tx, found.Sender
}

// Wait implements api.Backend: it drives the network.
func (b *Bench) Wait(ctx context.Context, hash types.Hash) (*history.Executed, error) {
	if !b.awaits {
		return nil, bench.Submitted(hash)
	}
	until, again := b.Now().Add(benchPatience), b.Now().Add(benchRound)
	for {
		receipt, err := b.receipt(hash)
		switch {
		case receipt != nil || err != nil:
			delete(b.waiting, hash)
			return receipt, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case b.Now() >= until:
			return nil, refusal.New("not_final", "the transaction %s is not final after %v of the network's time", hash,
				benchPatience).Hint("Advance the network, or see what keeps it: validators that are down or cut off.")
		}
		if _, err := b.Next(b.finalHeight(), benchRound); err != nil {
			return nil, err
		}
		if err := b.Violation(); err != nil {
			return nil, err
		}
		if raw := b.waiting[hash]; raw != nil && b.Now() >= again {
			again = b.Now().Add(benchRound)
			_, _ = b.Stage.Submit(raw) // an error that it is known already is expected
		}
	}
}

func (b *Bench) receipt(hash types.Hash) (*history.Executed, error) {
	v, err := b.Reader("")
	if err != nil {
		return nil, nil // no validator runs just now
	}
	return v.Receipt(hash)
}

// Subscribe implements api.Backend: each is called by Tell, until the bench is closed.
// A conversation, whose requests are answered once, does not call that.
func (b *Bench) Subscribe(each func(types.Height)) (cancel func()) {
	b.follows = each
	return func() {} // a closed follower gets nothing; the driver of the bench may be announcing just now
}

// Tell announces the network's height to the follower.
func (b *Bench) Tell() {
	if b.follows != nil {
		b.follows(b.finalHeight())
	}
}

// Liveness implements api.Backend.
func (b *Bench) Liveness() answers.Liveness {
	l := answers.Liveness{Since: b.SinceBlock()}
	switch {
	case b.Paused() && !b.awaits: // what is handed in waits in the pool
	case b.Paused():
		l.Blocked, l.Cause, l.Hint = true, "the network is paused", "Call resume."
	case b.bestValidator() == "":
		l.Blocked, l.Cause, l.Hint = true, "no validator is running", "Restart one."
	}
	return l
}

// Run implements bench.Network.
func (b *Bench) Run(d time.Duration) error {
	if err := b.RunFor(d); err != nil {
		return err
	}
	return b.Violation()
}

// Snapshot implements bench.Network.
func (b *Bench) Snapshot() (revert func() error, err error) {
	again, err := b.keepNetwork()
	if err != nil {
		return nil, err
	}
	var answers *sim.Answers
	if b.answers != nil {
		answers = b.answers.Clone()
	}
	return func() error {
		if answers != nil {
			*b.answers = *answers.Clone()
		}
		clear(b.waiting)
		b.told.Views().Forget()
		return again()
	}, nil
}
