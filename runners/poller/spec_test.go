package poller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

const chainID = 8011

var signatures = crypto.NewKeyedHash(types.Hash{1})

func signerOf(name string) crypto.Signer { return signatures.Signer(crypto.DeriveKey(1, name)) }

// world is a machine under test, and validators that do what the test says.
type world struct {
	testing.TB
	*Machine
	now     types.Time
	params  params.Params
	head    chainview.Head
	asked   []polling.Question // and not answered
	jobs    []Job
	reports []Report
}

// newWorld has a registered runner at height 100, which belongs to some validators; a
// block time is a second.
func newWorld(t testing.TB, phase selection.Phase, validators int) *world {
	w := &world{TB: t, params: params.Defaults()}
	w.params.Push = string(phase)
	w.head = chainview.Head{Height: 100, Registered: true, Staked: true, Heartbeat: 100}
	for i := range validators {
		s := signerOf(fmt.Sprint("v", i))
		w.head.Validators = append(w.head.Validators,
			types.Validator{Address: s.Address(), PublicKey: s.PublicKey(), Endpoint: fmt.Sprint("v", i)})
	}
	w.Machine = New(Config{ChainID: chainID, Signer: signerOf("r0")})
	w.block(0)
	return w
}

// block reports a head that is higher by more.
func (w *world) block(more types.Height) {
	w.head.Height += more
	p, h := w.params, w.head
	h.Params = &p
	w.step(Head{&h})
}

func (w *world) step(e Event) {
	out := w.Step(w.now, e)
	w.asked = append(w.asked, out.Ask...)
	w.jobs = append(w.jobs, out.Jobs...)
	w.reports = append(w.reports, out.Report...)
	if at := w.Deadline(); at <= w.now {
		w.Fatalf("at %v the deadline is %v: nothing is due", w.now, at)
	}
}

// wait lets time pass, with a Tick at each deadline.
func (w *world) wait(d time.Duration) {
	until := w.now.Add(d)
	for steps := 0; ; steps++ {
		at := w.Deadline()
		if at > until {
			break
		}
		if steps > 10_000 {
			w.Fatal("the deadline does not move")
		}
		w.now = at
		w.step(Tick{})
	}
	w.now = until
}

// take takes the only question that is not answered.
func (w *world) take() polling.Question {
	w.Helper()
	if len(w.asked) != 1 {
		w.Fatalf("asked are %+v", w.asked)
	}
	q := w.asked[0]
	w.asked = nil
	return q
}

func (w *world) quiet() {
	w.Helper()
	if len(w.asked) != 0 {
		w.Fatalf("asked are %+v", w.asked)
	}
}

func (w *world) answer(q polling.Question, change func(*polling.Answer)) {
	a := polling.Answer{ID: q.ID}
	if change != nil {
		change(&a)
	}
	w.step(Answer{a})
}

func lost(a *polling.Answer)    { a.Lost = true }
func refused(a *polling.Answer) { a.Refused = "no" }

// CIP-11 §14, J11: in off and shadow one validator after another is asked, a block time
// apart; in hot and sunset none is while nothing is missing.
func TestJ11ARunnerPollsOneValidatorAfterAnother(t *testing.T) {
	for _, phase := range []selection.Phase{selection.Off, selection.Shadow} {
		w := newWorld(t, phase, 4)
		seen := map[string]int{}
		for range 8 {
			q := w.take()
			if q.Result != nil || q.Heartbeat != nil {
				t.Fatalf("%s: it brings %+v", phase, q)
			}
			seen[q.Validator.Endpoint]++
			w.answer(q, nil)
			w.wait(999 * time.Millisecond)
			w.quiet()
			w.wait(time.Millisecond)
		}
		if len(seen) != 4 || seen["v0"] != 2 || seen["v3"] != 2 {
			t.Errorf("%s: asked were %v", phase, seen)
		}
	}
	for _, phase := range []selection.Phase{selection.Hot, selection.Sunset} {
		w := newWorld(t, phase, 4)
		w.wait(time.Minute)
		w.quiet()
	}
}

