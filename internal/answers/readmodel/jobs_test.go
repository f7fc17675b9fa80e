package readmodel_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/answers/readmodel"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/sim"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/history"
)

// labour is a simulated network of four validators and four runners, and an actor
// that is called back.
type labour struct {
	*testing.T
	*sim.Network
	source *readmodel.Source
	actor  types.Address
}

func newLabour(t *testing.T, p params.Overrides) *labour {
	t.Helper()
	n, err := sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: 3}, Runners: 4, Params: p})
	if err != nil {
		t.Fatal(err)
	}
	l := &labour{T: t, Network: n, source: readmodel.NewSource(n.Genesis, samples.Mux{}, n.Scheme())}
	tx, actor := n.Deploy("alice", samples.Code("counter"), types.WeiOf(100*types.CBY))
	n.Submit("v0", tx, nil)
	l.actor = actor
	l.reach(6)
	return l
}

func (l *labour) reach(h types.Height) {
	l.Helper()
	if err := l.RunToHeight(h, 5*time.Minute); err != nil {
		l.Fatal(err)
	}
}

// drop ends the process of a runner.
func (l *labour) drop(name string) {
	l.Helper()
	if _, err := l.Do(fault.Order{Verb: fault.Drop, Node: name}); err != nil {
		l.Fatal(err)
	}
}

func (l *labour) reader() answers.Reader { return l.source.Of(l.Validator("v0")) }

// submit submits a job for runners and returns it once it is final.
func (l *labour) submit(runners uint64, mode push.Mode) *model.Job {
	l.Helper()
	spec := push.JobSpec{JobType: push.JobType{Custom: &push.Custom{ExecutorHash: custom.Hash("echo"), Params: []byte("hello")}},
		Bounds:       push.Bounds{MaxInputTokens: 16, MaxOutputTokens: 16, MaxWallTimeSeconds: 30, MaxMemoryMB: 16, MaxRetries: 3},
		Verification: push.Verification{Mode: mode, Runners: runners}, MaxPrice: types.WeiOf(types.CBY), Tip: types.WeiOf(7), TimeoutBlocks: 12,
		Callback:     &push.Callback{Actor: l.actor, Handler: "increment", CorrelationID: []byte{}, Context: []byte{}},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 1024, ExpectedExecutionMS: 50, DataFormat: push.FormatBytes}}
	l.Submit("v0", l.Execute("bob", types.DispatcherAddress, "submit", spec.Order()), nil)
	for range 10 {
		l.reach(l.Height("v0") + 1)
		jobs, err := l.reader().Jobs(history.JobFilter{Page: history.Page{Newest: true, Limit: 1}})
		if err != nil {
			l.Fatal(err)
		}
		if len(jobs) > 0 && jobs[0].SubmittedAt+10 > l.Height("v0") {
			return &jobs[0]
		}
	}
	l.Fatal("the job is in no block")
	return nil
}

// ended runs until a job is over, and called back.
func (l *labour) ended(id types.Hash) *model.Job {
	l.Helper()
	for range 80 {
		j, err := l.reader().Job(id)
		if err != nil {
			l.Fatal(err)
		}
		if j.CompletedAt != nil && *j.CompletedAt < l.Height("v0") {
			return j
		}
		l.reach(l.Height("v0") + 1)
	}
	l.Fatal("the job does not end")
	return nil
}

func (l *labour) words(id types.Hash) string {
	l.Helper()
	story, err := l.reader().JobStory(id, history.Page{Limit: 1000})
	if err != nil {
		l.Fatal(err)
	}
	var words []string
	for _, e := range story {
		words = append(words, e.What)
	}
	return strings.Join(words, " ")
}

