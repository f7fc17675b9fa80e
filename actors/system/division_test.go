package system

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// division is what the spec makes of a job's money, in plain numbers (decisions J5, J7, J19).
type division struct {
	runners  map[string]*big.Int // what each is paid
	treasury *big.Int
	refund   *big.Int
}

// divided divides a job's money among those whose results agree, by lots.
type divided struct {
	maxPrice, tip *big.Int
	permille      int64
	threshold     int
	asked         map[string]*big.Int // by each of the committee, for the usage that the chain sees
	lots          map[string]string   // of the committee
	results       map[string]string   // of those that answered
}

func (d *divided) divide() division {
	won := division{runners: map[string]*big.Int{}, treasury: new(big.Int), refund: new(big.Int).Add(d.maxPrice, d.tip)}
	groups := map[string][]string{}
	for name, result := range d.results { // order: sums and minima
		groups[result] = append(groups[result], name)
	}
	winner := func(group []string) string {
		first := group[0]
		for _, name := range group {
			if d.lots[name] < d.lots[first] {
				first = name
			}
		}
		return first
	}
	var best []string
	for _, group := range groups { // order: a maximum
		if len(group) > len(best) || len(group) == len(best) && d.lots[winner(group)] < d.lots[winner(best)] {
			best = group
		}
	}
	if len(best) < d.threshold {
		return won
	}
	price := new(big.Int)
	for _, name := range best {
		price.Add(price, d.asked[name])
	}
	if price.Cmp(d.maxPrice) > 0 {
		price.Set(d.maxPrice)
	}
	part := new(big.Int).Mul(price, big.NewInt(d.permille))
	part.Quo(part, big.NewInt(1000*int64(len(best))))
	won.treasury.Set(price)
	for _, name := range best {
		won.runners[name] = new(big.Int).Set(part)
		won.treasury.Sub(won.treasury, part)
	}
	won.runners[winner(best)].Add(won.runners[winner(best)], d.tip)
	won.refund.Sub(d.maxPrice, price)
	return won
}