// J11: the time between two polls is poll_ms, or a block time.
func TestJ11ThePaceOfPolls(t *testing.T) {
	for _, c := range []struct {
		every  time.Duration
		change func(*params.Params)
		want   time.Duration
	}{
		{0, func(*params.Params) {}, time.Second},
		{250 * time.Millisecond, func(*params.Params) {}, 250 * time.Millisecond},
		{0, func(p *params.Params) { p.BlockTimeMS = 0 }, 100 * time.Millisecond},
		{0, func(p *params.Params) { p.BlockTimeAuto = true }, onDemand},
	} {
		w := newWorld(t, selection.Hot, 1)
		w.config.Every = c.every
		c.change(&w.params)
		w.params.Push = "shadow"
		w.block(1)
		w.answer(w.take(), nil)
		w.wait(c.want - 1)
		w.quiet()
		w.wait(1)
		w.take()
	}
}

// J11: in hot a runner polls for jobs that the view shows and no validator
// delivered within cip11.ack_timeout_blocks, and no longer than that.
func TestJ11InHotARunnerPollsForWhatNoStreamBrought(t *testing.T) {
	w := newWorld(t, selection.Hot, 4)
	w.step(Missing{Is: true, Since: 100})
	w.block(2)
	w.quiet()
	w.block(1)
	w.answer(w.take(), nil)
	w.step(Missing{})
	w.wait(time.Minute)
	w.quiet()

	sunset := newWorld(t, selection.Sunset, 4)
	sunset.step(Missing{Is: true, Since: 100})
	sunset.block(10)
	sunset.wait(time.Minute)
	sunset.quiet()
}

// An unregistered runner polls no validator.
func TestARunnerThatIsNotRegisteredDoesNotPoll(t *testing.T) {
	w := newWorld(t, selection.Hot, 4)
	w.params.Push, w.head.Registered = "off", false
	w.block(500)
	w.wait(time.Minute)
	w.quiet()
	w.head.Registered = true
	w.block(1)
	if len(w.asked) != 2 {
		t.Fatalf("asked are %+v", w.asked)
	}
}

// Answers go to the worker, with their sender; a refusal and an unrequested answer
// have no effect.
func TestAnswersGoToTheWorker(t *testing.T) {
	w := newWorld(t, selection.Shadow, 2)
	job := polling.Job{ID: execution.ID{Job: types.Hash{7}, Drawn: 99}}
	q := w.take()
	w.step(Answer{polling.Answer{ID: q.ID + 1, Jobs: []polling.Job{job}}})
	w.answer(q, func(a *polling.Answer) { a.Jobs = []polling.Job{job} })
	w.answer(q, func(a *polling.Answer) { a.Jobs = []polling.Job{job} })
	if len(w.jobs) != 1 || w.jobs[0].Validator != q.Validator.PublicKey || w.jobs[0].ID != job.ID || w.Answered() != 100 {
		t.Fatalf("told are %+v", w.jobs)
	}
	w.block(1)
	w.wait(time.Second)
	w.answer(w.take(), func(a *polling.Answer) { refused(a); a.Jobs = []polling.Job{job} })
	if len(w.jobs) != 1 || w.Answered() != 100 {
		t.Fatalf("of a refusal it tells %+v", w.jobs)
	}
	w.wait(time.Second)
	w.answer(w.take(), func(a *polling.Answer) { a.Jobs = make([]polling.Job, 10*polling.MaxJobs) })
	if len(w.jobs) != 1+polling.MaxJobs {
		t.Errorf("%d jobs are told", len(w.jobs))
	}
}

