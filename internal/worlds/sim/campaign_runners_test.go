package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// hires says how many runners a seed has: every fourth has some. They draw from a
// stream of their own, so that seeds without them are what they were.
func hires(seed uint64, c *NetworkConfig) *rand.Rand {
	if seed%4 != 1 {
		return nil
	}
	rng := rand.New(rand.NewPCG(seed, 98))
	c.Runners = 3 + rng.IntN(4)
	c.Accounts = wallet.Users()[:3] // the last submits jobs
	c.Params["cip11.presence_rule"] = []string{"quorum", "validator-set", "subset", "safe"}[rng.IntN(4)]
	c.Params["cip11.subset_epoch_blocks"] = []string{"8192", "9"}[rng.IntN(2)]
	return rng
}

// labours has jobs submitted, and runners falter, as long as the storm lasts.
func (c *campaign) labours(rng *rand.Rand) {
	c.hired = rng
	c.config.Final = func(_ types.Time, r *ledger.Result) {
		if h := r.Block.Header.Height; h > c.counted {
			c.counted = h
			for _, change := range r.Jobs {
				c.did["job "+string(change.Kind)]++
			}
		}
	}
	for at := 3 * time.Second; at < storm; at += time.Duration(500+rng.IntN(3000)) * time.Millisecond {
		c.After(at, c.job)
	}
	for at := 4 * time.Second; at < storm; at += time.Duration(500+rng.IntN(4000)) * time.Millisecond {
		c.After(at, c.runnersFault)
	}
}

// job submits one of those that end soon.
func (c *campaign) job() {
	rng := c.hired
	runners := uint64(1 + rng.IntN(c.config.Runners))
	mode := []push.Mode{push.Deterministic, push.MajorityVote, push.SemanticSimilarity}[rng.IntN(3)]
	if runners == 1 {
		mode = push.None
	}
	spec := echo(runners, mode)
	spec.TimeoutBlocks, spec.Bounds.MaxRetries = uint64(3+rng.IntN(5)), uint64(rng.IntN(3))
	c.resubmit("carol", c.Execute("carol", types.DispatcherAddress, "submit", spec.Order()), resubmitTimes)
	c.did["jobs"]++
}

// Terms of a transaction that is handed in again until it is final, in virtual time.
const (
	resubmitEvery = 10 * time.Second
	resubmitTimes = 60
)

// resubmit hands a transaction in at all validators, until it is final.
func (f *validatorNodes) resubmit(from string, tx *types.Transaction, times int) {
	best := f.bestValidator()
	if times == 0 || best != nil && best.Head().State.Account(f.keys[from].Address()).Nonce > tx.Nonce {
		return
	}
	for _, name := range f.names {
		f.Submit(name, tx, nil)
	}
	f.After(resubmitEvery, func() { f.resubmit(from, tx, times-1) })
}

// runnersFault is one more fault of a runner, or the end of one.
func (c *campaign) runnersFault() {
	rng := c.hired
	name := c.runners[rng.IntN(len(c.runners))]
	kinds := append(fault.KindsOf(fault.Runners), fault.Honest, fault.Honest)
	o := []fault.Order{
		{Verb: fault.Drop}, {Verb: fault.Restart}, {Verb: fault.Restart}, {Verb: fault.Freeze}, {Verb: fault.Thaw}, {Verb: fault.Thaw},
		{Verb: fault.Blackhole, On: rng.IntN(2) == 0}, {Verb: fault.Slow, Delay: time.Duration(rng.IntN(3000)) * time.Millisecond},
		{Verb: fault.Flap, Up: time.Second, Down: time.Duration(1+rng.IntN(5)) * time.Second, Times: 1 + rng.IntN(3)},
		{Verb: fault.Saturate, On: rng.IntN(2) == 0}, {Verb: fault.Rejoin, AfterBlocks: uint64(rng.IntN(10)), NewIdentity: rng.IntN(2) == 0},
		{Verb: fault.Misbehave, Kind: kinds[rng.IntN(len(kinds))]},
	}[rng.IntN(12)]
	o.Node = name
	if _, err := c.Do(o); err != nil {
		return // it does not run, or is frozen already
	}
	c.did["runner "+o.Verb.Name]++
	c.faults = append(c.faults, fmt.Sprintf("%v %s", c.Now().Sub(firstInstant), o.String()))
}

// soundRunners starts all runners anew, and has nothing left of their faults.
func (c *campaign) soundRunners() error {
	for _, name := range c.runners {
		if c.Running(name) {
			if _, err := c.Drop(name); err != nil {
				return err
			}
		}
		if err := c.Restart(name); err != nil {
			return err
		}
	}
	return nil
}

// settled has every job end: the longest has three attempts of seven blocks.
func (c *campaign) settled() error {
	if c.hired == nil {
		return nil
	}
	if err := c.RunToHeight(c.Tip()+40, 3*bound); err != nil {
		return err
	}
	if open := c.bestValidator().Head().State.OpenJobs(); open != 0 {
		return fmt.Errorf("%d jobs are open yet", open)
	}
	return nil
}
