package simplex

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

const testChain = 8011

// testKey signs with a hash that holds its address: a test forges only on purpose.
type testKey struct{ address types.Address }

func (k testKey) Address() types.Address { return k.address }

func (k testKey) Sign(digest types.Hash) (s types.Signature) {
	copy(s[:], k.address[:])
	copy(s[20:], digest[:])
	return s
}

type testRecoverer struct{}

func (testRecoverer) Recover(digest types.Hash, s types.Signature) (a types.Address, ok bool) {
	copy(a[:], s[:])
	return a, bytes.Equal(s[20:52], digest[:])
}

func testAddress(i int) types.Address { return types.Address{0: 0xa0, 18: byte(i >> 8), 19: byte(i)} }

func testSet(epoch types.Epoch, n int) types.ValidatorSet {
	set := types.ValidatorSet{Epoch: epoch}
	for i := range n {
		set.Members = append(set.Members, types.Validator{Address: testAddress(i)})
	}
	return set
}

// noTransactions is what the header of an empty body commits to.
var noTransactions = types.TransactionsHash(nil)

func testGenesis(blockTime time.Duration) Root {
	b := &types.Block{Header: types.Header{ChainID: testChain, Timestamp: -types.Millis(3 * blockTime.Milliseconds())}}
	return Root{Block: b, Hash: b.Hash()}
}

// world is a network of machines in virtual time. Everything random comes from
// one seed.
type world struct {
	rng         *rand.Rand
	now         types.Time
	queue       deliveries
	seq         int
	nodes       []*member
	cfg         Config
	sets        func(types.Epoch) types.ValidatorSet
	latency     time.Duration
	jitter      time.Duration
	execution   time.Duration // of Build and Execute
	loss        float64
	duplicate   float64
	unfinal     bool  // what would make blocks final is lost
	groups      []int // by node: partition; messages cross within a group only
	tamper      func(from int, s Send) []Send
	whole       func(n *member, d delivery, s Unchecked) // takes certificates that need not be taken whole; nil: what is new is taken
	epochBlocks uint64
	quiet       func(types.Epoch) bool // epochs at whose end the set does not change
	finalized   map[types.Height]types.Hash
	signed      map[string]types.Hash // (validator, kind, view, epoch) → digest: no contradiction
	trace       func(format string, args ...any)
	evidence    []Evidence
	conflicts   int
	behind      int
	torn        bool // a crash leaves some of an output's records only
	violation   string
	sent        int
	lives       bool // members have lives
	begun       byte // of them
}

// member is one validator: machine, log, and a store of finalized blocks.
type member struct {
	id      int
	key     testKey
	machine *Machine
	down    bool
	log     [][]byte
	chain   []*types.Block // finalized, by height - 1
	hashes  []types.Hash
	root    Root
	lost    bool
	cut     bool         // the end of its log was taken from it
	given   types.Height // what catch-up brought
	ticked  types.Time
	pending bool
	crash   bool // dies between the next persist and its send; see world.torn
	invalid func(*types.Block) bool
	fails   bool // its application cannot build
	app     application
	views   int
}

// application is a member's application: executed blocks that are not final, and
// blocks that it built and sent.
type application struct {
	results  map[types.Hash]types.Height
	building map[types.Hash]bool
}

// keep holds a result.
func (a *application) keep(hash types.Hash, height types.Height) {
	if a.results == nil {
		a.results = map[types.Hash]types.Height{}
	}
	a.results[hash] = height
}

// final lets go what is not above a final height.
func (a *application) final(height types.Height) {
	for hash, h := range a.results {
		if h <= height {
			delete(a.results, hash)
		}
	}
}

// judge says what the application holds that the machine does not, or "": without
// that its memory has no bound but finality.
func (a *application) judge(m *Machine) string {
	for hash, height := range a.results {
		if m.bodies.nodes[hash] == nil && !a.building[hash] && height > m.rootHeight() {
			return fmt.Sprintf("only the application holds block %s of height %d", hash, height)
		}
	}
	return ""
}

type delivery struct {
	at    types.Time
	seq   int
	to    int
	from  int
	raw   Message
	event Event
	life  *Machine // answers are for the machine that asked
}

type deliveries []delivery

func (d deliveries) Len() int { return len(d) }
func (d deliveries) Less(i, j int) bool {
	return d[i].at < d[j].at || d[i].at == d[j].at && d[i].seq < d[j].seq
}
func (d deliveries) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *deliveries) Push(x any)   { *d = append(*d, x.(delivery)) }
func (d *deliveries) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	(*d)[last] = delivery{}
	*d = (*d)[:last]
	return x
}