// A validator that does not answer does not keep a runner from its jobs: the next is asked
// at once, and that one rests, longer each time. Silence is one too.
func TestADeadValidatorKeepsNobodyFromItsJobs(t *testing.T) {
	w := newWorld(t, selection.Shadow, 4)
	answered, silent := 0, 0
	for range 600 {
		for _, q := range slices.Clone(w.asked) {
			w.asked = nil
			switch q.Validator.Endpoint {
			case "v0":
				silent++
			case "v1":
				w.answer(q, lost)
			default:
				answered++
				w.answer(q, nil)
			}
		}
		w.wait(100 * time.Millisecond)
	}
	if answered < 50 || silent < 3 || silent > 10 {
		t.Errorf("in a minute %d polls are answered, and one that is silent was asked %d times", answered, silent)
	}
}

// If no validator answers, they are asked now and then: the runner continues.
func TestWhereNobodyAnswersTheyAreAskedNowAndThen(t *testing.T) {
	w := newWorld(t, selection.Shadow, 2)
	asked := 0
	for range 600 {
		for _, q := range slices.Clone(w.asked) {
			asked, w.asked = asked+1, nil
			w.answer(q, lost)
		}
		w.wait(100 * time.Millisecond)
	}
	if asked < 8 || asked > 20 {
		t.Errorf("in a minute they are asked %d times", asked)
	}
	for len(w.asked) == 0 {
		w.wait(time.Second)
	}
	w.answer(w.take(), nil)
	w.wait(time.Second)
	w.answer(w.take(), nil)
}

// J11, J15: a result without a stream goes to one validator after another until one takes
// it: each is asked once.
func TestJ11AResultIsBroughtUntilAValidatorTakesIt(t *testing.T) {
	for _, phase := range []selection.Phase{selection.Off, selection.Shadow, selection.Hot, selection.Sunset} {
		w := newWorld(t, phase, 3)
		for _, q := range slices.Clone(w.asked) {
			w.answer(q, nil)
		}
		w.asked = nil
		id := execution.ID{Job: types.Hash{7}, Drawn: 99}
		result := &push.JobResult{JobID: id.Job}
		w.step(Bring{ID: id, Result: result})
		first := w.take()
		if first.Result != result {
			t.Fatalf("%s: asked %+v", phase, first)
		}
		w.answer(first, refused)
		second := w.take()
		w.answer(second, nil)
		w.quiet()
		if first.Validator == second.Validator || len(w.reports) != 2 || w.reports[1] != (Brought{ID: id, Validator: second.Validator.Address}) {
			t.Errorf("%s: it went to %v and %v: %+v", phase, first.Validator, second.Validator, w.reports)
		}
		w.step(Bring{ID: id, Result: result})
		for range 3 {
			w.answer(w.take(), refused)
		}
		w.quiet()
		w.step(Bring{ID: id, Result: result})
		w.answer(w.take(), lost)
		w.step(Over{id})
		w.asked = nil
		w.answer(polling.Question{ID: w.lastID}, refused)
		w.quiet()
	}
}

// J11, J21: a refusal goes to one validator after another until one takes it, as a result
// does, and asks for no jobs in its place.
func TestJ21ARefusalIsBroughtUntilAValidatorTakesIt(t *testing.T) {
	w := newWorld(t, selection.Shadow, 3)
	w.answer(w.take(), nil)
	id := execution.ID{Job: types.Hash{7}, Drawn: 99}
	ack := &push.JobAck{JobID: id.Job}
	w.step(Bring{ID: id, Refusal: ack})
	first := w.take()
	if first.Refusal != ack || first.Result != nil {
		t.Fatalf("asked %+v", first)
	}
	w.answer(first, lost)
	second := w.take()
	w.answer(second, nil)
	w.quiet()
	if second.Refusal != ack || first.Validator == second.Validator || len(w.reports) != 2 ||
		w.reports[1] != (Brought{ID: id, Validator: second.Validator.Address}) {
		t.Errorf("it went to %v and %v: %+v", first.Validator, second.Validator, w.reports)
	}
	w.step(Bring{ID: id, Refusal: ack})
	w.take()
	w.wait(time.Second)
	polled := slices.ContainsFunc(w.asked, func(q polling.Question) bool { return q.Refusal == nil && q.Result == nil && q.Heartbeat == nil })
	if !polled {
		t.Error("a refusal under way keeps the runner from polling")
	}
}

