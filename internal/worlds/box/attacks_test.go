package box

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/fixtures/attacks"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/mempool"
)

const (
	// attackCycles are what each attack of the corpus is tried with (internal/environment/pyhost).
	// A transaction spends some of them before its program begins.
	attackCycles = types.Cycles(200_000)
	deployCycles = types.Cycles(1_000_000)
	attackCells  = types.Cells(400_000)

	attacksAtOnce = 16    // each from an account of its own
	attacksEach   = 5     // of a family, where not all of the corpus run
	purseCBY      = 8_000 // what all attacks of one account cost
	armedAfter    = 30    // blocks
	// attackBlocks is within how many blocks a transaction ends on the slowest
	// machine. Whoever takes a proposer's time for nothing comes behind all others
	// for 256 blocks, and has eight chances of each of four proposers (C18).
	attackBlocks = 4 * 8 * 256
)

// neighbour is an honest actor: it writes, reads and computes what an attack may
// have spoilt.
const neighbour = `
import json, pvm_host
from cowboy_sdk import Storage
def visit(p):
    s = Storage()
    s.set_int("visits", s.get_int("visits") + 1)
    return json.dumps([p.decode(), len(pvm_host.keccak256(p)), sorted({3, 1, 2})]).encode()
`

const neighbourAnswers = `["hello", 32, [1, 2, 3]]`

// armed adds a handler that schedules the attack as a timer, where the attack is of
// functions.
func armed(a attacks.Attack) (string, bool) {
	if !strings.Contains("\n"+a.Source, "\ndef "+attacks.Handler+"(") {
		return a.Source, false
	}
	return a.Source + "\ndef arm_attack(p):\n    import pvm_host\n    pvm_host.schedule_timer(int(p), b'', handler='" + attacks.Handler +
		"', gas_limit=200000)\n", true
}

// someAttacks are of each family one that is refused, where there is one, and
// others from its whole length.
func someAttacks() (some []attacks.Attack) {
	var families []string
	run, refused := map[string][]attacks.Attack{}, map[string][]attacks.Attack{}
	for _, a := range attacks.All() {
		if !slices.Contains(families, a.Family) {
			families = append(families, a.Family)
		}
		if a.Refused() {
			refused[a.Family] = append(refused[a.Family], a)
		} else {
			run[a.Family] = append(run[a.Family], a)
		}
	}
	for _, family := range families {
		take := attacksEach
		if of := refused[family]; len(of) > 0 {
			some = append(some, of[len(of)/2])
			take--
		}
		for i := range take {
			some = append(some, run[family][i*len(run[family])/take])
		}
	}
	return some
}

// assault is a live network under attack.
type assault struct {
	n                *Network
	feed             *stopwatch
	relay, neighbour types.Address
	seed             uint64
	halts            atomic.Bool // something did not end: it is of no use to go on

	mu      sync.Mutex
	purses  int
	dropped []string // attacks whose transaction was given up, by name
	ends    map[string]int
	refused int
	called  int
	spent   int // of those, out of cycles before they ended as the corpus says
}

