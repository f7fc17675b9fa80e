package system

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// offering registers a runner of alice's with these words and this card.
func (w *world) offering(name string, card RateCard, words ...string) {
	w.t.Helper()
	in := w.registration("alice", name)
	in.Offer = Offer{Capabilities: words, Entitlements: []string{}, MaxConcurrentJobs: 4, RateCard: card}
	w.must(w.registry("alice", "register", in))
}

// paid is the price in the completion event of a job.
func (w *world) paid(id types.Hash) types.Wei {
	w.t.Helper()
	for _, e := range append(w.past[:len(w.past):len(w.past)], w.events...) {
		if e.Name != "job.completed" {
			continue
		}
		var told JobEvent
		if err := codec.Unmarshal(e.Data, 10_000, &told); err != nil {
			w.t.Fatal(err)
		}
		if told.ID == id && told.Price != nil {
			return *told.Price
		}
	}
	w.t.Fatalf("job %s did not complete: %+v", id, w.events)
	return types.Wei{}
}

// of is a job of one runner and one type.
func of(t push.JobType) *push.JobSpec {
	s := spec(1)
	s.JobType, s.MaxPrice, s.Bounds.MaxMemoryMB = t, types.WeiOf(1_000_000_000), 5
	return s
}

// J7, J19: each kind of job pays its own items of the card and no other. Every item
// fills its own digits of the price, so that one left out or counted twice is visible.
func TestJ7EachKindOfJobPaysItsOwnItemsOfTheCard(t *testing.T) {
	card := RateCard{MemoryMB: types.WeiOf(3), LLMInputToken: types.WeiOf(100), LLMOutputToken: types.WeiOf(10_000),
		HTTPRequestBase: types.WeiOf(1_000_000), MCPCallBase: types.WeiOf(10_000_000), ComputeSecond: types.WeiOf(100_000_000)}
	const result = "thirteen byte" // four tokens
	prompt, system := "nine byte", "five."
	for _, c := range []struct {
		what string
		job  push.JobType
		want uint64
	}{
		{"custom", push.JobType{Custom: &push.Custom{}}, 200_000_015},
		{"http", push.JobType{Http: &push.Http{URL: "https://example.org", Method: "GET", Headers: [][2]string{}}}, 201_000_015},
		{"mcp", push.JobType{Mcp: &push.Mcp{Server: "s", Tool: "t", Arguments: "{}"}}, 210_000_015},
		{"ethsend", push.JobType{EthSend: &push.EthSend{Chain: 1, SignedTransaction: []byte{1}}}, 200_000_015},
		{"llm", push.JobType{Llm: &push.Llm{Model: "m", Prompt: prompt, MaxTokens: 9}}, 200_040_315},
		{"llm with a system prompt", push.JobType{Llm: &push.Llm{Model: "m", Prompt: prompt, SystemPrompt: &system, MaxTokens: 9}},
			200_040_515},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t)
			w.offering("r0", card, "custom", "ethsend", "http", "llm", "mcp")
			id := w.drawn(of(c.job))
			w.must(w.reveal(OpResult, id, "r0", result))
			if got := w.paid(id); got != types.WeiOf(c.want) {
				t.Errorf("the price is %s, want %d", got, c.want)
			}
			w.end()
		})
	}
}

// CIP-11 §9.1, filters 3, 4 and 7: the job's model, host, server, TEE and pool reach
// the draw.
func TestSection91EachDemandOfASpecReachesTheDraw(t *testing.T) {
	http := func(url string) func(*push.JobSpec) {
		return func(s *push.JobSpec) {
			s.JobType = push.JobType{Http: &push.Http{URL: url, Method: "GET", Headers: [][2]string{}}}
		}
	}
	llm := func(model string) func(*push.JobSpec) {
		return func(s *push.JobSpec) {
			s.JobType = push.JobType{Llm: &push.Llm{Model: model, Prompt: "p", MaxTokens: 9}}
		}
	}
	mcp := func(server string) func(*push.JobSpec) {
		return func(s *push.JobSpec) {
			s.JobType = push.JobType{Mcp: &push.Mcp{Server: server, Tool: "t", Arguments: "{}"}}
		}
	}
	tee := func(s *push.JobSpec) { s.Verification.TEERequired = true }
	pool := func(name string) func(*push.JobSpec) { return func(s *push.JobSpec) { s.RequiredRunnerPool = &name } }
	for _, c := range []struct {
		what   string
		words  []string
		change func(*push.JobSpec)
		drawn  bool
	}{
		{"the model that it names", []string{"llm", "model:a"}, llm("a"), true},
		{"another model", []string{"llm", "model:a"}, llm("b"), false},
		{"any model", []string{"llm"}, llm("b"), true},
		{"the host that it names", []string{"domain:api.example", "http"}, http("https://api.example/x"), true},
		{"the host with a port", []string{"domain:api.example", "http"}, http("https://api.example:8443/x"), true},
		{"the host in capitals", []string{"domain:api.example", "http"}, http("https://API.Example/x"), true},
		{"the host after a user", []string{"domain:api.example", "http"}, http("https://me:secret@api.example"), true},
		{"a host in the path", []string{"domain:api.example", "http"}, http("https://other.example/api.example"), false},
		{"a host in the user", []string{"domain:api.example", "http"}, http("https://api.example@other.example"), false},
		{"an address with a port", []string{"domain:::1", "http"}, http("http://[::1]:80/"), true},
		{"the server that it names", []string{"mcp", "server:a"}, mcp("a"), true},
		{"another server", []string{"mcp", "server:a"}, mcp("b"), false},
		{"TEE, and it has one", []string{"custom", "tee:sgx"}, tee, true},
		{"TEE, and it has none", []string{"custom"}, tee, false},
		{"a pool that it is not of", []string{"custom"}, pool("gold"), false},
		{"its pool", []string{"custom"}, pool("silver"), true},
		{"another kind", []string{"custom"}, llm("a"), false},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := newWorld(t)
			in := w.registration("alice", "r0")
			in.Offer = Offer{Capabilities: c.words, Entitlements: []string{"silver"}, MaxConcurrentJobs: 4}
			w.must(w.registry("alice", "register", in))
			s := spec(1)
			c.change(s)
			id, code := w.submit("bob", s)
			w.must(code)
			w.end()
			if drawn := w.job(id).Status == Assigned; drawn != c.drawn {
				t.Errorf("a runner of %q was drawn: %v", c.words, drawn)
			}
		})
	}
}

