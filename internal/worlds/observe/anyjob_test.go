package observe

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// anyRules draws the parameters that decide the outcomes of jobs.
func anyRules(t *rapid.T) params.Overrides {
	number := func(key string, from, to uint64) string { return fmt.Sprint(rapid.Uint64Range(from, to).Draw(t, key)) }
	return params.Overrides{
		"cip2.commit_permille":       number("commit_permille", 0, 999),
		"cip2.runner_share_permille": number("runner_share_permille", 0, 1000),
		"cip2.success_reward":        number("success_reward", 0, 20),
		"cip2.timeout_penalty":       number("timeout_penalty", 0, 20),
		"cip2.initial_reputation":    number("initial_reputation", 50, 100),
		"cip2.stake_cover_permille":  number("stake_cover_permille", 0, 3000),
		"cip2.max_retries":           number("max_retries", 0, 3),
		"cip11.mru_ttl_blocks":       number("mru_ttl_blocks", 1, 9),
		"cip11.push":                 rapid.SampledFrom([]string{"shadow", "hot", "sunset"}).Draw(t, "phase"),
		"cip11.presence_rule":        rapid.SampledFrom([]string{"quorum", "validator-set", "subset", "safe"}).Draw(t, "presence_rule"),
		"cip1.policy":                "fifo",
	}
}

// anyOffer draws a runner's offer: words, pools, places and prices.
func anyOffer(t *rapid.T) system.Offer {
	rate := func(what string) types.Wei { return types.WeiOf(rapid.Uint64Range(0, 50_000).Draw(t, what)) }
	some := func(what string, of ...string) []string {
		return slices.DeleteFunc(of, func(string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 })
	}
	return system.Offer{
		Capabilities: some("word", "custom", "domain:a.example", "ethsend", "http", "llm", "mcp", "model:m", "server:s", "tee:x"),
		Entitlements: some("pool", "gold", "silver"), MaxConcurrentJobs: rapid.Uint64Range(1, 3).Draw(t, "jobs at once"),
		RateCard: system.RateCard{ComputeSecond: rate("second"), LLMInputToken: rate("input token"), LLMOutputToken: rate("output token"),
			HTTPRequestBase: rate("request"), MCPCallBase: rate("call"), MemoryMB: rate("megabyte")},
	}
}

// anyType draws a job's type, of each of the five kinds.
func anyType(t *rapid.T) push.JobType {
	words := rapid.StringMatching(`[a-z ]{0,30}`)
	switch rapid.IntRange(1, 5).Draw(t, "kind") {
	case 1:
		llm := &push.Llm{Model: rapid.SampledFrom([]string{"m", "n"}).Draw(t, "model"), Prompt: words.Draw(t, "prompt"), MaxTokens: 9}
		if rapid.Bool().Draw(t, "with a system prompt") {
			llm.SystemPrompt = text(words.Draw(t, "system prompt"))
		}
		return push.JobType{Llm: llm}
	case 2:
		return push.JobType{Http: &push.Http{Method: "GET", Headers: [][2]string{}, URL: rapid.SampledFrom([]string{"https://a.example",
			"http://A.Example:8443/x", "https://me:p@a.example/", "https://b.example/a.example", "https://a.example@b.example"}).Draw(t, "url")}}
	case 3:
		return push.JobType{Mcp: &push.Mcp{Server: rapid.SampledFrom([]string{"s", "z"}).Draw(t, "server"), Tool: "t", Arguments: "{}"}}
	case 4:
		return push.JobType{EthSend: &push.EthSend{Chain: 1, SignedTransaction: []byte{1}}}
	}
	return push.JobType{Custom: &push.Custom{Params: []byte("hello")}}
}

// anySpec draws a job that the chain takes.
func anySpec(t *rapid.T, callback *push.Callback) *push.JobSpec {
	s := custom(rapid.Uint64Range(1, 4).Draw(t, "runners"), push.None)
	s.JobType = anyType(t)
	switch v := &s.Verification; {
	case v.Runners == 1:
	case v.Runners == 2 || rapid.Bool().Draw(t, "bytes alone"):
		v.Mode = push.Deterministic
	default:
		v.Mode, v.Field, s.ResultSchema.DataFormat = push.MajorityVote, text("/a"), push.FormatJSON
	}
	if rapid.Bool().Draw(t, "with a threshold") {
		threshold := rapid.Uint64Range(1, s.Verification.Runners).Draw(t, "threshold")
		s.Verification.Threshold = &threshold
	}
	s.Verification.TEERequired = rapid.IntRange(0, 3).Draw(t, "tee") == 0
	if rapid.IntRange(0, 3).Draw(t, "with a pool") == 0 {
		s.RequiredRunnerPool = text(rapid.SampledFrom([]string{"gold", "silver"}).Draw(t, "pool"))
	}
	s.MaxPrice = types.WeiOf(rapid.SampledFrom([]uint64{20_000, 400_000, 100_000_000}).Draw(t, "max price"))
	if rapid.IntRange(0, 3).Draw(t, "dear") == 0 { // some stakes do not cover it
		s.MaxPrice = types.WeiOf(50_000 * types.CBY)
	}
	s.Tip = types.WeiOf(rapid.Uint64Range(0, 99).Draw(t, "tip"))
	s.Bounds.MaxRetries, s.Bounds.MaxMemoryMB = rapid.Uint64Range(1, 3).Draw(t, "retries"), rapid.Uint64Range(1, 9).Draw(t, "memory")
	s.ResultSchema.ExpectedExecutionMS = rapid.Uint64Range(0, 4000).Draw(t, "milliseconds")
	s.TimeoutBlocks = rapid.Uint64Range(2, 6).Draw(t, "timeout")
	if rapid.Bool().Draw(t, "with a callback") {
		s.Callback = callback
	}
	return s
}