// A job of three is read field by field, from its submission to its callback.
func TestAJobIsReadThroughAllItsLife(t *testing.T) {
	l := newLabour(t, nil)
	early := l.submit(3, push.Deterministic)
	if early.Kind != "custom" || early.Mode != "deterministic" || early.Runners != 3 || early.Submitter != l.Key("bob").Address() ||
		early.Callback.Actor != l.actor || early.Callback.Handler != "increment" || early.MaxPrice != types.WeiOf(types.CBY) ||
		early.Tip != types.WeiOf(7) || early.Escrow.Less(early.MaxPrice.Add(early.Tip).Add(types.WeiOf(1))) || early.TimeoutBlocks != 12 {
		t.Errorf("%+v", early)
	}
	if early.Status == "Assigned" && (early.Result != nil || early.Winner != nil || early.CompletedAt != nil || early.Price != nil) {
		t.Errorf("%+v", early)
	}
	j := l.ended(early.ID)
	drawn := *j.AssignedAt
	if j.Status != "Completed" || string(*j.Result) != "hello" || j.Error != nil || j.Attempts != 1 || len(j.Committee) != 3 ||
		j.Deadline != drawn+12 || *j.CommitDeadline != drawn+7 || j.Price == nil || string(j.Spec) != string(early.Spec) {
		t.Errorf("%+v", j)
	}
	draws, err := l.reader().JobDraws(j.ID)
	if err != nil {
		t.Fatal(err)
	}
	lot := func(a types.Address) string { return selection.Lot(draws[0].Seed, a).String() }
	winner := slices.MinFunc(j.Committee, func(a, b types.Address) int { return strings.Compare(lot(a), lot(b)) })
	if *j.Winner != winner {
		t.Errorf("%s won, not %s", j.Winner, winner)
	}
	story := l.words(j.ID)
	if want := "submitted drawn committed"; !strings.HasPrefix(story, want) || !strings.HasSuffix(story, "completed called_back") ||
		strings.Count(story, "revealed") != 3 {
		t.Errorf("%s", story)
	}
	runners, err := l.reader().JobRunners(j.ID)
	if err != nil || len(runners) != 3 {
		t.Fatal(runners, err)
	}
	results, err := l.reader().JobResults(j.ID, history.Page{Limit: 9}, false)
	if err != nil || len(results) != 3 {
		t.Fatal(results, err)
	}
	bare, err := l.reader().JobResults(j.ID, history.Page{Limit: 9}, true)
	if err != nil || len(bare) != 3 {
		t.Fatal(bare, err)
	}
	for i, r := range runners {
		if r.Address != j.Committee[i] || r.Attempt != 1 || r.Outcome != "agreed" || r.CommittedAt == nil || *r.RevealedAt > *j.CompletedAt ||
			*r.CommittedAt <= drawn || *r.RevealedAt <= *r.CommittedAt {
			t.Errorf("%+v", r)
		}
		if m := results[i]; m.Runner != r.Address || string(*m.Result) != "hello" || len(m.Commitments) == 0 ||
			m.Commitments[0].Height != *r.CommittedAt {
			t.Errorf("%+v", m)
		}
		if bare[i].Result = results[i].Result; !reflect.DeepEqual(bare[i], results[i]) {
			t.Errorf("bare it is %+v", bare[i])
		}
	}
	l.told(j, story)
}

// told checks that blocks' reports on the job equal its story.
func (l *labour) told(j *model.Job, story string) {
	l.Helper()
	var words []string
	for h := j.SubmittedAt; h <= l.Height("v0"); h++ {
		b, err := l.reader().Block(h)
		if err != nil || b == nil {
			l.Fatal(h, err)
		}
		for _, e := range b.Jobs {
			if e.ID != j.ID || e.Height != h {
				l.Errorf("height %d: %+v", h, e)
			}
			words = append(words, e.What)
		}
	}
	if got := strings.Join(words, " "); got != story {
		l.Errorf("blocks tell: %s; the story: %s", got, story)
	}
}