func newWorld(seed uint64, n int, change func(*world)) *world {
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 1)), latency: 10 * time.Millisecond,
		finalized: map[types.Height]types.Hash{}, signed: map[string]types.Hash{},
		trace:       func(string, ...any) {},
		sets:        func(e types.Epoch) types.ValidatorSet { return testSet(e, n) },
		cfg:         Config{ChainID: testChain, Timing: Timing{BlockTime: time.Second, LinkDelay: 250 * time.Millisecond}},
		epochBlocks: 64,
	}
	for i := range n {
		w.nodes = append(w.nodes, &member{id: i, key: testKey{testAddress(i)}})
		w.groups = append(w.groups, 0)
	}
	if change != nil {
		change(w)
	}
	root := testGenesis(w.cfg.Timing.BlockTime)
	for _, n := range w.nodes {
		n.root = root
		w.start(n)
	}
	return w
}

// start makes a machine from the node's stored data.
func (w *world) start(n *member) {
	cfg := w.cfg
	cfg.Signer, cfg.Root, cfg.Lost = n.key, n.root, n.lost && len(n.log) == 0
	cfg.Presence = attesting(byte(n.id))
	cfg.Set, cfg.Previous = w.setsAfter(&n.root.Block.Header)
	reach, err := ReachOf(n.log, n.root)
	switch {
	case err != nil:
		panic(err)
	case reach == Former: // as a test made it
		if n.log, err = Adopt(n.log, n.root); err != nil {
			panic(err)
		}
	case n.cut:
		cfg.Lost, n.cut = reach.Lost(true), false
	case reach == Short:
		w.violation = fmt.Sprintf("v%d: %v, and nothing was cut off", n.id, reach)
	}
	if w.lives {
		w.begun++
		cfg.Life = types.Life{w.begun, byte(n.id)}
	}
	m, err := New(cfg, n.log)
	if err != nil {
		panic(err)
	}
	n.machine, n.down, n.ticked = m, false, -1
	w.post(delivery{to: n.id, event: Start{}, life: m}, 0)
	if n.pending {
		w.post(delivery{to: n.id, event: Work{Pending: true}, life: m}, 0)
	}
}

// epochOf is the epoch of a height: epoch 0 covers 1 to epochBlocks.
func (w *world) epochOf(h types.Height) types.Epoch {
	return types.Epoch((uint64(h) - 1) / w.epochBlocks)
}

// border reports whether the set changes after a height: at an epoch's end, but
// for the ends that are quiet.
func (w *world) border(h types.Height) bool {
	return h > 0 && uint64(h)%w.epochBlocks == 0 && (w.quiet == nil || !w.quiet(w.epochOf(h)))
}

// setsAfter returns the set that decides after a block, and the one before it
// where a border follows the block.
func (w *world) setsAfter(h *types.Header) (set types.ValidatorSet, previous *types.ValidatorSet) {
	if !h.Border() {
		return w.sets(h.SetEpoch), nil
	}
	before := w.sets(h.SetEpoch)
	return w.sets(w.epochOf(h.Height + 1)), &before
}

// twin starts a second member with another's key and an empty home, in the first group.
func (w *world) twin(of *member) *member {
	n := &member{id: len(w.nodes), key: of.key, root: testGenesis(w.cfg.Timing.BlockTime)}
	w.nodes, w.groups = append(w.nodes, n), append(w.groups, 0)
	w.start(n)
	return n
}

func (w *world) stop(n *member) { n.down, n.machine, n.app = true, nil, application{} }

func (w *world) post(d delivery, after time.Duration) {
	w.seq++
	d.at, d.seq = w.now.Add(after), w.seq
	heap.Push(&w.queue, d)
}

// run continues until the time is over or stop returns true.
func (w *world) run(d time.Duration, stop func() bool) bool {
	end := w.now.Add(d)
	for w.violation == "" {
		if stop != nil && stop() {
			return true
		}
		at, ticking := types.Never, -1
		for i, n := range w.nodes {
			if !n.down {
				if due := n.machine.Deadline(); due < at {
					at, ticking = max(due, w.now), i
				}
			}
		}
		if len(w.queue) > 0 && w.queue[0].at <= at {
			at, ticking = w.queue[0].at, -1
		}
		if at > end {
			w.now = end
			return false
		}
		w.now = at
		if ticking >= 0 {
			w.step(w.nodes[ticking], Tick{})
			continue
		}
		w.deliver(heap.Pop(&w.queue).(delivery))
	}
	return false
}

func (w *world) deliver(d delivery) {
	n := w.nodes[d.to]
	if n.down || d.life != nil && d.life != n.machine {
		return
	}
	if d.raw != nil {
		if w.unchecked(n, d) {
			return
		}
		verified, err := Check(testChain, testRecoverer{}, n.machine.Sets(), d.raw)
		if unknown := (*UnknownEpoch)(nil); errors.As(err, &unknown) && unknown.Epoch > unknown.Current+1 {
			w.catchUp(n)
		}
		if err != nil {
			return
		}
		d.event = Received{From: w.nodes[d.from].key.address, Message: verified}
	}
	w.step(n, d.event)
}