// work brings the commitments and results of a job that are due in the next block. say
// returns the answer of each member of a draw; "" is silence.
func (c *chain) work(id types.Hash, say func(draw string) string) {
	j, next := c.head.Job(id), c.head.Height()+1
	if j == nil || next > j.Deadline() {
		return
	}
	for i, m := range j.Committee {
		result := say(fmt.Sprint(id, j.Attempts, i))
		switch {
		case result == "" || m.RevealedAt > 0:
		case len(j.Committee) == 1:
			c.result("v0", system.OpResult, id, m.Runner, result)
		case m.Committed == 0 && next <= j.CommitDeadline():
			c.commit("v1", id, m.Runner, result)
		case m.Committed > 0 && next >= j.Reveals():
			c.result("v2", system.OpReveal, id, m.Runner, result)
		}
	}
}

// The oracles' own draws, prices, shares, reputations and callbacks equal the chain's, for
// any jobs, offers and parameters. The oracles share no rule with the chain. Replay a
// failure with the flags that rapid prints.
func TestAnyJobIsDrawnAndPaidByTheOraclesRules(t *testing.T) {
	seen := map[string]int{} // outcomes and kinds of jobs, over all chains
	rapid.Check(t, func(rt *rapid.T) {
		rules := anyRules(rt)
		c := newChain(t, rules, func(g *ledger.Genesis) {
			for i := range g.Runners {
				g.Runners[i].Offer = anyOffer(rt)
			}
		})
		c.send("alice", wallet.Draft{Value: types.WeiOf(1000), Payload: types.Deploy{Kind: types.KindDeploy, Code: samples.Code("counter")}})
		c.block()
		callback := &push.Callback{Actor: c.last.Receipts[0].To, Handler: "increment", CorrelationID: []byte("c"), Context: []byte{}}
		answers, kinds, ids := map[string]string{}, map[types.Hash]push.JobKind{}, []types.Hash{}
		say := func(draw string) string {
			if _, said := answers[draw]; !said {
				answers[draw] = rapid.SampledFrom([]string{`{"a":1}`, `{"a":1}`, `{"a":1}`, `{"a":1.0,"b":"a longer one"}`, `{"a":2}`, ""}).
					Draw(rt, "answer")
			}
			return answers[draw]
		}
		for block := 0; block < 12 || block < 80 && c.head.OpenJobs() > 0; block++ {
			if block < 12 {
				c.absent = rapid.SliceOfNDistinct(rapid.IntRange(0, runnersNumber-1), 0, 2, rapid.ID).Draw(rt, "absent")
				for range rapid.IntRange(0, 2).Draw(rt, "jobs") {
					s := anySpec(rt, callback)
					id := c.submit(rapid.SampledFrom([]string{"alice", "bob"}).Draw(rt, "submitter"), s)
					ids, kinds[id] = append(ids, id), s.JobType.Kind()
				}
			}
			if block == 5 {
				c.execute("r0", types.RegistryAddress, "update", codec.Marshal(&system.Amendment{Runner: c.keys["r0"].Address(), Offer: anyOffer(rt)}))
			}
			for _, id := range ids {
				c.work(id, say)
			}
			c.block()
			for _, change := range c.last.Jobs {
				seen[string(change.Kind)]++
				if change.Kind == types.JobChangeCompleted {
					seen[kinds[change.ID].String()]++
				}
			}
		}
		for _, v := range c.judged(nil).Violations() {
			rt.Errorf("%v", v)
		}
	})
	for _, what := range []string{"submitted", "drawn", "retried", "completed", "failed", "llm", "http", "mcp", "ethsend", "custom"} {
		if seen[what] < 10 {
			t.Errorf("%d jobs are %s: too few to have judged anything; %v", seen[what], what, seen)
		}
	}
	t.Log(seen)
}