// CIP-2, J5: the stated threshold decides how many results have to agree; without
// one it is divideUp(2M/3).
func TestJ5AStatedThresholdHolds(t *testing.T) {
	for _, c := range []struct {
		threshold uint64 // 0: none stated
		results   []string
		completes bool
	}{
		{0, []string{"a", "a", "b"}, true},
		{0, []string{"a", "b", "c"}, false},
		{0, []string{"a", "a", "b", "c"}, false}, // of four it is three
		{0, []string{"a", "a", "a", "c"}, true},
		{1, []string{"a", "b", "c"}, true},
		{3, []string{"a", "a", "b"}, false},
		{3, []string{"a", "a", "a"}, true},
	} {
		w := newWorld(t)
		w.register("r0", "r1", "r2", "r3")
		s := spec(uint64(len(c.results)))
		if c.threshold > 0 {
			s.Verification.Threshold = &c.threshold
		}
		w.finish(w.drawn(s), c.results...)
		if w.happened("job.completed") != c.completes || w.happened("job.failed") == c.completes {
			t.Errorf("threshold %d with results %q: completed %v", c.threshold, c.results, w.happened("job.completed"))
		}
	}
}

// J5, J6, J7: the shares, penalties and rewards of jobs are the parameters' of now.
func TestJ7ParametersOfJobsAreObeyed(t *testing.T) {
	w := newWorld(t, func(p *params.Params) {
		p.CommitPermille, p.RunnerSharePermille, p.SuccessReward, p.TimeoutPenalty = 200, 500, 7, 11
		p.StakeCoverPermille, p.InitialReputation = 3000, 60
	})
	w.register("r0", "r1", "r2")
	single := w.drawn(spec(1))
	winner := w.committee(single)[0]
	w.must(w.reveal(OpResult, single, winner, "done"))
	if got := w.balance(w.address(winner)); got != types.WeiOf(100+77) { // half of two seconds of 100 wei, and the tip
		t.Errorf("the runner holds %s", got)
	}
	if got := w.balance(types.TreasuryAddress); got != types.WeiOf(100) {
		t.Errorf("the treasury holds %s", got)
	}
	if got := w.runner(winner).Reputation; got != 67 {
		t.Errorf("its reputation is %d", got)
	}
	w.end()
	committee := w.drawn(spec(3))
	if j := w.job(committee); j.CommitDeadline() != j.Since+2 { // 200 permille of 10 blocks
		t.Errorf("drawn at %d, commitments end at %d", j.Since, j.CommitDeadline())
	}
	names := w.committee(committee)
	before := w.runner(names[1]).Reputation
	w.finish(committee, "same", "", "same")
	if got := w.runner(names[1]).Reputation; got != before-11 {
		t.Errorf("the silent one has a reputation of %d, of %d", got, before)
	}
	for cover, drawn := range map[uint64]bool{3: true, 2: false} { // of three times the price
		dear := spec(1)
		dear.MaxPrice = w.params.MinStake.Div(cover)
		w.mint(w.address("bob"), dear.MaxPrice)
		id, code := w.submit("bob", dear)
		w.must(code)
		w.end()
		if is := w.job(id).Status == Assigned; is != drawn {
			t.Errorf("of a price that is the stake divided by %d the job is drawn: %v", cover, is)
		}
	}
}

// A result has to fit into half of a block's cells. Runner transactions are free, and
// leave the other half to transactions that pay.
func TestAResultFitsIntoTheRunnersHalfOfABlock(t *testing.T) {
	w := newWorld(t, func(p *params.Params) { p.CellsLimit = 10_000 })
	if got := RunnerCells(&w.params); got != 5000 {
		t.Errorf("runners may take %d of 10,000 cells", got)
	}
	for bytes, want := range map[uint64]string{5000 - 1024: "", 5001 - 1024: "bad_spec"} {
		s := spec(1)
		s.ResultSchema.MaxReturnBytes = bytes
		if _, code := w.submit("bob", s); code != want {
			t.Errorf("a result of %d bytes: %q, want %q", bytes, code, want)
		}
	}
	w.end()
}