// The attacks of the corpus run as calls, as deferred messages and as timers in a
// live network of four validators that each execute everything themselves. What
// may come of an attack's transaction is what the corpus says, or that it is given
// up by the reason of decision C18, on a machine too slow for it; its message and
// its timer end in any listed way. All validators stay alive; after each attack an
// honest call does what it always does; blocks go on, the roots are the same, and
// the homes pass the audit. All of the corpus under DEVNET_SOAK, else five attacks
// of each family.
func TestAttacksInALiveNetwork(t *testing.T) {
	all := someAttacks()
	if len(all) < 40 {
		t.Fatalf("%d attacks are too few", len(all))
	}
	if os.Getenv("DEVNET_SOAK") != "" {
		all = attacks.All()
	}
	pool := pyhost.New(pyhost.Config{})
	t.Cleanup(pool.Close)
	_, err := pool.Probe()
	needed.Python(t, err)
	home := t.TempDir() + "/home"
	w := &assault{feed: newStopwatch(pool), ends: map[string]int{}, seed: 7}
	w.n = up(t, Config{Plan: setup.Plan{BlockTime: 20 * time.Millisecond}, Home: home, NoMemo: true, Programs: w.feed})
	alice := newPayer(w.n, "alice")
	w.relay = deploySample(t, alice, "relay", "relay", 100*types.CBY)
	deployed := w.end(t, alice.limited(alice.deploy([]byte(neighbour), "neighbour", 100*types.CBY), deployCycles, attackCells))
	if deployed == nil || deployed.Status != types.StatusOK {
		t.Fatalf("the honest actor: %+v", deployed)
	}
	w.neighbour = deployed.To
	w.feed.name(w.neighbour, "the honest actor")

	purses := w.fill(t, 2*attacksAtOnce)
	next := make(chan attacks.Attack)
	var lanes sync.WaitGroup
	for range min(attacksAtOnce, len(all)) {
		lane := &attackLane{assault: w, attacker: <-purses, honest: <-purses}
		lanes.Go(func() {
			for a := range next {
				lane.attack(t, a)
			}
		})
	}
	for _, a := range all {
		if w.halts.Load() {
			break
		}
		next <- a
	}
	close(next)
	lanes.Wait()
	w.judge(t, len(all))
	auditAll(t, w.n, home)
}

// fill makes accounts with money.
func (w *assault) fill(t *testing.T, count int) <-chan *payer {
	w.mu.Lock()
	defer w.mu.Unlock()
	rich := newPayer(w.n, "judy")
	made, paid := make(chan *payer, count), make([]types.Hash, count)
	for i := range count {
		w.purses++
		purse := payerOf(w.n, w.n.verifier.Signer(crypto.DeriveKey(w.seed, fmt.Sprint("account/purse", w.purses))))
		paid[i] = w.submit(t, rich.transfer(purse.key.Address(), purseCBY*types.CBY))
		made <- purse
	}
	for _, hash := range paid {
		if r := w.wait(t, hash); r == nil || r.Status != types.StatusOK {
			t.Errorf("an account gets no money: %+v", r)
		}
	}
	return made
}

// end submits a transaction and returns its receipt, or nil where it was given up
// because the host of programs failed over it. Every other end is a failure.
func (w *assault) end(t *testing.T, tx *types.Transaction) *types.Receipt {
	return w.wait(t, w.submit(t, tx))
}

// submit asks again where a busy machine does not answer in time.
func (w *assault) submit(t *testing.T, tx *types.Transaction) types.Hash {
	for !w.halts.Load() {
		_, err := w.n.Submit(context.Background(), tx.Encode())
		var refused *refusal.Error
		if err == nil || errors.As(err, &refused) && refused.Code == mempool.CodeAlreadyKnown {
			break
		}
		if refused == nil || refused.Code != "no_answer" {
			w.halts.Store(true)
			t.Errorf("a transaction is not taken: %v", err)
		}
	}
	return tx.Hash()
}

// wait goes on as long as blocks do, and no longer than attackBlocks.
func (w *assault) wait(t *testing.T, hash types.Hash) *types.Receipt {
	begin, before := w.n.Best().finalHeight(), types.Height(0)
	for at := begin; at > before && at < begin+attackBlocks && !w.halts.Load(); before, at = at, w.n.Best().finalHeight() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		r, err := w.n.Wait(ctx, hash)
		cancel()
		var refused *refusal.Error
		switch {
		case err == nil:
			return &r.Receipt
		case errors.As(err, &refused) && refused.Code == refusal.CodeDropped && strings.Contains(err.Error(), "host_failed: "):
			return nil
		case !errors.Is(err, context.DeadlineExceeded):
			w.halts.Store(true)
			t.Errorf("a transaction ends otherwise: %v", err)
			return nil
		}
	}
	w.halts.Store(true)
	t.Errorf("transaction %s does not end from height %d to %d; %+v", hash, begin, w.n.Best().finalHeight(), w.n.Liveness())
	return nil
}

