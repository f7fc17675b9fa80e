package gateway

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// brought is an answer of the plain list: a result, or a refusal.
type brought struct {
	runner    types.Address
	id        AssignmentID
	refuses   bool
	hash      types.Hash // of the result
	committed bool
	revealed  bool
}

// plainList is what is held, in the order in which it came. It visits all at each head.
type plainList []*brought

// visit returns what is submitted at a height of all that are held, and drops what is over.
func (l *plainList) visit(height types.Height, find func(*brought) *Assignment) (submitted []string) {
	var rest plainList
	for _, b := range *l {
		a := find(b)
		if a == nil {
			continue
		}
		rest = append(rest, b)
		if what := b.next(height, a); what != "" {
			submitted = append(submitted, fmt.Sprint(what, b.runner, b.id))
		}
	}
	*l = rest
	return submitted
}

// next is what is submitted of an answer at a height.
func (b *brought) next(height types.Height, a *Assignment) string {
	mayCommit := height < a.CommitEnd && !a.AllCommitted
	if b.refuses {
		if b.committed || height >= a.CommitEnd || len(a.Commitments) != 0 {
			return ""
		}
		b.committed = true
		return "refuse"
	}
	if b.revealed || height >= a.Deadline {
		return ""
	}
	counts := slices.Contains(a.Commitments, b.hash)
	if a.Committee == 1 || counts && !mayCommit {
		b.revealed = true
		return "reveal"
	}
	if b.committed || counts || !mayCommit {
		return ""
	}
	b.committed = true
	return "commit"
}

// submittedAs is a submission as the plain list names it.
func submittedAs(s Submission) string {
	switch s := s.(type) {
	case Reveal:
		return fmt.Sprint("reveal", s.Runner, s.Assignment)
	case Commit:
		return fmt.Sprint("commit", s.Runner, s.Assignment)
	case Refuse:
		return fmt.Sprint("refuse", s.Runner, AssignmentID{Job: s.Refusal.JobID, Drawn: s.Refusal.Drawn})
	}
	return fmt.Sprintf("%T", s)
}

// TestAHeadSubmitsWhatAPlainListDoes under random draws, results, refusals, commitments,
// ends, retries, lost submissions and heads. The index forgets no result. The name of a
// subtest is its seed.
func TestAHeadSubmitsWhatAPlainListDoes(t *testing.T) {
	kinds := map[string]int{} // what heads submitted, over all seeds
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := &game{world: newWorld(t, nil), random: rand.New(rand.NewPCG(seed, 1)), kinds: kinds}
			for i := range 3 {
				g.keys = append(g.keys, g.register(fmt.Sprint("r", i)))
			}
			for range 200 {
				g.play()
			}
		})
	}
	for _, kind := range []string{"commit", "reveal", "refuse"} {
		if kinds[kind] < 20 {
			t.Errorf("heads submitted too few of %s: %v", kind, kinds)
		}
	}
}

// game is a machine, and a plain list of the answers that it should hold.
type game struct {
	*world
	random *rand.Rand
	keys   []crypto.Signer
	list   plainList
	job    byte
	kinds  map[string]int
}

// moves are what happens, as often as each is named.
var moves = strings.Fields("head head head head skip draw draw draw result result result result refusal refusal commit commit all end " +
	"retry lost lost lost lost")

// play makes a move, and compares what is submitted.
func (g *game) play() {
	g.Helper()
	key := g.keys[g.random.IntN(len(g.keys))]
	open := g.open[key.Address()]
	what := moves[g.random.IntN(len(moves))]
	g.submits = nil
	var want []string
	switch {
	case what == "head" || what == "skip":
		want = g.raise(what == "skip")
	case what == "draw" && len(open) < 20:
		g.draw(key)
	case len(open) > 0:
		want = g.change(what, key, &open[g.random.IntN(len(open))])
	}
	var got []string
	for _, s := range g.submits {
		got = append(got, submittedAs(s))
	}
	if !slices.Equal(got, want) {
		g.Fatalf("%s at height %d: submitted %v, want %v", what, g.head.Height, got, want)
	}
	if what == "head" && len(g.results.index.all) != len(g.list) {
		g.Fatalf("at height %d: %d are held, want %d", g.head.Height, len(g.results.index.all), len(g.list))
	}
}

// raise makes a new head, which may skip heights.
func (g *game) raise(skips bool) []string {
	g.block(func(h *Head) {
		if skips {
			h.Height, h.Skipped = h.Height+2, 2
		}
	})
	want := g.list.visit(g.head.Height, func(b *brought) *Assignment { return g.Assignment(b.runner, b.id) })
	for _, one := range want {
		g.kinds[one[:len("commit")]]++
	}
	return want
}