// J18: in off the runner brings its heartbeat, when the last on chain is old enough; in
// shadow only where validators do not; in hot and sunset they do, or none is asked for.
func TestJ18ARunnerThatPollsBringsItsHeartbeat(t *testing.T) {
	for phase, wait := range map[selection.Phase]types.Height{selection.Off: 100, selection.Shadow: 562, selection.Hot: 0,
		selection.Sunset: 0} {
		w := newWorld(t, phase, 3)
		at := func(height types.Height) (beats []polling.Question) {
			w.asked = nil
			w.head.Height = height
			w.block(0)
			for _, q := range w.asked {
				if q.Heartbeat != nil {
					beats = append(beats, q)
				}
				w.answer(q, nil)
			}
			return beats
		}
		if wait == 0 {
			if beats := at(5000); len(beats) != 0 {
				t.Errorf("%s: %+v", phase, beats)
			}
			continue
		}
		if beats := at(99 + wait); len(beats) != 0 {
			t.Errorf("%s: %d blocks before its time: %+v", phase, 1, beats)
		}
		beats := at(100 + wait)
		if len(beats) != 1 {
			t.Fatalf("%s: %+v", phase, beats)
		}
		ping := beats[0].Heartbeat
		signer, ok := signatures.Recover(ping.Digest(chainID), ping.Signed)
		if ping.BlockHeight != 100+wait || !ok || signer != signerOf("r0").Address() {
			t.Errorf("%s: %+v", phase, ping)
		}
		if beats := at(100 + wait + beatAgainBlocks - 1); len(beats) != 0 {
			t.Errorf("%s: it is brought again too soon", phase)
		}
		if beats := at(100 + wait + beatAgainBlocks); len(beats) != 1 {
			t.Errorf("%s: it is not brought again", phase)
		}
	}
}

// Stop ends all of it.
func TestAfterStopNothingIsAsked(t *testing.T) {
	w := newWorld(t, selection.Shadow, 3)
	q := w.take()
	w.step(Stop{})
	w.answer(q, func(a *polling.Answer) { a.Jobs = make([]polling.Job, 3) })
	w.step(Bring{ID: execution.ID{Drawn: 1}, Result: &push.JobResult{}})
	w.block(1000)
	w.wait(time.Minute)
	w.quiet()
	if len(w.jobs) != 0 || w.Deadline() != types.Never {
		t.Errorf("told are %+v", w.jobs)
	}
}

// J11: pages follow one another at once, each from the next validator in turn. The next
// poll begins at the first page, as it does where a liar's cursor does not lead on.
func TestJ11ARunnerTurnsPages(t *testing.T) {
	w := newWorld(t, selection.Shadow, 4)
	cursor := func(i int) polling.Cursor { return polling.Cursor{Deadline: types.Height(i)} }
	page := func(next polling.Cursor) func(*polling.Answer) {
		return func(a *polling.Answer) { a.Jobs, a.Next = make([]polling.Job, 1), next }
	}
	for i := range 3 {
		q := w.take()
		if q.After != (polling.Cursor{}) && i == 0 || i > 0 && q.After != cursor(i) {
			t.Fatalf("page %d is asked for after %v", i, q.After)
		}
		w.answer(q, page(cursor(i+1)))
	}
	w.answer(w.take(), page(polling.Cursor{}))
	w.quiet()
	for _, liar := range []func(*polling.Answer){page(polling.Cursor{}), func(a *polling.Answer) { a.Next = cursor(9) }} {
		w.wait(time.Second)
		if q := w.take(); !q.After.IsZero() {
			t.Fatalf("a poll begins after %v", q.After)
		} else {
			w.answer(q, liar)
		}
		w.quiet()
	}
	w.wait(time.Second)
	for i := range polling.MaxPages {
		w.answer(w.take(), page(cursor(i+1)))
	}
	w.quiet() // a liar's list without an end
}