// attackLane makes one attack after the other; the lanes share the blocks. Who
// attacks and who is honest have accounts of their own, so that no nonce of one
// waits for what of the other was given up.
type attackLane struct {
	*assault
	attacker, honest *payer
}

func (l *attackLane) attack(t *testing.T, a attacks.Attack) {
	source, arms := armed(a)
	w := l.attacker
	deployed := l.end(t, w.limited(w.deploy([]byte(source), a.Name, 100*types.CBY), deployCycles, attackCells))
	switch {
	case deployed == nil:
		l.givenUp(t, a)
	case a.Refused() != (deployed.Status == types.StatusInvalidCode),
		!a.Refused() && deployed.Status != types.StatusOK && !l.endsSo(deployed, a):
		t.Errorf("%s/%s is deployed with %s %+v; it ends: %s", a.Family, a.Name, deployed.Status, deployed.Error, a.Ends)
	case deployed.Status != types.StatusOK: // by its reading already, or by its first lines
		l.count(&l.refused)
	default:
		l.feed.name(deployed.To, a.Family+"/"+a.Name)
		l.count(&l.called)
		l.call(t, a, deployed.To, arms)
	}
	l.visit(t, a)
}

// call has the attack run as a call, as a message and as a timer.
func (l *attackLane) call(t *testing.T, a attacks.Attack, at types.Address, arms bool) {
	w := l.attacker
	called := l.end(t, w.limited(w.execute(at, attacks.Handler, []byte("p")), attackCycles, attackCells))
	if called == nil {
		l.givenUp(t, a)
		w = l.attacker
	} else if !l.endsSo(called, a) {
		t.Errorf("%s/%s is called with %s %+v; it ends: %s", a.Family, a.Name, called.Status, called.Error, a.Ends)
	}
	order := &samples.Order{Target: at, Handler: attacks.Handler, Cycles: attackCycles, Cells: 20_000}
	sent := []types.Hash{l.submit(t, w.limited(w.execute(l.relay, "send", order.Encode()), 2*attackCycles, attackCells))}
	if arms {
		due := fmt.Sprint(l.n.Best().finalHeight() + armedAfter)
		sent = append(sent, l.submit(t, w.limited(w.execute(at, "arm_attack", []byte(due)), attackCycles, attackCells)))
	}
	for _, hash := range sent {
		if l.wait(t, hash) == nil {
			l.givenUp(t, a)
			return // what was sent behind it waits for its nonce
		}
	}
}

// endsSo compares a receipt with the words of the corpus. An attack may run out of
// cycles before it comes to that, since it has fewer here; and where the corpus has
// the answer of a chain that refuses every call, this chain's answer counts: an
// error, too.
func (w *assault) endsSo(r *types.Receipt, a attacks.Attack) bool {
	status, code := a.Status()
	switch {
	case string(r.Status) == status:
		return true
	case r.Status == types.StatusOutOfCycles:
		w.count(&w.spent)
		return true
	case status != "failed" || r.Error == nil:
		return false
	}
	return r.Error.Code == code || strings.HasSuffix(a.Ends, "refused by the test") && r.Status == types.StatusReverted
}

// givenUp notes an attack whose transaction was given up. The nonce it would have
// used is missing, so the attacker goes on with another account.
func (l *attackLane) givenUp(t *testing.T, a attacks.Attack) {
	l.mu.Lock()
	l.dropped = append(l.dropped, a.Family+"/"+a.Name)
	l.mu.Unlock()
	l.attacker = <-l.fill(t, 1)
}

// visit makes the honest call, and sees that all validators live.
func (l *attackLane) visit(t *testing.T, after attacks.Attack) {
	w := l.honest
	r := l.end(t, w.limited(w.execute(l.neighbour, "visit", []byte("hello")), attackCycles, 20_000))
	if r == nil || r.Status != types.StatusOK || string(r.Output) != neighbourAnswers {
		t.Errorf("after %s/%s an honest call ends otherwise: %+v", after.Family, after.Name, r)
	}
	for _, node := range l.n.List() {
		if !node.Running() {
			l.halts.Store(true)
			t.Errorf("after %s/%s %s does not run: %v", after.Family, after.Name, node.Name, node.Failure())
		}
	}
}