// unchecked takes what is new of a certificate, as a validator does, and reports whether
// that is not all of it.
func (w *world) unchecked(n *member, d delivery) bool {
	c, is := d.raw.(*types.Certificate)
	if !is {
		return false
	}
	unchecked := n.machine.Unchecked(c)
	if unchecked.Whole {
		return false
	}
	if w.whole != nil {
		w.whole(n, d, unchecked)
		return true
	}
	from := w.nodes[d.from].key.address
	if unchecked.Past != nil {
		w.step(n, Received{From: from, Message: unchecked.Past})
	}
	for _, vote := range unchecked.Votes {
		verified, err := CheckVote(testChain, testRecoverer{}, n.machine.Sets(), vote)
		if err != nil || n.down {
			return true
		}
		w.step(n, Received{From: from, Message: verified})
	}
	return true
}

// step performs an output in its order.
func (w *world) step(n *member, e Event) {
	if _, tick := e.(Tick); tick {
		if n.ticked == w.now {
			n.views++
			if n.views > 10_000 {
				panic(fmt.Sprintf("node %d ticks without end at %v, deadline %v", n.id, w.now, n.machine.Deadline()))
			}
		} else {
			n.ticked, n.views = w.now, 0
		}
	}
	m := n.machine
	if built, ok := e.(Built); ok && built.Block != nil {
		delete(n.app.building, built.Block.Hash())
	}
	out := m.Step(w.now, e)
	if n.crash && len(out.Persist) > 0 {
		n.crash = false
		written := len(out.Persist)
		if w.torn {
			written = w.rng.IntN(written + 1)
		}
		n.log = append(n.log, out.Persist[:written]...)
		w.stop(n)
		return
	}
	n.log = append(n.log, out.Persist...)
	for _, s := range out.Send {
		w.send(n, s)
	}
	for _, a := range out.Ask {
		w.answer(n, a)
	}
	for _, r := range out.Report {
		w.told(n, r)
	}
	for _, hash := range out.Forget {
		delete(n.app.results, hash)
	}
	if wrong := n.app.judge(m); wrong != "" {
		w.violation = fmt.Sprintf("v%d: %s", n.id, wrong)
	}
}

// stands checks that an application gets requests only for children of a block that
// it knows.
func (w *world) stands(n *member, parent types.Hash) {
	if _, held := n.app.results[parent]; !held && !slices.Contains(n.hashes, parent) && parent != n.root.Hash {
		w.violation = fmt.Sprintf("v%d is asked for a block on %s, which it does not know", n.id, parent)
	}
}

func (w *world) send(n *member, s Send) {
	w.trace("  %s sends %s", name(n.key.address), describeSend(s))
	sends := []Send{s}
	if w.tamper != nil {
		sends = w.tamper(n.id, s)
	} else {
		w.witness(n, s.Message)
	}
	for _, s := range sends {
		for to := range w.nodes {
			if to == n.id || s.To != nil && *s.To != w.nodes[to].key.address || w.groups[to] != w.groups[n.id] {
				continue
			}
			w.sent++
			if w.unfinal && finalizes(s.Message) {
				continue
			}
			if w.loss > 0 && w.rng.Float64() < w.loss {
				continue
			}
			copies := 1
			if w.duplicate > 0 && w.rng.Float64() < w.duplicate {
				copies = 2
			}
			for range copies {
				delay := w.latency
				if w.jitter > 0 {
					delay += time.Duration(w.rng.Int64N(int64(w.jitter)))
				}
				w.post(delivery{to: to, from: n.id, raw: s.Message}, delay)
			}
		}
	}
}

// finalizes reports whether a message shows finality, or votes for it.
func finalizes(message Message) bool {
	switch message := message.(type) {
	case *types.Vote:
		return message.Kind == types.Finalize
	case *types.Certificate:
		return message.Kind == types.Finalize
	}
	return false
}

// witness fails the run when a validator contradicts what it signed before.
func (w *world) witness(n *member, message Message) {
	v, ok := message.(*types.Vote)
	if !ok {
		return
	}
	key := func(k types.VoteKind) string { return fmt.Sprint(n.id, k, v.Epoch, v.View) }
	digest := v.Digest(testChain)
	if earlier, ok := w.signed[key(v.Kind)]; ok && earlier != digest {
		w.violation = fmt.Sprintf("v%d contradicts its %s vote of view %d", n.id, v.Kind, v.View)
	}
	w.signed[key(v.Kind)] = digest
	_, nullified := w.signed[key(types.Nullify)]
	_, finalized := w.signed[key(types.Finalize)]
	if nullified && finalized {
		w.violation = fmt.Sprintf("v%d nullified and finalized view %d", n.id, v.View)
	}
}