// Runners are read as the state and the votes have them.
func TestRunnersAndPresenceAreReadFromTheChain(t *testing.T) {
	l := newLabour(t, nil)
	l.reach(10)
	v := l.reader()
	runners, err := v.Runners(answers.RunnerFilter{Limit: 9})
	if err != nil || len(runners) != 4 {
		t.Fatal(runners, err)
	}
	for i, r := range runners {
		key := l.Key(fmt.Sprintf("r%d", i))
		if int(r.Index) != i || r.Address != key.Address() || r.PublicKey != key.PublicKey() || r.Owner != key.Address() || !r.Present ||
			r.Stake != wallet.RunnerStake || r.Reputation != 75 || r.Health != model.RunnerHealthy || !r.Accepting || len(r.Subset) == 0 ||
			len(r.Capabilities) == 0 || r.RegisteredAt != 0 || r.MaxConcurrentJobs == 0 {
			t.Errorf("%+v", r)
		}
	}
	if active, err := v.Runners(answers.RunnerFilter{Available: true, Offset: 1, Limit: 2}); err != nil || len(active) != 2 ||
		active[0].Index != 1 {
		t.Errorf("%+v, %v", active, err)
	}
	subsets := v.Subsets()
	if subsets.SubsetEpoch != 0 || len(subsets.Current.Validators) != 4 || subsets.Current.SubsetSize != len(runners[0].Subset) ||
		subsets.Former != nil || subsets.Current.PresenceRule != "quorum" {
		t.Errorf("%+v", subsets)
	}
	head := v.Head().Height
	p, err := v.Presence(head - 1)
	if err != nil || p.Height != head-1 || p.Rule != "quorum" || p.Threshold < 1 || len(p.Runners) != 4 || len(p.Votes) < 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	for i, r := range p.Runners {
		if r.Index != i || r.Address != runners[i].Address || !r.Present || r.Count != len(r.Validators) || r.Count < p.Threshold {
			t.Errorf("%+v", r)
		}
		for _, by := range r.Validators {
			if !slices.Contains(runners[i].Subset, by) {
				t.Errorf("%s shows runner %d, and is not in its subset", by, i)
			}
		}
	}
	if p, err := v.Presence(head); p != nil || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	came := map[int]bool{}
	for h := types.Height(1); h <= head; h++ {
		b, err := v.Block(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range b.Presence {
			if e.Height != h-1 || e.Runner != runners[e.Index].Address || e.Present == came[e.Index] {
				t.Errorf("height %d: %+v", h, e)
			}
			came[e.Index] = e.Present
		}
	}
	if len(came) != 4 {
		t.Errorf("%d bits became others", len(came))
	}
}

// A runner that is gone is silent, and the job is drawn again without it.
func TestAJobThatIsDrawnAgainIsReadSo(t *testing.T) {
	l := newLabour(t, nil)
	j := l.submit(1, push.None)
	for j.Status == "Pending" {
		l.reach(l.Height("v0") + 1)
		j, _ = l.reader().Job(j.ID)
	}
	first := j.Committee[0]
	if j.Status == "Assigned" {
		for i := range 4 {
			if name := fmt.Sprintf("r%d", i); l.Key(name).Address() == first {
				l.drop(name)
			}
		}
	}
	if todo, _ := l.reader().Assignments(first, polling.Cursor{}); j.Status == "Assigned" && (len(todo) != 1 || todo[0].JobID != j.ID ||
		todo[0].DeadlineBlock != j.Deadline || todo[0].BlockHeight != *j.AssignedAt) {
		t.Errorf("%+v", todo)
	}
	j = l.ended(j.ID)
	if j.Status != "Completed" || j.Attempts != 2 || j.CommitDeadline != nil || *j.Winner == first {
		t.Fatalf("%+v: %s", j, l.words(j.ID))
	}
	runners, err := l.reader().JobRunners(j.ID)
	if err != nil || len(runners) != 2 || runners[0].Address != first || runners[0].Outcome != "silent" || runners[1].Outcome != "agreed" ||
		runners[1].Attempt != 2 || runners[1].CommittedAt != nil {
		t.Errorf("%+v, %v", runners, err)
	}
	if story := l.words(j.ID); story != "submitted drawn retried drawn revealed completed called_back" {
		t.Errorf("%s", story)
	}
	if r, err := l.reader().Runner(first); err != nil || r.Reputation != 70 || r.Present {
		t.Errorf("%+v, %v", r, err)
	}
}

// A sighting before a block that skips heights is in that block's events. The story of its
// job and the runner's events show it at that height, where the block's own changes are.
func TestASightingIsAtTheHeightOfItsBlock(t *testing.T) {
	l := newLabour(t, nil)
	seen := new(readmodel.Sightings)
	l.source.Sightings = seen
	j := l.ended(l.submit(1, push.None).ID)
	before := l.Height("v0")
	if _, err := l.Advance(history.Target{Blocks: 20}); err != nil {
		t.Fatal(err)
	}
	after := before + 1
	for ; ; after++ {
		if b, err := l.reader().Block(after); err != nil {
			t.Fatal(err)
		} else if b != nil && b.Block.Header.Skipped > 0 {
			before = after - types.Height(b.Block.Header.Skipped)
			break
		}
	}
	seen.Saw(before, types.Address{1}, gateway.Pushed{Runner: *j.Winner, Assignment: gateway.AssignmentID{Job: j.ID}})
	seen.Saw(before, types.Address{1}, gateway.Arrived{Runner: *j.Winner})
	open := l.Height("v0") + 1
	seen.Saw(open, types.Address{1}, gateway.Left{Runner: *j.Winner})
	story, err := l.reader().JobStory(j.ID, history.Page{Limit: 100})
	if last := len(story) - 1; err != nil || last < 0 || story[last].What != model.JobPushed || story[last].Height != after {
		t.Errorf("want the last at %d, not at %d: %v, %+v", after, before, err, story)
	}
	r, err := l.reader().Runner(*j.Winner)
	if err != nil || len(r.Heard) != 2 || r.Heard[0].Height != after || r.Heard[1].Height != open {
		t.Errorf("want heights %d, and %d whose block is not yet: %v, %+v", after, open, err, r)
	}
}

// Validators' sightings of a job outside the chain come with the next block, also if
// that skipped heights, and the remembered number is bounded.
func TestWhatValidatorsSeeComesWithTheNextBlock(t *testing.T) {
	seen := new(readmodel.Sightings)
	n, err := sim.NewNetwork(sim.NetworkConfig{World: sim.Config{Seed: 3}, Runners: 4, Saw: seen.Saw})
	if err != nil {
		t.Fatal(err)
	}
	l := &labour{T: t, Network: n, source: readmodel.NewSource(n.Genesis, samples.Mux{}, n.Scheme())}
	l.source.Sightings = seen
	l.reach(6)
	j := l.ended(l.submit(1, push.None).ID)
	var words []string
	for h := j.SubmittedAt; h <= l.Height("v0"); h++ {
		b, err := l.reader().Block(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range b.Jobs {
			if e.ID != j.ID || e.Height != h {
				t.Errorf("height %d: %+v", h, e)
			}
			if e.Validator == nil || *e.Runner != *j.Winner || e.What == "revealed" {
				continue
			}
			word := e.What
			if e.Outcome != nil {
				word += " " + *e.Outcome
			}
			words = append(words, word)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	if got := strings.Join(words, ", "); got != "acked, acked Duplicate, pushed, result Success" {
		t.Errorf("%s", got)
	}
	for i := range 2 * readmodel.MaxSightings {
		of := gateway.AssignmentID{Job: types.Hash{byte(i), byte(i >> 8)}}
		seen.Saw(l.Height("v0")+1, types.Address{1}, gateway.Pushed{Assignment: of})
	}
	l.reach(l.Height("v0") + 1)
	if b, err := l.reader().Block(l.Height("v0")); err != nil || len(b.Jobs) < readmodel.MaxSightings/2 ||
		len(b.Jobs) > readmodel.MaxSightings {
		t.Errorf("%d events, %v", len(b.Jobs), err)
	}
}