func (w *assault) count(n *int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
}

// judge waits until the last timer is due, and compares what the validators have.
func (w *assault) judge(t *testing.T, tried int) {
	end := w.n.Best().finalHeight() + armedAfter + 10
	await(t, w.n, end)
	for _, node := range w.n.List() {
		awaitNode(t, node, end)
	}
	for h := types.Height(1); h <= end; h++ {
		var roots []types.Hash
		for _, node := range w.n.List() {
			block, err := node.Validator().Archive().Block(h)
			if err != nil || block == nil {
				t.Fatalf("%s has no block %d: %v", node.Name, h, err)
			}
			roots = append(roots, block.Block.Header.StateRoot)
			if node == w.n.List()[0] {
				for i := range block.Receipts {
					w.ends[fmt.Sprint(block.Receipts[i].Origin, " ", block.Receipts[i].Status)]++
				}
			}
		}
		if slices.ContainsFunc(roots, func(root types.Hash) bool { return root != roots[0] }) {
			t.Fatalf("the roots at height %d differ: %v", h, roots)
		}
	}
	t.Logf("%d attacks: %d ran, of which %d spent their cycles before they ended as in the corpus; %d were refused at deploy; "+
		"%d transactions were given up for want of time (C18): %v", tried, w.called, w.spent, w.refused, len(w.dropped), w.dropped)
	t.Logf("%d heights; receipts: %v", end, w.ends)
	w.feed.tell(t)
	if w.called == 0 || w.refused == 0 || w.called+w.refused+len(w.dropped) < tried {
		t.Errorf("not all was tried")
	}
	for origin, least := range map[types.Origin]int{types.OriginMessage: w.called / 2, types.OriginTimer: w.called / 2} {
		ended := 0
		for how, n := range w.ends {
			if strings.HasPrefix(how, string(origin)+" ") {
				ended += n
			}
		}
		if ended < least {
			t.Errorf("%d executions of %ss for %d attacks", ended, origin, w.called)
		}
	}
}

// stopwatch is a host of programs that notes how long each message took.
type stopwatch struct {
	program.Host
	mu    sync.Mutex
	names map[types.Address]string
	took  map[types.Address]time.Duration // the longest message of an actor
	all   []time.Duration
}

func newStopwatch(host program.Host) *stopwatch {
	return &stopwatch{Host: host, names: map[types.Address]string{}, took: map[types.Address]time.Duration{}}
}

func (w *stopwatch) Open(purpose program.Purpose) (program.Session, error) {
	s, err := w.Host.Open(purpose)
	return timed{s, w}, err
}

func (w *stopwatch) name(at types.Address, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[at] = name
}

type timed struct {
	program.Session
	feed *stopwatch
}

func (s timed) Handle(ctx program.Context, code program.Code, m program.Message) (program.Outcome, error) {
	begin := time.Now()
	out, err := s.Session.Handle(ctx, code, m)
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	took := time.Since(begin)
	s.feed.all = append(s.feed.all, took)
	s.feed.took[m.Self] = max(s.feed.took[m.Self], took)
	return out, err
}

// tell prints the worst wall times of a message, which other messages beside it and
// a busy machine are part of.
func (w *stopwatch) tell(t *testing.T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.all)
	at := func(share float64) time.Duration {
		return w.all[int(share*float64(len(w.all)-1))].Round(time.Millisecond)
	}
	t.Logf("%d messages to programs; wall time: median %v, 99 %% within %v, the worst %v", len(w.all), at(0.5), at(0.99), at(1))
	actors := make([]types.Address, 0, len(w.took))
	for actor := range w.took {
		actors = append(actors, actor)
	}
	slices.SortFunc(actors, func(a, b types.Address) int { return int(w.took[b] - w.took[a]) })
	for _, actor := range actors[:min(5, len(actors))] {
		t.Logf("%-40s %v", w.names[actor], w.took[actor].Round(time.Millisecond))
	}
}
