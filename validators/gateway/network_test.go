package gateway_test

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/runners/session"
	"github.com/cowboyinc/devnet/runners/worker"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// A toy network: gateways and runners, core to core, over connections that keep
// QUIC's promises and no more. One seed is one run.

const chainID = 8011

var signatures = crypto.NewKeyedHash(types.Hash{1})

func signerOf(name string) crypto.Signer { return signatures.Signer(crypto.DeriveKey(1, name)) }

// network is the world: its time, its queue, its nodes and its chain.
type network struct {
	testing.TB
	random *rand.Rand
	now    types.Time
	queue  events
	number uint64
	trace  types.Hash // over all that was delivered

	chain      *chain
	validators []*validator
	runners    []*runner
	lines      []*line
	faults     bool // lines break
	lag        time.Duration
	mute       func(l *line, s connection.Stream, fromRunner bool) bool // loses what is sent on a stream
}

// event is something to do at a time; those of one time in the order they were made.
type event struct {
	at     types.Time
	number uint64
	do     func()
}

type events []event

func (q events) Len() int      { return len(q) }
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].number < q[j].number
}
func (q *events) Push(x any) { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (n *network) after(d time.Duration, do func()) {
	n.number++
	heap.Push(&n.queue, event{n.now.Add(d), n.number, do})
}

// run plays until a time.
func (n *network) run(until types.Time) {
	for len(n.queue) > 0 && n.queue[0].at <= until {
		e := heap.Pop(&n.queue).(event)
		n.now = e.at
		e.do()
	}
	n.now = until
}

func (n *network) upTo(d time.Duration) time.Duration {
	return time.Duration(n.random.Int64N(int64(d) + 1))
}

// node is what both kinds have: a step for an event of a connection, and an alarm.
type node struct {
	*network
	name   string
	signer crypto.Signer
	ring   types.Time // of the alarm that is set
	height types.Height
}

func (n *node) alarm(deadline types.Time, tick func()) {
	if deadline == types.Never || deadline == n.ring && deadline > n.now {
		return
	}
	n.ring = deadline
	n.after(max(deadline.Sub(n.now), 0), func() {
		if n.ring == deadline {
			n.ring = 0
			tick()
		}
	})
}

// validator is a gateway.
type validator struct {
	node
	*gateway.Machine
	attested gateway.Attested
	ids      connection.ID
	ends     map[connection.ID]*line
	outcomes map[gateway.Outcome]int
	left     map[string]int
	reveals  map[string]int
}

func (v *validator) step(e gateway.Event) { v.perform(v.Step(v.now, e)) }

func (v *validator) perform(out gateway.Output) {
	if err := v.Check(); err != nil {
		v.Fatal(err)
	}
	v.attested.Take(out.Attest)
	for _, s := range out.Submit {
		v.chain.take(v, s)
	}
	for _, verb := range out.Do {
		v.do(verb, v.ends, false)
	}
	for _, r := range out.Report {
		switch r := r.(type) {
		case gateway.Classified:
			v.outcomes[r.Outcome]++
		case gateway.Left:
			v.left[r.Reason]++
		case gateway.Refused:
			v.left[string(r.Reason)]++
		}
	}
	v.alarm(v.Deadline(), func() { v.step(gateway.Tick{}) })
}

// runner is a session, a worker, and an executor that takes its time.
type runner struct {
	node
	session  *session.Machine
	worker   *worker.Machine
	ends     map[connection.ID]*line
	executed map[worker.ID]int
	frozen   bool // it answers no job
}

func (r *runner) step(e session.Event) {
	out := r.session.Step(r.now, e)
	for _, verb := range out.Do {
		r.do(verb, r.ends, true)
	}
	for _, s := range out.Jobs {
		if !r.frozen {
			r.work(worker.Stream{Validator: s.Validator, Event: s.Event})
		}
	}
	r.alarm(r.session.Deadline(), func() { r.step(session.Tick{}) })
}

func (r *runner) work(e worker.Event) {
	out := r.worker.Step(r.now, e)
	if len(out.Do) > 0 {
		r.step(session.Answers{Do: out.Do})
	}
	for _, f := range out.Faults {
		r.Fatalf("%s blames an honest validator: %v", r.name, f)
	}
	for _, a := range out.Ask {
		if ask, is := a.(worker.Execute); is {
			r.executed[ask.ID]++
			r.after(r.upTo(3*time.Second), func() {
				r.work(worker.Advanced{ID: ask.ID, Fraction: 50})
				r.work(worker.Finished{ID: ask.ID, Result: []byte("the answer")})
			})
		}
	}
	if out.Load != nil {
		r.step(session.Load{Signal: *out.Load})
	}
}

// line is a connection, and when the last of each stream and side arrives.
type line struct {
	runner    *runner
	validator *validator
	ids       [2]connection.ID // of the validator's end and the runner's
	up, over  bool
	streams   map[way]*passage
}

// way is one direction of a stream.
type way struct {
	stream     connection.Stream
	fromRunner bool
}

type passage struct {
	arrives types.Time // of the last
	opened  bool
}

// do performs a verb at one end.
func (n *network) do(v connection.Verb, ends map[connection.ID]*line, fromRunner bool) {
	switch v := v.(type) {
	case connection.Dial:
		panic("dialled elsewhere")
	case connection.Send:
		n.carry(ends[v.ID], way{v.Stream, fromRunner}, func(id connection.ID) connection.Event {
			return connection.Came{ID: id, Stream: v.Stream, Frame: v.Frame}
		})
	case connection.End:
		n.carry(ends[v.ID], way{v.Stream, fromRunner}, func(id connection.ID) connection.Event {
			return connection.Ended{ID: id, Stream: v.Stream}
		})
	case connection.Reset:
		n.carry(ends[v.ID], way{v.Stream, fromRunner}, func(id connection.ID) connection.Event {
			return connection.Cut{ID: id, Stream: v.Stream}
		})
	case connection.Close:
		n.sever(ends[v.ID], v.Reason, fromRunner)
	}
}

// do of a runner dials as well.
func (r *runner) do(v connection.Verb, ends map[connection.ID]*line, fromRunner bool) {
	dial, is := v.(connection.Dial)
	if !is {
		r.network.do(v, ends, fromRunner)
		return
	}
	to := r.validators[slices.IndexFunc(r.validators, func(v *validator) bool { return v.name == dial.Endpoint })]
	l := &line{runner: r, validator: to, streams: map[way]*passage{}}
	to.ids++
	l.ids = [2]connection.ID{to.ids, dial.ID}
	r.ends[dial.ID] = l
	r.lines = append(r.lines, l)
	r.after(20*time.Millisecond+r.upTo(100*time.Millisecond), func() {
		to.ends[l.ids[0]], l.up = l, true
		to.step(gateway.Connection{Event: connection.Up{ID: l.ids[0], Peer: r.signer.PublicKey(), Remote: connection.Address{15: 1}}})
		r.step(session.Connection{Event: connection.Up{ID: dial.ID, Peer: to.signer.PublicKey()}})
	})
}

// carry brings something to the other end, in the order of its stream and in no
// other. A packet's loss causes a later arrival.
func (n *network) carry(l *line, w way, make func(connection.ID) connection.Event) {
	if l == nil || l.over || n.mute != nil && n.mute(l, w.stream, w.fromRunner) {
		return
	}
	p := l.streams[w]
	if p == nil {
		p = &passage{}
		l.streams[w] = p
	}
	delay := 5*time.Millisecond + n.upTo(30*time.Millisecond)
	if n.random.IntN(10) == 0 {
		delay += n.upTo(300 * time.Millisecond) // sent again
	}
	p.arrives = max(p.arrives, n.now.Add(delay))
	n.after(p.arrives.Sub(n.now), func() {
		if l.over {
			return
		}
		end := 1
		if w.fromRunner {
			end = 0
		}
		opener := w.stream%2 == 0 == w.fromRunner
		if opener && !p.opened {
			p.opened = true
			n.deliver(l, end, connection.Opened{ID: l.ids[end], Stream: w.stream})
		}
		n.deliver(l, end, make(l.ids[end]))
	})
}

// deliver gives an event to an end, and writes it into the trace.
func (n *network) deliver(l *line, end int, e connection.Event) {
	n.trace = types.Keccak(n.trace[:], fmt.Appendf(nil, "%d %s %s %T %v", n.now, l.runner.name, l.validator.name, e, e))
	if end == 0 {
		l.validator.step(gateway.Connection{Event: e})
	} else {
		l.runner.step(session.Connection{Event: e})
	}
}

// sever ends a connection for both.
func (n *network) sever(l *line, why string, byRunner bool) {
	if l == nil || l.over {
		return
	}
	l.over = true
	n.after(n.upTo(50*time.Millisecond), func() {
		n.deliver(l, 0, connection.Down{ID: l.ids[0], Closed: byRunner, Reason: why})
		n.deliver(l, 1, connection.Down{ID: l.ids[1], Closed: !byRunner, Reason: why})
	})
}

// break breaks lines now and then, without a word.
func (n *network) breakLines() {
	n.after(n.upTo(2*time.Second), func() {
		if n.faults {
			live := slices.DeleteFunc(slices.Clone(n.lines), func(l *line) bool { return l.over || !l.up })
			if len(live) > 0 {
				n.sever(live[n.random.IntN(len(live))], "lost", false)
			}
			n.breakLines()
		}
	})
}

// chain is one that is always final, and knows jobs and rotations.
type chain struct {
	*network
	height   types.Height
	rotation *selection.Rotation
	jobs     []*task
}

// task is a job with its committee.
type task struct {
	id        worker.ID
	spec      push.JobSpec
	committee []*runner
	deadline  types.Height
	commits   map[*runner]map[types.Hash]types.Height
	reveals   map[*runner]types.Height
}

// commitEnd is the last block that takes a commitment.
func (j *task) commitEnd() types.Height { return j.id.Drawn + (j.deadline-j.id.Drawn)*6/10 }

// allCommitted reports whether every member has, at a height.
func (j *task) allCommitted(at types.Height) bool {
	for _, r := range j.committee {
		any := false
		for _, h := range j.commits[r] {
			any = any || h <= at // order: any of them will do
		}
		if !any {
			return false
		}
	}
	return true
}

func (j *task) open(r *runner, at types.Height) bool {
	landed, is := j.reveals[r]
	return slices.Contains(j.committee, r) && j.id.Drawn <= at && at <= j.deadline && !(is && landed <= at)
}

func (j *task) commitments(r *runner, at types.Height) (all []types.Hash) {
	for c, h := range j.commits[r] {
		if h <= at {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b types.Hash) int { return slices.Compare(a[:], b[:]) })
	return all
}

// take puts a submission into the next block, if it holds.
func (c *chain) take(v *validator, s gateway.Submission) {
	switch s := s.(type) {
	case gateway.Commit:
		j, r := c.find(s.Assignment, s.Runner)
		if next := c.height + 1; next <= j.commitEnd() {
			if j.commits[r] == nil {
				j.commits[r] = map[types.Hash]types.Height{}
			}
			if j.commits[r][s.Commitment] == 0 {
				j.commits[r][s.Commitment] = next
			}
		}
	case gateway.Reveal:
		j, r := c.find(s.Assignment, s.Runner)
		v.reveals[fmt.Sprint(s.Assignment, r.name)]++
		commitment := push.Commitment(s.Result.ResultData, s.Result.RunnerSigned)
		if c.height+1 <= j.deadline && j.reveals[r] == 0 && (s.Alone || j.commits[r][commitment] <= c.height) {
			j.reveals[r] = c.height + 1
		}
	}
}

func (c *chain) find(a gateway.AssignmentID, key types.Address) (*task, *runner) {
	for _, j := range c.jobs {
		if j.id == (worker.ID{Job: a.Job, Drawn: a.Drawn}) {
			for _, r := range c.runners {
				if r.signer.Address() == key {
					return j, r
				}
			}
		}
	}
	panic("a submission for no job")
}

// view is the chain at a height.
type view struct {
	*chain
	at types.Height
}

func (v view) runnerOf(a types.Address) int {
	return slices.IndexFunc(v.runners, func(r *runner) bool { return r.signer.Address() == a })
}

func (v view) Runner(a types.Address) *gateway.Registration {
	i := v.runnerOf(a)
	return &gateway.Registration{Index: i, Stake: types.WeiOf(100), MaxJobs: 8, LastHeartbeat: v.at}
}

func (v view) Assignment(a types.Address, id gateway.AssignmentID) *gateway.Assignment {
	all := v.Assignments(a)
	if i := slices.IndexFunc(all, func(one gateway.Assignment) bool { return one.AssignmentID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

func (v view) Assignments(a types.Address) (all []gateway.Assignment) {
	r := v.runners[v.runnerOf(a)]
	for _, j := range v.jobs {
		if j.open(r, v.at) {
			all = append(all, gateway.Assignment{AssignmentID: gateway.AssignmentID{Job: j.id.Job, Drawn: j.id.Drawn}, Spec: j.spec.Hash(),
				MaxReturn: 100, Deadline: j.deadline,
				CommitEnd: j.commitEnd(), Committee: len(j.committee), AllCommitted: j.allCommitted(v.at), Commitments: j.commitments(r, v.at)})
		}
	}
	return all
}

func (v view) Changed() ([]types.Hash, bool) { return nil, false }

func (v view) Spec(job types.Hash) *push.JobSpec {
	return &v.jobs[slices.IndexFunc(v.jobs, func(j *task) bool { return j.id.Job == job })].spec
}

func (v view) Ending(runner types.Address, a gateway.AssignmentID) gateway.Ending {
	j, r := v.find(a, runner)
	if landed, is := j.reveals[r]; is && landed <= v.at {
		return gateway.Landed
	}
	return gateway.Expired
}

// standings are the statuses of one runner's assignments at a height.
func (v view) standings(of *runner) map[worker.ID]worker.Standing {
	all := map[worker.ID]worker.Standing{}
	for _, j := range v.jobs {
		s := worker.Standing{}
		if j.open(of, v.at) {
			s = worker.Standing{Open: true, SpecHash: j.spec.Hash(), Deadline: j.deadline, Alone: len(j.committee) == 1,
				Commitments: j.commitments(of, v.at)}
			if at := j.commitEnd(); v.at >= at {
				s.Reveals = at + 1
			} else if j.allCommitted(v.at) {
				s.Reveals = v.at + 1
			}
		}
		all[j.id] = s
	}
	return all
}

const blockTime = time.Second

var parameters = func() *params.Params {
	p := params.Defaults()
	p.MinStake, p.StaleHeartbeatBlocks = types.WeiOf(100), 0
	return &p
}()

func (c *chain) gatewayHead(at types.Height, rotation *selection.Rotation) *gateway.Head {
	return &gateway.Head{Height: at, Rotation: rotation, Pace: pace, Reader: view{c, at}, Params: parameters}
}

var pace = selection.Pace{EpochBlocks: 1000, OverlapBlocks: 8}

// runnersHead is a head as a runner's view tells it.
func (c *chain) runnersHead(r *runner, at types.Height, rotation *selection.Rotation) *chainview.Head {
	return &chainview.Head{Height: at, Registered: true, Staked: true, Epoch: rotation.Epoch, Overlaps: rotation.Overlaps(at, pace),
		Validators: rotation.Serving(r.signer.PublicKey(), at, pace), Assignments: view{c, at}.standings(r), Params: parameters}
}

// block makes a block, which each node gets a while later, in order.
func (c *chain) block() {
	c.height++
	at, rotation := c.height, c.rotation
	for _, v := range c.validators {
		v.after(c.upTo(c.lag), func() {
			if at > v.height {
				v.height = at
				v.step(c.gatewayHead(at, rotation))
			}
		})
	}
	for _, r := range c.runners {
		r.after(c.upTo(c.lag), func() {
			if at > r.height {
				r.height = at
				head := c.runnersHead(r, at, rotation)
				r.step(session.Head{Head: head})
				r.work(worker.Head{Head: head})
			}
		})
	}
}

// rotationOver is one whose subsets are over validators from a number to another.
func (n *network) members(from, to int) (members []types.Validator) {
	for _, v := range n.validators[from:to] {
		members = append(members, types.Validator{Address: v.signer.Address(), PublicKey: v.signer.PublicKey(), Endpoint: v.name})
	}
	slices.SortFunc(members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	return members
}

// newNetwork has validators and runners that know the first block, and the subsets
// over some of the validators.
func newNetwork(t testing.TB, seed uint64, validators, inSet, runners int) *network {
	n := &network{TB: t, random: rand.New(rand.NewPCG(seed, 1)), lag: 300 * time.Millisecond}
	n.chain = &chain{network: n, height: 1}
	for i := range validators {
		name := fmt.Sprint("v", i)
		n.validators = append(n.validators, &validator{node: node{network: n, name: name, signer: signerOf(name), height: 1},
			ends: map[connection.ID]*line{}, outcomes: map[gateway.Outcome]int{}, left: map[string]int{}, reveals: map[string]int{}})
	}
	n.chain.rotation = &selection.Rotation{Height: 1, Current: selection.Assignment{Members: n.members(0, inSet),
		Constants: selection.Constants{MinSubset: 3, MaxSubset: 8, Rule: selection.Quorum}}}
	for i := range runners {
		name := fmt.Sprint("r", i)
		r := &runner{node: node{network: n, name: name, signer: signerOf(name)}, ends: map[connection.ID]*line{}, executed: map[worker.ID]int{}}
		r.session = session.New(session.Config{ChainID: chainID, Signer: r.signer, Verifier: signatures,
			Chance: rand.New(rand.NewPCG(seed, uint64(100+i)))})
		r.worker = worker.New(worker.Config{ChainID: chainID, Signer: r.signer, Verifier: signatures, MaxJobs: 64,
			Accepts: func(*push.JobSpec) *execution.Refusal { return nil }})
		n.runners = append(n.runners, r)
	}
	for i, v := range n.validators {
		var out gateway.Output
		v.Machine, out = gateway.New(gateway.Config{ChainID: chainID, Signer: v.signer, Verifier: signatures,
			Chance: rand.New(rand.NewPCG(seed, uint64(200+i)))},
			n.chain.gatewayHead(1, n.chain.rotation))
		v.perform(out)
	}
	for _, r := range n.runners {
		r.height = 1
		r.step(session.Head{Head: n.chain.runnersHead(r, 1, n.chain.rotation)})
	}
	return n
}

// blocks plays count blocks, a block time apart, and calls each after every one of
// them.
func (n *network) blocks(count int, each func()) {
	for range count {
		n.run(n.now.Add(blockTime))
		n.chain.block()
		if each != nil {
			each()
		}
	}
}

// submit draws runners for a job in the newest block.
func (n *network) submit(committee ...*runner) *task {
	number := byte(len(n.chain.jobs) + 1)
	j := &task{id: worker.ID{Job: types.Hash{number}, Drawn: n.chain.height}, committee: committee, deadline: n.chain.height + 60,
		commits: map[*runner]map[types.Hash]types.Height{}, reveals: map[*runner]types.Height{}}
	j.spec = push.JobSpec{JobType: push.JobType{Custom: &push.Custom{Params: []byte{number}}}, MaxPrice: types.WeiOf(1), TimeoutBlocks: 60,
		Bounds:       push.Bounds{MaxInputTokens: 1, MaxOutputTokens: 1, MaxWallTimeSeconds: 1, MaxMemoryMB: 1, MaxRetries: 1},
		Verification: push.Verification{Mode: push.None, Runners: 1},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 100, DataFormat: push.FormatBytes}}
	if len(committee) > 1 {
		j.spec.Verification = push.Verification{Mode: push.Deterministic, Runners: uint64(len(committee))}
	}
	n.chain.jobs = append(n.chain.jobs, j)
	return j
}

// present counts the validators among some that attest a runner.
func (n *network) present(r *runner, among []*validator) (count int) {
	index := slices.Index(n.runners, r)
	for _, v := range among {
		if v.attested.Bitmap(n.now, len(n.runners), pendingResult(len(n.runners))).Has(index) {
			count++
		}
	}
	return count
}

func (n *network) outcomes(o gateway.Outcome) (count int) {
	for _, v := range n.validators {
		count += v.outcomes[o]
	}
	return count
}

// landed fails where a job has not got the results of its whole committee, or was
// worked on twice.
func (n *network) landed() {
	n.Helper()
	for _, j := range n.chain.jobs {
		for _, r := range j.committee {
			if j.reveals[r] == 0 {
				n.Errorf("job %d: no result of %s", j.id.Job[0], r.name)
			}
			if r.executed[j.id] != 1 {
				n.Errorf("job %d: %s worked on it %d times", j.id.Job[0], r.name, r.executed[j.id])
			}
		}
	}
	for _, v := range n.validators {
		for what, count := range v.reveals {
			if count != 1 {
				n.Errorf("%s submitted %s %d times", v.name, what, count)
			}
		}
	}
}

// onlyLeft fails where a validator left an honest runner for another reason.
func (n *network) onlyLeft(reasons ...string) {
	n.Helper()
	for _, v := range n.validators {
		for why, count := range v.left {
			if !slices.Contains(reasons, why) {
				n.Errorf("%s left %d times for %q", v.name, count, why)
			}
		}
	}
}

// TestJobsOfASoundNetworkLandAndNobodyLosesABit: of k deliveries of an assignment one
// is accepted, the others are duplicates, and no duplicate clears a bit.
func TestJobsOfASoundNetworkLandAndNobodyLosesABit(t *testing.T) {
	for seed := range uint64(5) {
		n := newNetwork(t, seed, 4, 4, 3)
		n.blocks(3, nil)
		n.blocks(30, func() {
			for _, r := range n.runners {
				if got := n.present(r, n.validators); got != 3 {
					t.Fatalf("seed %d, height %d: %d validators of 3 attest %s", seed, n.chain.height, got, r.name)
				}
			}
			switch n.chain.height % 3 {
			case 0:
				n.submit(n.runners[n.random.IntN(3)])
			case 1:
				n.submit(n.runners...)
			}
		})
		n.blocks(60, nil)
		n.landed()
		n.onlyLeft()
		deliveries := 0
		for _, j := range n.chain.jobs {
			deliveries += 3 * len(j.committee)
		}
		// The result may arrive before a validator knows its assignment.
		if n.outcomes(gateway.HardFailure) != 0 || n.outcomes(gateway.SoftFailure) > deliveries/10 ||
			n.outcomes(gateway.Success) == 0 || n.outcomes(gateway.Duplicate) < deliveries/2 {
			t.Fatalf("seed %d: of %d deliveries %d successes, %d duplicates, %d soft and %d hard failures", seed, deliveries,
				n.outcomes(gateway.Success),
				n.outcomes(gateway.Duplicate), n.outcomes(gateway.SoftFailure), n.outcomes(gateway.HardFailure))
		}
	}
}

// TestNoAssignmentIsLostWhenConnectionsBreak: they are pushed again after the next
// Hello, and results are handed over.
func TestNoAssignmentIsLostWhenConnectionsBreak(t *testing.T) {
	for seed := range uint64(12) {
		n := newNetwork(t, seed, 4, 4, 3)
		n.faults, n.lag = true, time.Second
		n.breakLines()
		n.blocks(40, func() {
			if n.chain.height%4 == 0 {
				n.submit(n.runners[n.random.IntN(3)])
			}
		})
		n.faults = false
		n.blocks(60, nil)
		n.landed()
		n.onlyLeft("lost", "replaced")
		for _, r := range n.runners {
			if got := n.present(r, n.validators); got != 3 {
				t.Fatalf("seed %d: %d validators of 3 attest %s when all is well again", seed, got, r.name)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestAHardFailureClearsABitAndAPingRestoresIt: the streams of jobs of one runner are
// a black hole, and its pings continue.
func TestAHardFailureClearsABitAndAPingRestoresIt(t *testing.T) {
	n := newNetwork(t, 7, 4, 4, 1)
	n.lag = 0
	n.blocks(3, nil)
	n.mute = func(_ *line, s connection.Stream, fromRunner bool) bool { return fromRunner && s.IsJob() }
	n.submit(n.runners[0])
	cleared, restored := false, false
	n.blocks(6, func() {
		for range 200 { // within the block
			n.run(n.now.Add(time.Millisecond))
			hard := n.outcomes(gateway.HardFailure)
			got := n.present(n.runners[0], n.validators)
			cleared = cleared || hard > 0 && got < 3
			restored = restored || hard == 3 && got == 3
		}
	})
	if !cleared || !restored || n.outcomes(gateway.HardFailure) != 3 {
		t.Fatalf("cleared %v, restored %v, %d hard failures", cleared, restored, n.outcomes(gateway.HardFailure))
	}
	// Only a new Hello brings the assignment again; then it lands.
	n.mute = nil
	n.blocks(5, nil)
	if len(n.chain.jobs[0].reveals) != 0 {
		t.Fatal("it landed over a stream that was broken off")
	}
	for _, l := range n.lines {
		n.sever(l, "lost", false)
	}
	n.blocks(20, nil)
	n.landed()
}

// TestRotationLeavesNoGap: of four validators all leave and four others come, with
// jobs in flight. In each block there are f + 1 of either set who attest a runner.
func TestRotationLeavesNoGap(t *testing.T) {
	for seed := range uint64(5) {
		n := newNetwork(t, seed, 8, 4, 3)
		n.blocks(3, nil)
		n.blocks(30, func() {
			if n.chain.height == 15 {
				next := n.chain.rotation.Advanced(selection.Moment{Height: n.chain.height, Members: n.members(4, 8),
					Constants: n.chain.rotation.Current.Constants})
				n.chain.rotation = &next
			}
			for _, r := range n.runners {
				if got := n.present(r, n.validators); got < 2 {
					t.Fatalf("seed %d, height %d: %d validators attest %s", seed, n.chain.height, got, r.name)
				}
			}
			if n.chain.height%2 == 0 {
				n.submit(n.runners[n.random.IntN(3)])
			}
		})
		n.blocks(60, nil)
		n.landed()
		n.onlyLeft(string(push.NotInSubset), string(push.Shutdown))
		for i, v := range n.validators {
			attests := slices.ContainsFunc(n.runners, func(r *runner) bool { return n.present(r, []*validator{v}) == 1 })
			if attests != (i >= 4) {
				t.Fatalf("seed %d: %s attests: %v", seed, v.name, attests)
			}
		}
	}
}

func TestOneSeedIsOneRun(t *testing.T) {
	play := func() types.Hash {
		n := newNetwork(t, 42, 4, 4, 3)
		n.faults = true
		n.breakLines()
		n.blocks(20, func() { n.submit(n.runners[n.random.IntN(3)]) })
		return n.trace
	}
	if a, b := play(), play(); a != b {
		t.Fatalf("%v, then %v", a, b)
	}
}

// held is a registry of n places, all held since genesis.
func pendingResult(places int) (p selection.Places) {
	for i := range places {
		p = p.With(i, 0)
	}
	return p
}