func (w *world) answer(n *member, a Ask) {
	switch a := a.(type) {
	case Build:
		w.stands(n, a.ParentHash)
		built := Built{Epoch: a.Epoch, View: a.View}
		if !n.fails {
			built.Block = w.build(n, a)
			n.app.keep(built.Block.Hash(), built.Block.Header.Height)
			if n.app.building == nil {
				n.app.building = map[types.Hash]bool{}
			}
			n.app.building[built.Block.Hash()] = true
		}
		w.post(delivery{to: n.id, event: built, life: n.machine}, w.execution)
	case Execute:
		done := Executed{Hash: a.Hash, Valid: true, Runners: 8, Gap: n.machine.cfg.Timing.BlockTime}
		if n.invalid != nil && n.invalid(a.Block) {
			done.Valid, done.Reason = false, "wrong state root"
		}
		w.stands(n, a.ParentHash)
		if done.Valid {
			n.app.keep(a.Hash, a.Block.Header.Height)
		}
		if a.Block.Header.Border() {
			next, _ := w.setsAfter(&a.Block.Header)
			done.Next = &next
		}
		w.post(delivery{to: n.id, event: done, life: n.machine}, w.execution)
	}
}

func (w *world) build(n *member, a Build) *types.Block {
	h := &a.Parent.Header
	b := &types.Block{
		Header: types.Header{ChainID: testChain, Height: h.Height + 1, View: a.View, Epoch: w.epochOf(h.Height + 1), SetEpoch: a.Epoch,
			Parent: a.ParentHash, Proposer: n.key.address, Transactions: noTransactions, Passed: types.PassedHash(nil),
			Timestamp: max(w.now.Millis(), h.Timestamp+max(1, types.Millis(n.machine.cfg.Timing.BlockTime.Milliseconds())))},
		Parent: a.Notarization, Finalization: a.Finalization,
	}
	if w.border(b.Header.Height) {
		next := w.sets(w.epochOf(b.Header.Height + 1))
		b.Header.NextSet = next.Hash()
	}
	return b
}

func (w *world) told(n *member, r Report) {
	w.trace("  %s reports %s", name(n.key.address), describeReport(r))
	switch r := r.(type) {
	case Finalized:
		for i, b := range r.Blocks {
			w.finalize(n, b, r.Hashes[i])
		}
		last := len(r.Blocks) - 1
		if r.Blocks[last].Header.Height <= n.given {
			return
		}
		n.root = Root{Block: r.Blocks[last], Hash: r.Hashes[last], Finalization: r.Finalization, Notarization: r.Notarization}
		n.app.final(n.root.Block.Header.Height)
		if len(n.log) > 400 {
			var err error
			if n.log, err = Compact(n.log, n.root); err != nil {
				panic(err)
			}
		}
	case Evidence:
		w.evidence = append(w.evidence, r)
	case Conflict:
		w.conflicts++
		w.violation = "a finalization contradicts another"
	case Behind:
		w.behind++
		w.catchUp(n)
	}
}

func (w *world) finalize(n *member, b *types.Block, hash types.Hash) {
	h := b.Header.Height
	if h <= n.given {
		return // catch-up brought it a moment before, and the machine does not know yet
	}
	if hash != b.Hash() || b.Header.Parent != n.root.Hash && len(n.hashes) == 0 || len(n.hashes) > 0 &&
		b.Header.Parent != n.hashes[len(n.hashes)-1] {
		w.violation = fmt.Sprintf("v%d finalizes a block %d that does not follow", n.id, h)
	}
	if at, ok := w.finalized[h]; ok && at != hash {
		w.violation = fmt.Sprintf("two blocks are final at height %d", h)
	}
	w.finalized[h] = hash
	n.chain, n.hashes = append(n.chain, b), append(n.hashes, hash)
}

// catchUp hands over the chain of the node that has most.
func (w *world) catchUp(n *member) {
	best := n
	for _, other := range w.nodes {
		if len(other.chain) > len(best.chain) && w.groups[other.id] == w.groups[n.id] {
			best = other
		}
	}
	if len(best.chain) == len(n.chain) {
		return
	}
	n.log = append(n.log, CaughtUpRecord(best.root.Finalization))
	n.chain, n.hashes, n.root = slices.Clone(best.chain), slices.Clone(best.hashes), best.root
	n.given = n.root.Block.Header.Height
	n.app.final(n.given)
	e := CaughtUp{Root: n.root}
	e.Set, e.Previous = w.setsAfter(&n.root.Block.Header)
	w.post(delivery{to: n.id, event: e, life: n.machine}, 0)
}

func (w *world) minHeight() int {
	low := 1 << 30
	for _, n := range w.nodes {
		low = min(low, len(n.chain))
	}
	return low
}