// draw draws one runner for a new job, or all.
func (g *game) draw(key crypto.Signer) {
	g.job++
	committee := []int{1, 3, 3}[g.random.IntN(3)]
	for _, member := range g.keys {
		if committee == 3 || member.Address() == key.Address() {
			id := g.assign(member, g.job, committee)
			g.at(member, id).Deadline += types.Height(g.random.IntN(9))
		}
	}
}

// change is a move of an open assignment. It returns what is submitted at once.
func (g *game) change(what string, key crypto.Signer, a *Assignment) (want []string) {
	runner := key.Address()
	i := slices.IndexFunc(g.list, func(b *brought) bool { return b.runner == runner && b.id == a.AssignmentID })
	var answer *brought
	if i >= 0 {
		answer = g.list[i]
	}
	bring := func(b *brought, polled Polled) {
		g.list = append(g.list, b)
		if what := b.next(g.head.Height, a); what != "" {
			want = []string{fmt.Sprint(what, b.runner, b.id)}
		}
		g.step(polled)
	}
	early := g.head.Height < a.CommitEnd && len(a.Commitments) == 0
	switch {
	case what == "result" && answer == nil:
		f := (&end{world: g.world, signer: key}).resultOf(a.Job, fmt.Sprint("result ", g.random.Uint64()))
		hash := push.Commitment(f.ResultData, f.RunnerSigned)
		bring(&brought{runner: runner, id: a.AssignmentID, hash: hash}, Polled{Runner: runner, Result: f})
	case what == "refusal" && answer == nil && early:
		f := (&end{world: g.world, signer: key}).refusalOf(a.AssignmentID)
		bring(&brought{runner: runner, id: a.AssignmentID, refuses: true}, Polled{Runner: runner, Ack: f})
	case what == "commit" && a.Committee > 1 && early:
		a.Commitments = []types.Hash{{1}} // to another result
		if answer != nil && !answer.refuses {
			a.Commitments[0] = answer.hash
		}
	case what == "all":
		for _, member := range g.keys {
			if of := g.Assignment(member.Address(), a.AssignmentID); of != nil {
				of.AllCommitted = true
			}
		}
	case what == "end":
		g.finish(key, a.AssignmentID, Landed)
	case what == "retry" && a.Drawn < g.head.Height: // the job is drawn again, for this runner too
		old := *a
		g.finish(key, old.AssignmentID, Reassigned)
		g.assign(key, old.Job[0], old.Committee)
	case what == "lost":
		if answer != nil {
			answer.committed, answer.revealed = false, false
		}
		g.step(Unkept{Runner: runner, Job: a.Job})
	}
	return want
}

// A head touches only the results that it can advance. The other ones of 4,096 wait for a
// later height.
func TestAHeadTouchesOnlyWhatItCanAdvance(t *testing.T) {
	x := newHeldIndex()
	var all []*pendingResult
	for n := range 4096 {
		h := &pendingResult{resultID: resultID{types.Address{byte(n)}, AssignmentID{Job: types.Keccak(fmt.Append(nil, n)), Drawn: 1}}}
		all = append(all, h)
		x.putResult(h, types.Height(10+n%2*10)) // at 10 and 20 in turn
	}
	if got := x.takeReady(9, nil, false); len(got) != 0 {
		t.Errorf("%d are ready at height 9", len(got))
	}
	x.markLoss(all[7].runner, all[7].Job)
	x.markLoss(all[7].runner, all[7].Job)
	changed := []types.Hash{all[9].Job, all[7].Job, {1}, all[3].Job}
	if got := x.takeReady(9, changed, false); !slices.Equal(got, []*pendingResult{all[3], all[7], all[9]}) {
		t.Errorf("%d are ready, want three", len(got))
	}
	if got := x.takeReady(15, nil, false); len(got) != 2048 || got[1] != all[2] {
		t.Errorf("%d are ready at height 15, want 2048", len(got))
	}
	if got := x.takeReady(16, nil, false); len(got) != 0 {
		t.Errorf("%d are ready again", len(got))
	}
	if got := x.takeReady(16, nil, true); !slices.Equal(got, all) {
		t.Errorf("%d are ready without a list of changes, want all", len(got))
	}
	for i, h := range all {
		x.dropResult(h)
		if i%512 == 0 {
			if err := x.check(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(x.all)+len(x.jobs)+len(x.dues)+len(x.lost) != 0 {
		t.Errorf("after all are dropped: %d by name, %d by job, %d by height", len(x.all), len(x.jobs), len(x.dues))
	}
}
