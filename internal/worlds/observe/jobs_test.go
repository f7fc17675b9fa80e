package observe

import (
	"testing"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// committee lists the runners of a job, in the order drawn.
func (c *chain) committee(job types.Hash) (all []types.Address) {
	c.t.Helper()
	j := c.head.Job(job)
	if j == nil {
		c.t.Fatalf("job %s is not open at %d", job, c.head.Height())
		return nil
	}
	for _, m := range j.Committee {
		all = append(all, m.Runner)
	}
	return all
}

// answered has a committee answer, each its own, "" not at all: commitments in one
// block, reveals in the next that takes them.
func (c *chain) answered(job types.Hash, results ...string) {
	members := c.committee(job)
	silent := false
	for i, runner := range members {
		if results[i] != "" {
			c.commit("v1", job, runner, results[i])
		}
		silent = silent || results[i] == ""
	}
	c.block()
	if silent {
		c.blocks(int(c.head.Job(job).CommitDeadline() - c.head.Height()))
	}
	for i, runner := range members {
		if results[i] != "" {
			c.result("v2", system.OpReveal, job, runner, results[i])
		}
	}
	c.block()
}

// lives is a chain on which jobs end in every way that there is.
func lives(t testing.TB) *chain {
	c := newChain(t, params.Overrides{"cip11.heartbeat_tx_blocks": "2", "cip11.subset_epoch_blocks": "7", "cip1.policy": "fifo"})
	c.send("alice", wallet.Draft{Value: types.WeiOf(1000), Payload: types.Deploy{Kind: types.KindDeploy, Code: samples.Code("counter")}})
	c.block()
	counter := c.last.Receipts[0].To
	c.block()

	single := custom(1, push.None) // with a callback
	single.Callback = &push.Callback{Actor: counter, Handler: "increment", CorrelationID: []byte("c"), Context: []byte{}}
	job := c.submit("alice", single)
	c.block()
	c.result("v0", system.OpResult, job, c.committee(job)[0], "done")
	c.blocks(2)

	agreed := c.submit("alice", custom(3, push.Deterministic)) // its first member is favoured
	c.absent = []int{1}
	c.block()
	c.answered(agreed, "same", "same", "same")

	silent := c.submit("bob", custom(3, push.Deterministic)) // enough agree, one is silent
	c.block()
	c.answered(silent, "same", "", "same")
	c.blocks(6)

	votes := custom(3, push.MajorityVote) // by one field of JSON
	votes.Verification.Field, votes.ResultSchema.DataFormat = text("/a"), push.FormatJSON
	job = c.submit("bob", votes)
	c.block()
	c.answered(job, `{"a":1,"b":2}`, `{"a":2}`, `{"a":1.0}`)

	split := custom(3, push.Deterministic) // no two runners agree
	split.Callback = single.Callback
	job = c.submit("bob", split)
	c.block()
	c.answered(job, "one", "two", "three")

	match := custom(3, push.StructuredMatch) // by checks of each kind; two of three results pass them
	match.Verification.Checks = []push.Check{{Schema: text(`{"type":"object","required":["n"],"properties":{"n":{"type":"number"}}}`)},
		{Equal: &[]string{"/s", "/l/1"}}, {Tolerance: &push.Tolerance{Pointer: "/n", Permille: 10}},
		{Range: &push.Range{Pointer: "/n", Min: 90, Max: 110}}}
	job = c.submit("bob", match)
	c.block()
	c.answered(job, `{"n":100,"s":"\u0041","l":[1,2]}`, `{"l":[0,2.0],"n":1.01e2,"s":"A"}`, `{"n":105,"s":"A","l":[1,2]}`)

	alike := custom(3, push.SemanticSimilarity) // by the words of a model's answers, of which the price counts the tokens
	alike.JobType = push.JobType{Llm: &push.Llm{Model: "m", Prompt: "five words", SystemPrompt: text("be short"), MaxTokens: 9}}
	job = c.submit("bob", alike)
	c.block()
	c.answered(job, "the cat sat on the mat", "On the mat sat the cat!", "stocks fell sharply in early trading today")

	lost := custom(1, push.None) // silent in every draw
	lost.Callback = single.Callback
	c.submit("bob", lost)
	c.blocks(20)

	waits := custom(2, push.Deterministic) // for a pool without runners
	waits.RequiredRunnerPool = text("gold")
	c.submit("bob", waits)
	cancelled := c.submit("alice", custom(2, push.Deterministic))
	c.block()
	c.execute("alice", types.DispatcherAddress, "cancel", cancelled[:])
	c.blocks(7)
	gone := c.submit("alice", custom(2, push.Deterministic)) // within a block
	c.execute("alice", types.DispatcherAddress, "cancel", gone[:])
	c.block()
	c.owners()
	return c
}

// owners has owners of runners do all that they can.
func (c *chain) owners() {
	r0 := c.keys["r0"].Address()
	registry := func(from, handler string, in any) {
		c.execute(from, types.RegistryAddress, handler, codec.Marshal(in))
	}
	late := c.keys["late"]
	registry("alice", "register", c.registration("late"))
	registry("r0", "update", &system.Amendment{Runner: r0, Offer: offer(999)})
	c.block()
	registry("r0", "pause", &system.Naming{Runner: r0})
	registry("alice", "add_stake", &system.Addition{Runner: late.Address(), Amount: types.WeiOf(5)})
	c.block()
	registry("r0", "resume", &system.Naming{Runner: r0})
	c.block()
	ping := push.HeartbeatPing{BlockHeight: c.head.Height(), Nonce: 3}
	c.report("v3", system.OpHeartbeat, system.Heartbeat{Runner: late.Address(), BlockHeight: ping.BlockHeight, Nonce: ping.Nonce,
		Signed: late.Sign(ping.Digest(chainID))})
	c.block()
	all := c.submit("alice", custom(5, push.Deterministic))
	c.block()
	registry("r0", "deregister", &system.Naming{Runner: r0})
	registry("alice", "deregister", &system.Naming{Runner: late.Address()})
	c.block()
	c.answered(all, "a", "a", "a", "a", "a")
	c.blocks(130) // both stakes return; the next runner gets r0's place
	registry("alice", "register", c.registration("next"))
	c.blocks(3)
}

// registration registers a runner for alice.
func (c *chain) registration(name string) *system.Registration {
	key := c.keys[name]
	return &system.Registration{PublicKey: key.PublicKey(), Stake: types.WeiOf(30_000 * types.CBY), Offer: offer(5),
		Signed: key.Sign(types.RegistrationDigest(chainID, c.keys["alice"].Address(), key.PublicKey()))}
}

func text(s string) *string { return &s }

// The oracles of runners, jobs and money find nothing on a chain that keeps the
// rules, and have judged something of each.
func TestARightChainOfJobsIsNotAccused(t *testing.T) {
	j := lives(t).judged(nil)
	for _, v := range j.Violations() {
		t.Error(v)
	}
	if c := j.Counts(); c.Jobs != 12 || c.JobsEnded != 12 || c.Draws != 12 || c.Presences == 0 || c.Present == 0 || c.Deliveries != 3 {
		t.Errorf("judged %+v", c)
	}
}

// An owner may replace an offer by the same one, which changes no key of the state. The
// oracles do not accuse the chain of it.
func TestTheSameOfferAgainIsNotAccused(t *testing.T) {
	c := newChain(t, nil)
	c.block()
	c.execute("r0", types.RegistryAddress, "update", codec.Marshal(&system.Amendment{Runner: c.keys["r0"].Address(), Offer: offer(100)}))
	c.block()
	for _, v := range c.judged(nil).Violations() {
		t.Error(v)
	}
}