// J7: whatever a committee asks and answers, each wei of a job's money goes where the spec
// says: 99 % (or another share) in equal parts to those that agree, the tip to the winner, the
// rest of the price to the treasury, the rest of the escrow back; all of it back without a
// majority.
func TestJ7AnyDivisionIsThatOfTheSpecToTheWei(t *testing.T) {
	divisions := map[int]int{} // by how many were paid, 3 for more
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(1, 5).Draw(rt, "committee")
		share := rapid.OneOf(rapid.Just(uint64(990)), rapid.Uint64Range(0, 1000)).Draw(rt, "permille")
		w := newWorld(t, func(p *params.Params) { p.RunnerSharePermille, p.MaxRetries = share, 0 })
		card := func(label string) (c RateCard) {
			price := rapid.OneOf(rapid.Uint64Range(0, 7), rapid.Uint64Range(0, 1_000_000), rapid.Just(^uint64(0))).Draw(rt, label)
			item := func(label string) types.Wei { return types.WeiOf(rapid.Uint64Range(0, price).Draw(rt, label)) }
			c = RateCard{ComputeSecond: item("second"), MemoryMB: item("memory"), LLMInputToken: item("in"), LLMOutputToken: item("out"),
				HTTPRequestBase: item("http"), MCPCallBase: item("mcp")}
			if rapid.IntRange(0, 20).Draw(rt, "dear") == 0 {
				c.MemoryMB = types.MaxWei
			}
			return c
		}
		cards := map[string]RateCard{}
		for i := range size {
			name := fmt.Sprint("r", i)
			cards[name] = card(name)
			w.offering(name, cards[name], "custom", "http", "llm", "mcp")
		}
		w.end()
		s := spec(uint64(size))
		s.MaxPrice = types.WeiOf(rapid.OneOf(rapid.Uint64Range(0, 20), rapid.Uint64Range(0, 1_000_000_000_000)).Draw(rt, "max price"))
		s.Tip = types.WeiOf(rapid.Uint64Range(0, 1000).Draw(rt, "tip"))
		s.Bounds.MaxMemoryMB = rapid.Uint64Range(1, 100).Draw(rt, "megabytes")
		s.ResultSchema.ExpectedExecutionMS = rapid.Uint64Range(1, 4000).Draw(rt, "milliseconds")
		threshold := (2*size + 2) / 3
		if size > 1 && rapid.Bool().Draw(rt, "stated") {
			stated := uint64(rapid.IntRange(1, size).Draw(rt, "threshold"))
			s.Verification.Threshold, threshold = &stated, int(stated)
		}
		prompt := rapid.StringMatching(`[a-z]{1,40}`).Draw(rt, "prompt")
		kind := rapid.SampledFrom([]push.JobKind{push.JobCustom, push.JobHTTP, push.JobLLM, push.JobMCP}).Draw(rt, "kind")
		switch kind {
		case push.JobHTTP:
			s.JobType = push.JobType{Http: &push.Http{URL: "https://example.org", Method: "GET", Headers: [][2]string{}}}
		case push.JobMCP:
			s.JobType = push.JobType{Mcp: &push.Mcp{Server: "s", Tool: "t", Arguments: "{}"}}
		case push.JobLLM:
			s.JobType = push.JobType{Llm: &push.Llm{Model: "m", Prompt: prompt, MaxTokens: 9}}
		}
		callback := new(big.Int)
		if rapid.Bool().Draw(rt, "callback") {
			s.Callback = &push.Callback{Actor: types.Address{9}, Handler: "done", CorrelationID: []byte{}, Context: []byte{}}
			callback.SetUint64(2*uint64(w.params.CallbackCycles) + 3*uint64(w.params.CallbackCells)) // the base fees of this world
		}
		before := func() map[string]*big.Int { return w.holdings(size) }
		held := before()
		id, code := w.submit("bob", s)
		if code != "" {
			rt.Skip(code)
		}
		w.end()
		if j := w.job(id); j == nil || j.Status != Assigned {
			rt.Skip("it is not drawn")
		}
		names := w.committee(id)
		d := &divided{maxPrice: s.MaxPrice.Big(), tip: s.Tip.Big(), permille: int64(share), threshold: threshold, asked: map[string]*big.Int{},
			lots: map[string]string{}, results: map[string]string{}}
		results := make([]string, size)
		seed := w.job(id).Seed
		answers := []string{"", "x", "thirteen byte", "thirteen byte", "x"}
		if size == 1 || rapid.Bool().Draw(rt, "of one mind") {
			answers = rapid.SampledFrom([][]string{{"x"}, {"thirteen byte"}}).Draw(rt, "mind")
		}
		for i, name := range names {
			a := w.address(name)
			d.lots[name] = types.Keccak(seed[:], a[:]).String()
			results[i] = rapid.SampledFrom(answers).Draw(rt, "result")
			if results[i] != "" {
				d.results[name] = results[i]
			}
			d.asked[name] = ask(cards[name], s, kind, prompt, results[i])
			if rapid.Bool().Draw(rt, "raised") { // after the draw, which fixed what it is paid
				w.must(w.registry("alice", "update", Amendment{Runner: a, Offer: Offer{Capabilities: []string{"custom", "http", "llm", "mcp"},
					Entitlements: []string{}, MaxConcurrentJobs: 4, RateCard: card("raised")}}))
			}
		}
		if size == 1 {
			w.must(w.reveal(OpResult, id, names[0], results[0]))
			w.end()
		} else {
			w.finish(id, results...)
		}
		for blocks := 0; w.job(id) != nil; blocks++ {
			if w.end(); blocks > 50 {
				rt.Fatal("it does not end")
			}
		}
		want := d.divide()
		divisions[min(3, len(want.runners))]++
		gained := map[string]*big.Int{"treasury": want.treasury, "messages": callback, "dispatcher": new(big.Int)}
		gained["bob"] = new(big.Int).Sub(want.refund, new(big.Int).Add(callback, new(big.Int).Add(d.maxPrice, d.tip)))
		for i := range size {
			gained[fmt.Sprint("r", i)] = new(big.Int)
		}
		for name, part := range want.runners { // order: each by itself
			gained[name] = part
		}
		for who, now := range w.holdings(size) { // order: each by itself
			if got := now.Sub(now, held[who]); got.Cmp(gained[who]) != 0 {
				rt.Fatalf("%s gains %s, want %s; results %q of a %s, threshold %d, asked %v, at most %s, tip %s, %d‰", who, got, gained[who], results,
					kind, threshold, d.asked, s.MaxPrice, s.Tip, share)
			}
		}
	})
	for paid := range 4 {
		if divisions[paid] == 0 {
			t.Errorf("no division has %d paid runners: %v", paid, divisions)
		}
	}
}

// ask is what a runner asks by its card for the usage that the chain sees.
func ask(c RateCard, s *push.JobSpec, kind push.JobKind, prompt, result string) *big.Int {
	sum := new(big.Int)
	add := func(price types.Wei, times uint64) {
		sum.Add(sum, new(big.Int).Mul(price.Big(), new(big.Int).SetUint64(times)))
	}
	add(c.ComputeSecond, (s.ResultSchema.ExpectedExecutionMS+999)/1000)
	add(c.MemoryMB, s.Bounds.MaxMemoryMB)
	switch kind {
	case push.JobHTTP:
		add(c.HTTPRequestBase, 1)
	case push.JobMCP:
		add(c.MCPCallBase, 1)
	case push.JobLLM:
		add(c.LLMInputToken, uint64(len(prompt)+3)/4)
		add(c.LLMOutputToken, uint64(len(result)+3)/4)
	}
	return sum
}

// holdings are the wei of all that a job's money may go to.
func (w *world) holdings(runners int) map[string]*big.Int {
	all := map[string]*big.Int{"bob": w.balance(w.address("bob")).Big(), "treasury": w.balance(types.TreasuryAddress).Big(),
		"dispatcher": w.balance(types.DispatcherAddress).Big(), "messages": new(big.Int)}
	for i := range runners {
		name := fmt.Sprint("r", i)
		all[name] = w.balance(w.address(name)).Big()
	}
	actors.ScanMessages(w.state, func(m *actors.Message) bool {
		all["messages"].Add(all["messages"], m.Prepaid().Big())
		return true
	})
	return all
}
