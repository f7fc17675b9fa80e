package sim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

var (
	seeds     = flag.Int("seeds", 200, "seeds of the campaign")
	liar      = flag.String("liar", "", "a misbehaviour with which the faulty validators of the campaign begin")
	firstSeed = flag.Uint64("seed", 1, "first seed of the campaign")
)

// Lengths of a campaign's parts, in virtual time.
const (
	storm = 40 * time.Second // faults come and go
	// slowSpell is how long links stay slower than the timeouts assume, in seeds that draw
	// it. All doublings of C4 fit into it several times.
	slowSpell = 4 * time.Minute
	// bound is how long a healed network may take to finalize liveBlocks more on
	// every validator: a view whose timeout has doubled to the most (C4: 16
	// times 1.75 s) may have just begun, and the next leader may be one that has
	// to catch up first.
	bound      = 120 * time.Second
	liveBlocks = 5
)

// campaign is one seed: a network of 4 to 7 validators with its own latencies,
// traffic, and faults; first safety, then heal, then liveness.
type campaign struct {
	crashed int // by orders
	*Network
	rng    *rand.Rand
	actors []types.Address
	faults []string
	// faulty are the f that may lie, lose their disk or have it damaged: who ever
	// did is one of them for good, so that there are never more.
	faulty   []string
	broken   map[string]bool // their disk was damaged; looked up only
	failing  map[string]bool // their disk fails, or is about to; looked up only
	joined   int             // validators that joined: w0, w1, …; one may leave for each
	spell    bool            // links are slow for minutes after the storm
	churns   bool            // sets change at each epoch's end, and validators crash after it
	slowed   map[string]bool // their disk or processors are slow; looked up only
	short    map[string]bool // their log lost its end and has to be found lost at the next boot; looked up only
	gone     []string        // were told to leave
	policy   string
	did      map[string]int // faults by name
	hired    *rand.Rand     // of runners; nil without runners
	counted  types.Height   // the last block whose jobs are counted
	bordered types.Height   // the last border after which validators crash
}

// maxJoins bounds the validators that join where sets churn.
const maxJoins = 6

func newCampaign(seed uint64, change ...func(*NetworkConfig)) (*campaign, error) {
	rng := rand.New(rand.NewPCG(seed, 99))
	c := NetworkConfig{
		World: Config{Seed: seed, Link: Link{
			Latency: time.Duration(rng.IntN(80)) * time.Millisecond,
			Jitter:  time.Duration(rng.IntN(60)) * time.Millisecond,
			Loss:    []float64{0, 0, 0.01, 0.05}[rng.IntN(4)],
		}},
		Validators: []int{4, 4, 4, 5, 7}[rng.IntN(5)],
		Params:     params.Overrides{"chain.epoch_blocks": []string{"64", "7"}[rng.IntN(2)]},
		Sample:     8,
	}
	if rng.IntN(3) == 0 {
		c.World.Disk.Latency = time.Duration(rng.IntN(20)) * time.Millisecond
	}
	if rng.IntN(2) == 0 {
		c.Rewrite = int64(1+rng.IntN(64)) << 10 // logs are rewritten
	}
	if seed%2 == 1 {
		c.FlushDelay = time.Minute // a crash loses up to a dozen final blocks of the store, and not of the log
	}
	c.Apart = rng.IntN(8) == 0
	policy := []string{"eip1559", "eip1559", "eip1559", "fifo", "fifo", "gba", "bias-vcg", "bias-first-price"}[rng.IntN(8)]
	c.Params["cip1.policy"] = policy
	if policy == "fifo" && rng.IntN(3) == 0 {
		c.Params["cip5.fees"] = "free"
	}
	if rng.IntN(3) == 0 {
		c.Params["cip1.lane_timer_cycles"] = "551000" // one fire a block, and others are deferred
		if policy == "eip1559" {
			c.Params["cip1.lane_timer_cycles"] = "251000"
		}
		c.Params["cip5.max_ttl_blocks"] = "10"
	}
	if rng.IntN(2) == 0 {
		c.Params["cip3.min_basefee"] = "1000" // else fires soon cost next to nothing, and nobody runs out of funds
	}
	hired := hires(seed, &c)
	one := &campaign{rng: rng, policy: policy, broken: map[string]bool{}, failing: map[string]bool{}, did: map[string]int{},
		slowed: map[string]bool{}, short: map[string]bool{}, churns: seed%6 == 3, spell: seed%8 == 5}
	c.Tell = one.heard
	if one.churns {
		c.Params["chain.epoch_blocks"] = "3"
		c.Final = one.border
	}
	for _, f := range change {
		f(&c)
	}
	n, err := NewNetwork(c)
	if err != nil {
		return nil, err
	}
	one.Network = n
	for _, i := range rng.Perm(c.Validators)[:(c.Validators-1)/3] {
		one.faulty = append(one.faulty, fmt.Sprintf("v%d", i))
	}
	if kind := liesFirst(seed); kind != "" {
		one.did["liars"]++
		for _, name := range one.faulty {
			if _, err := one.Misbehave(name, kind); err != nil {
				return nil, err
			}
		}
	}
	one.traffic()
	if hired != nil {
		one.labours(hired)
	}
	if one.churns {
		for at := 2 * time.Second; at < storm; at += 3 * time.Second {
			one.After(at, func() { one.noted(one.turnover()) })
		}
	}
	for at := 2 * time.Second; at < storm; at += time.Duration(500+rng.IntN(4000)) * time.Millisecond {
		one.After(at, one.fault)
	}
	return one, nil
}

// heard judges a report of a validator: it may declare its log lost only if a fault could
// lose that log.
func (c *campaign) heard(_ types.Time, name string, report simplex.Report) {
	if _, sits := report.(simplex.SitsOut); !sits {
		return
	}
	c.did["sitting"]++
	if !slices.Contains(c.faulty, name) && c.failure == nil {
		c.failure = fmt.Errorf("%s sits out, and nothing took its log of votes from it", name)
	}
}

// liesFirst is how the faulty validators of a seed begin to lie: as the flag says, or
// in every fourth seed by the next kind of all.
func liesFirst(seed uint64) string {
	if *liar != "" || seed%4 != 0 {
		return *liar
	}
	kinds := byzantine.Kinds()
	return string(kinds[seed/4%uint64(len(kinds))])
}

// replay is the command that runs a seed of the campaign again.
func replay(seed uint64) string {
	command := fmt.Sprintf("go test ./internal/worlds/sim -run TestCampaign$ -seed %d -seeds 1", seed)
	if *liar != "" {
		command += " -liar " + *liar
	}
	return command
}

// traffic is transfers, heartbeats that schedule timers, calls, sends and
// failures, one each half second or so, handed to any validator.
func (c *campaign) traffic() {
	for _, funds := range []uint64{50_000, 50_000, 1120} { // in thousandths of a CBY; the last can pay for few fires
		deploy, at := c.Deploy("alice", samples.Code("heartbeat"), types.WeiOf(funds).Mul(types.CBY/1000))
		c.actors = append(c.actors, at)
		c.submit(100*time.Millisecond, deploy)
	}
	deploy, relay := c.Deploy("bob", samples.Code("relay"), types.WeiOf(50).Mul(types.CBY))
	c.submit(100*time.Millisecond, deploy)
	for at := 3 * time.Second; at < storm; at += time.Duration(200+c.rng.IntN(1000)) * time.Millisecond {
		heart := c.actors[c.rng.IntN(len(c.actors))]
		switch c.rng.IntN(6) {
		case 0, 1:
			c.submit(at, c.Execute("alice", heart, "start", samples.Number(uint64(1+c.rng.IntN(6)))))
		case 2:
			c.submit(at, c.Execute("alice", heart, "stop", nil))
		case 3:
			c.submit(at, c.Transfer("bob", c.Key("alice").Address(), types.WeiOf(uint64(c.rng.IntN(1000)))))
		case 4:
			order := samples.Order{Target: heart, Handler: "start", Payload: samples.Number(3), Cycles: 20_000, Cells: 2000}
			c.submit(at, c.Execute("bob", relay, "send", order.Encode()))
		case 5:
			c.submit(at, c.Execute("bob", relay, "nothing", nil))
		}
	}
}

// submit hands a transaction to two validators, since one may be down.
func (c *campaign) submit(after time.Duration, tx *types.Transaction) {
	first := c.rng.IntN(len(c.names))
	c.After(after, func() {
		c.Submit(c.names[first], tx, nil)
		c.Submit(c.names[(first+1)%len(c.names)], tx, nil)
	})
}

// fault is one more fault, or the end of one.
func (c *campaign) fault() {
	name := c.names[c.rng.IntN(len(c.names))]
	what := ""
	switch c.rng.IntN(25) {
	case 0:
		group := c.some()
		if len(group) == 0 {
			group = []string{name}
		}
		c.Partition(group)
		what = "partition"
	case 1:
		left, right := c.some(), c.some()
		left = slices.DeleteFunc(left, func(one string) bool { return one == name })
		c.Bridge(name, left, slices.DeleteFunc(right, func(one string) bool { return one == name || slices.Contains(left, one) }))
		what = "bridge"
	case 2, 3:
		c.Heal()
		what = "heal"
	case 4:
		c.LinkAll(Link{Latency: time.Duration(c.rng.IntN(400)) * time.Millisecond, Jitter: time.Duration(c.rng.IntN(400)) * time.Millisecond,
			Loss: float64(c.rng.IntN(30)) / 100, Duplicate: 0.05, Reorder: 0.1})
		what = "bad links"
	case 5:
		what = "crash " + name
		c.Crash(name)
	case 6:
		moments := []Moment{BeforeAppend, TornAppend, AfterAppend, BeforeSend, AfterSend, BeforeCommit, AfterCommit}
		at := moments[c.rng.IntN(len(moments))]
		what = fmt.Sprint("crash ", name, " ", at)
		if c.Running(name) {
			c.CrashAt(name, at, 1+c.rng.IntN(8))
		}
	case 7:
		what = "boot all"
		c.bootDown()
	case 8:
		what = "freeze " + name
		if c.Running(name) && c.findNode(name).frozen == nil {
			c.Freeze(name)
		}
	case 9:
		what = "thaw, skew " + name
		c.thawAll()
		c.ClockSkew(name, time.Duration(c.rng.IntN(2000)-1000)*time.Millisecond) // decision C7 allows 1 s
	case 10, 11:
		what = c.lie()
	case 12:
		what = c.amnesia()
	case 13:
		what = c.failingDisk(name)
	case 14:
		what = c.govern()
	case 15:
		what = c.turnover()
	case 16, 17:
		what = c.hostFails(name)
	case 18:
		what = c.oneWay(name)
	case 19:
		what = c.unlikeLinks()
	case 20, 21:
		what = c.slows(name)
	case 22:
		what = c.syncLies()
	case 23:
		what = c.cutsLog()
	case 24:
		what = c.slowLinks()
	}
	c.noted(what)
}

// noted keeps an event for the tally and for the reader of a failed seed.
func (c *campaign) noted(what string) {
	if what != "" {
		c.did[strings.Fields(what)[0]]++
	}
	c.faults = append(c.faults, fmt.Sprintf("%v %s", c.Now().Sub(firstInstant), what))
}

// oneWay has a validator hear all others, and reach some of them no more, or the other
// way round.
func (c *campaign) oneWay(name string) string {
	dead := Link{Loss: 1, OneWay: true}
	out := c.rng.IntN(2) == 0
	for _, other := range c.some() {
		if other == name {
			continue
		}
		if out {
			c.Link(name, other, dead)
		} else {
			c.Link(other, name, dead)
		}
	}
	return fmt.Sprint("one-way ", name, " ", out)
}

// unlikeLinks gives each link its own delay, up to ten times the assumed one (C4).
func (c *campaign) unlikeLinks() string {
	for i, a := range c.names {
		for _, b := range c.names[i+1:] {
			c.Link(a, b, Link{Latency: time.Duration(c.rng.IntN(2500)) * time.Millisecond >> c.rng.IntN(8)})
		}
	}
	return "unlike links"
}

// slowLinks gives all links one constant delay, of one to ten times the assumed one (C4).
func (c *campaign) slowLinks() string {
	d := time.Duration(250+c.rng.IntN(2251)) * time.Millisecond
	c.LinkAll(Link{Latency: d})
	return fmt.Sprint("slow links ", d)
}

// slows has one validator's disk or processors be slow, or quick again.
func (c *campaign) slows(name string) string {
	d := time.Duration(1+c.rng.IntN(300)) * time.Millisecond >> c.rng.IntN(6)
	if c.slowed[name] {
		d = 0
	}
	c.slowed[name] = d > 0
	if d == 0 || c.rng.IntN(2) == 0 {
		c.DiskSlow(name, d)
	}
	if d == 0 || c.rng.IntN(2) == 0 {
		c.CPUSlow(name, d)
	}
	return fmt.Sprint("slow ", name, " ", d)
}

// syncLies has the disk of a faulty validator lie of its syncs, or end that.
func (c *campaign) syncLies() string {
	name := c.oneOf()
	on := c.findNode(name).disk.lying == nil
	c.SyncLies(name, on)
	return fmt.Sprint("lying disk of ", name, " ", on)
}

// cutsLog takes some of the youngest records of a faulty validator's log.
func (c *campaign) cutsLog() string {
	name := c.oneOf()
	c.Crash(name)
	n := len(c.findNode(name).disk.records)
	if n == 0 {
		return ""
	}
	if _, err := c.CutLog(name, 1+c.rng.IntN(n)); err != nil && c.failure == nil {
		c.failure = err
	}
	c.short[name] = true
	return "cut log of " + name
}

// border follows final blocks. After a block at which the set changes it makes some
// validators crash at their next writes and sends, and boots them a little later.
func (c *campaign) border(_ types.Time, r *ledger.Result) {
	if !r.Block.Header.Border() || r.Block.Header.Height <= c.bordered || c.Now() >= firstInstant.Add(storm) {
		return
	}
	c.bordered = r.Block.Header.Height
	moments := []Moment{BeforeAppend, TornAppend, AfterAppend, AfterSend, BeforeCommit}
	for _, name := range c.some() {
		if c.Running(name) {
			c.CrashAt(name, moments[c.rng.IntN(len(moments))], 1+c.rng.IntN(12))
		}
	}
	c.did["border"]++
	c.After(time.Duration(500+c.rng.IntN(3000))*time.Millisecond, c.bootDown)
}

// some is a random part of the nodes.
func (c *campaign) some() (names []string) {
	for _, name := range c.names {
		if c.rng.IntN(2) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// oneOf is one of those that may be faulty.
func (c *campaign) oneOf() string { return c.faulty[c.rng.IntN(len(c.faulty))] }

// lie has a faulty validator misbehave in one way, or stop it.
func (c *campaign) lie() string {
	name := c.oneOf()
	kinds := byzantine.Kinds()
	kind := string(kinds[c.rng.IntN(len(kinds))])
	if c.rng.IntN(4) == 0 {
		kind = "honest"
	}
	if !c.Running(name) {
		return ""
	}
	if _, err := c.Misbehave(name, kind); err != nil && c.failure == nil {
		c.failure = err
	}
	return "misbehave " + name + " " + kind
}

// amnesia takes from a faulty validator what it had kept, or damages it.
func (c *campaign) amnesia() string {
	name := c.oneOf()
	c.Crash(name)
	if c.rng.IntN(2) == 0 {
		c.wipe(name)
		return "wipe " + name
	}
	for range 1 + c.rng.IntN(3) {
		if _, err := c.Flip(name); err != nil && c.failure == nil {
			c.failure = err
		}
	}
	c.broken[name] = true
	return "flip " + name
}

func (c *campaign) wipe(name string) {
	c.DiskFail(name, false)
	if _, err := c.Wipe(name); err != nil && c.failure == nil {
		c.failure = err
	}
	delete(c.broken, name)
}

// failingDisk has a disk fail for some seconds, at once or in the midst of what it
// does; its validator stops by itself, and is started again when the disk works.
func (c *campaign) failingDisk(name string) string {
	if c.failing[name] {
		return ""
	}
	c.failing[name] = true
	if c.rng.IntN(2) == 0 {
		c.DiskFail(name, true)
	} else {
		c.DiskFailAt(name, 1+c.rng.IntN(30))
	}
	c.After(time.Duration(c.rng.IntN(5000))*time.Millisecond, func() {
		if c.failing[name] { // else the storm was over first
			c.mendDisk(name)
		}
	})
	return "failing disk of " + name
}

func (c *campaign) mendDisk(name string) {
	delete(c.failing, name)
	c.DiskFail(name, false)
	c.Crash(name)
}

// hostFails has a validator's host of programs crash or hang over one actor or, in
// every third case, all of them, who are then more than can be faulty; some later
// it works again.
func (c *campaign) hostFails(name string) string {
	actor := c.actors[c.rng.IntN(len(c.actors))]
	how := []string{fault.HostCrashes, fault.HostHangs}[c.rng.IntN(2)]
	names := []string{name}
	if c.rng.IntN(3) == 0 {
		names = slices.Clone(c.names)
	}
	set := func(how string) {
		for _, name := range names {
			if _, err := c.HostFail(name, actor, how); err != nil && c.failure == nil {
				c.failure = err
			}
		}
	}
	set(how)
	c.After(time.Duration(c.rng.IntN(15_000))*time.Millisecond, func() { set(fault.HostWorks) })
	return fmt.Sprint("host ", how, " ", names, " over ", actor)
}

// govern changes a parameter, or a fifo lane's policy.
func (c *campaign) govern() string {
	changes := [][2]string{{"chain.block_time_ms", "500"}, {"chain.block_time_ms", "1500"}, {"cip3.min_basefee", "7"},
		{"cip3.min_basefee", "2000"},
		{"cip1.priority_floor", "3"}, {"cip5.max_cycles_per_fire", "300000"}, {"cip1.tie_break", "age"}}
	if c.policy == "fifo" && c.config.Params["cip5.fees"] == "" {
		changes = append(changes, [2]string{"cip1.policy", "eip1559"})
	}
	change := changes[c.rng.IntN(len(changes))]
	c.operate("sets "+change[0], func(ctx context.Context) error {
		_, err := c.SetParam(ctx, change[0], change[1], 0)
		return err
	})
	return "parameter " + change[0] + " " + change[1]
}

// turnover has a validator join, and later one leave that is not faulty: so f
// stays what it was. Where sets churn others follow.
func (c *campaign) turnover() string {
	last := fmt.Sprintf("w%d", c.joined-1)
	if c.joined > 0 && (c.byName[last] == nil || !c.Running(last) || c.Status(last) != history.StatusActive) {
		return "" // it is joining, or was refused
	}
	for _, name := range c.names {
		if c.joined > 0 && name != last && !slices.Contains(c.faulty, name) && c.leave(name) {
			return "leave " + name
		}
	}
	if c.joined > 0 && (!c.churns || c.joined == maxJoins) {
		return ""
	}
	next := fmt.Sprintf("w%d", c.joined)
	c.joined++
	c.join(next)
	return "join " + next
}

// operate does what waits for blocks, which may not come in time.
func (c *campaign) operate(what string, do func(context.Context) error) {
	c.Go(what, func() error {
		err := do(context.Background())
		var refused *refusal.Error
		switch {
		case errors.As(err, &refused):
			c.did["refused: "+refused.Code]++
			return nil
		case errors.Is(err, ErrCrashed), errors.Is(err, network.ErrClosed): // booting may meet a planned crash
			return nil
		}
		return err
	})
}

// join lets a validator join as a task.
func (c *campaign) join(name string) {
	c.operate("join "+name, func(ctx context.Context) error {
		_, err := c.Join(ctx, name)
		return err
	})
}

// leave has a member leave where no fewer stay than began, and says whether it
// does: of fewer, those that are faulty could be too many.
func (c *campaign) leave(name string) bool {
	if c.members == nil || !c.isMember(name) || slices.Contains(c.gone, name) {
		return false
	}
	stay := len(c.members.Members) - 1
	for _, other := range c.gone {
		if c.isMember(other) {
			stay--
		}
	}
	if stay < c.config.Validators {
		return false
	}
	c.operate("leave "+name, func(ctx context.Context) error {
		_, err := c.Leave(ctx, name)
		return err
	})
	c.gone = append(c.gone, name)
	return true
}

// bootDown starts who is down and is, or is to be, a validator. One whose disk was
// damaged may refuse to start, by name; it is wiped then, as its message advises.
func (c *campaign) bootDown() {
	for _, name := range c.names {
		if c.Running(name) || !c.isMember(name) && !slices.Contains(c.Joining(), name) || c.findNode(name).disk.failing != nil {
			continue
		}
		err := c.Boot(name)
		if err != nil && c.broken[name] && !errors.Is(err, ErrCrashed) {
			c.did["refused"]++
			if !strings.Contains(err.Error(), name) && c.failure == nil {
				c.failure = fmt.Errorf("a damaged disk is refused without a name: %w", err)
			}
			c.wipe(name)
			err = c.Boot(name)
		}
		if err != nil && !errors.Is(err, ErrDiskFailed) && c.failure == nil {
			c.failure = err
		}
		if err == nil {
			c.found(name)
		}
	}
}

// keepUp does bootDown each second, as an operator would. A validator that crashed before its
// order to join was final becomes a member later.
func (c *campaign) keepUp() {
	c.bootDown()
	c.After(time.Second, c.keepUp)
}

// found judges a validator whose log was cut, when it has booted: where the log holds
// nothing of its store's tip it was found lost.
func (c *campaign) found(name string) {
	if !c.short[name] {
		return
	}
	delete(c.short, name)
	head := c.Validator(name).Head()
	if c.Validator(name).Status().Lost {
		c.did["found"]++
		return
	}
	for _, record := range c.findNode(name).disk.records {
		reach, err := simplex.ReachOf([][]byte{record}, simplex.Root{Block: head.Block, Hash: head.Hash})
		if err != nil || reach == simplex.Whole {
			return // it lost what came after its tip
		}
	}
	if head.Block.Header.Height > 0 && c.failure == nil {
		c.failure = fmt.Errorf("%s lost the end of its log below height %d, and votes on", name, head.Block.Header.Height)
	}
}

func (c *campaign) thawAll() {
	for _, name := range c.names {
		if c.findNode(name).frozen != nil {
			c.Thaw(name)
		}
	}
}

// run is the whole campaign of one seed.
func (c *campaign) run() error {
	if err := c.RunFor(storm); err != nil {
		return err
	}
	if c.spell {
		c.noted(c.slowLinks())
		if err := c.RunFor(slowSpell); err != nil {
			return err
		}
	}
	return c.calm()
}

// calm ends all faults but for half of the lies, and lets the network show that it
// goes on.
func (c *campaign) calm() error {
	if err := c.Err(); err != nil {
		return err
	}
	c.Heal()
	c.LinkAll(Link{Latency: 20 * time.Millisecond})
	c.thawAll()
	lying := c.rng.IntN(2) == 0
	for _, name := range c.names {
		c.ClockSkew(name, 0)
		c.MendHost(name)
		c.findNode(name).crashes = nil
		c.DiskSlow(name, 0)
		c.CPUSlow(name, 0)
		c.SyncLies(name, false)
		if one := c.findNode(name); one.disk.failing != nil || one.disk.fails > 0 {
			c.mendDisk(name)
		}
		if !lying && c.Running(name) {
			if _, err := c.Misbehave(name, fault.Honest); err != nil {
				return err
			}
		}
	}
	c.keepUp()
	if err := c.soundRunners(); err != nil {
		return err
	}
	if err := c.RunToHeight(c.Tip()+liveBlocks, bound); err != nil {
		return err
	}
	return c.settled()
}

// TestCampaign: with any faults no oracle finds anything, and once they are over
// the network goes on within the bound. A failing seed is replayed with
//
//	go test ./internal/worlds/sim -run TestCampaign -seed N -seeds 1
func TestCampaign(t *testing.T) {
	count := *seeds
	if os.Getenv("DEVNET_SOAK") != "" {
		count = max(count, soakSeeds)
	}
	if testing.Short() {
		count = min(count, 10)
	}
	var (
		mu    sync.Mutex
		sum   tally
		next  = *firstSeed
		wait  sync.WaitGroup
		fails int
	)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for {
				mu.Lock()
				seed := next
				next++
				mu.Unlock()
				if seed >= *firstSeed+uint64(count) {
					return
				}
				one, err := newCampaign(seed)
				if err == nil {
					err = one.run()
				}
				mu.Lock()
				if err != nil {
					if fails++; fails <= 5 {
						t.Errorf("seed %d: %v\nreplay: %s\nfaults: %s", seed, err, replay(seed), faultsOf(one))
					}
				}
				sum.add(one)
				mu.Unlock()
				if one != nil {
					one.Close()
				}
			}
		})
	}
	wait.Wait()
	t.Logf("%d seeds, %d failed: %+v", count, fails, sum)
	if count >= 100 {
		sum.sometimes(t)
	}
}

// A validator is down while all members of the set that it knows leave, and then finds
// those that joined since. In the first seed v3 of genesis is wiped, in the second v1
// returns with an old store.
func TestAMemberOfAnOldSetFindsThoseThatJoined(t *testing.T) {
	for seed, back := range map[uint64]string{1005: "v3", 693: "v1"} {
		c, err := newCampaign(seed)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.run(); err != nil {
			t.Error(err)
		}
		if c.isMember("v0") || !c.isMember(back) {
			t.Errorf("seed %d is another one: %s", seed, faultsOf(c))
		}
	}
}

func faultsOf(c *campaign) string {
	if c == nil {
		return "none"
	}
	return strings.Join(c.faults, ", ")
}

// soakSeeds is how many seeds `make soak` takes.
const soakSeeds = 10_000

// tally is what happened in all seeds together: what never happened was not
// tested.
type tally struct {
	blocks, steps, fired, cancelled, insufficient, expired, deferred, receipts int
	crashes, midstep, lost, dropped, held, audits                              int
	rewritten, apart, sets, boots, worked                                      int
	did                                                                        map[string]int
}

func (s *tally) add(c *campaign) {
	if c == nil {
		return
	}
	counts := c.Judge.Counts()
	s.blocks += counts.Heights
	s.steps += int(c.Steps())
	s.fired += counts.Fired
	s.cancelled += counts.Cancelled
	s.insufficient += counts.Insufficient
	s.expired += counts.Expired
	s.deferred += counts.Deferred
	s.receipts += counts.Receipts
	s.audits += counts.Rehashed
	s.sets += counts.Sets
	s.boots += counts.Boots
	s.worked += int(c.Worked() / time.Millisecond)
	s.rewritten += c.rewrites
	if c.config.Apart {
		s.apart++
	}
	if s.did == nil {
		s.did = map[string]int{}
	}
	for what, n := range c.did {
		s.did[what] += n
	}
	s.midstep -= c.crashed // what no order did, a moment did
	for _, r := range c.Faults() {
		s.crashes += figure(r.Did, "ended")
		s.lost += figure(r.Did, "lost")
		s.dropped += figure(r.Did, "dropped")
		s.held += figure(r.Did, "held")
		if r.Verb == "crash" {
			s.midstep++
		}
	}
}

// figure is how many of something a fault did.
func figure(did, what string) (n int) {
	for _, part := range strings.Split(did, ", ") {
		if strings.HasSuffix(part, " "+what) {
			fmt.Sscan(part, &n)
		}
	}
	return n
}

// Crash counts the crashes that are ordered.
func (c *campaign) Crash(name string) *Effect {
	r := c.Network.Crash(name)
	if r != nil {
		c.crashed++
	}
	return r
}

func (s *tally) sometimes(t *testing.T) {
	for _, one := range []struct {
		n    int
		what string
	}{
		{s.blocks, "blocks"}, {s.receipts, "receipts"}, {s.fired, "fires"}, {s.cancelled, "cancelled timers"},
		{s.insufficient, "timers without funds"}, {s.expired, "expired timers"}, {s.deferred, "deferred timers"},
		{s.crashes, "crashes"}, {s.midstep, "crashes within a step"}, {s.lost, "records lost"},
		{s.dropped, "frames dropped"}, {s.held, "events held"}, {s.audits, "audits"},
		{s.rewritten, "rewritten logs"}, {s.apart, "seeds apart"}, {s.sets, "sets announced"}, {s.boots, "boots"},
		{s.worked, "milliseconds of work"},
		{s.did["misbehave"], "liars"}, {s.did["liars"], "seeds that begin with liars"}, {s.did["wipe"], "wipes"}, {s.did["flip"], "flipped bits"},
		{s.did["refused"], "damaged disks refused"},
		{s.did["failing"], "failing disks"}, {s.did["host"], "failing hosts of programs"}, {s.did["parameter"], "parameter changes"},
		{s.did["sitting"], "validators that sit out"}, {s.did["one-way"], "one-way links"}, {s.did["unlike"], "links that differ"},
		{s.did["slow"], "slow links or nodes"}, {s.did["lying"], "disks that lie"}, {s.did["cut"], "cut logs"},
		{s.did["found"], "cut logs found"},
		{s.did["border"], "crashes behind borders"}, {s.did["join"], "joins"}, {s.did["leave"], "leaves"},
		{s.did["job completed"], "jobs completed"}, {s.did["job failed"], "jobs that failed"}, {s.did["job retried"], "committees released"},
		{s.did["runner misbehave"], "runners that lie"}, {s.did["runner drop"], "runners dropped"}, {s.did["runner rejoin"], "runners rejoined"},
	} {
		if one.n == 0 {
			t.Errorf("in no seed there were %s", one.what)
		}
	}
}

// forgetful is a log that promises to keep votes and keeps all but them. If it were empty,
// or ended before the store's tip, the validator would take it for lost, and sit out.
type forgetful struct{ env.Log }

func (f *forgetful) Append(records ...[]byte) error {
	var kept [][]byte
	for _, record := range records {
		votes, err := simplex.OwnVotes([][]byte{record})
		if err != nil {
			return err
		}
		if len(votes) == 0 {
			kept = append(kept, record)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return f.Log.Append(kept...)
}

// A campaign in which validators forget their votes must be found out, or it
// could find nothing.
func TestTheCampaignFindsForgottenVotes(t *testing.T) {
	for seed := uint64(1); seed <= 60; seed++ {
		c, err := newCampaign(seed, func(c *NetworkConfig) {
			c.Wrap = func(_ string, node env.Validator) env.Validator {
				node.Log = &forgetful{Log: node.Log}
				return node
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for at := 3 * time.Second; at < storm; at += time.Second / 5 { // back within the view that it voted in
			c.After(at, func() {
				name := c.names[c.rng.IntN(len(c.names))]
				if c.Crash(name) != nil {
					_ = c.Boot(name) // its disk may fail
				}
			})
		}
		if err := c.RunFor(storm); err != nil { // on, beyond what the oracle "durable" finds at once
			t.Fatal(err)
		}
		c.Close()
		for _, v := range c.Judge.Violations() {
			if v.Oracle == "certificates" {
				t.Logf("seed %d: %v", seed, v)
				return
			}
		}
	}
	t.Error("in 60 seeds no validator that forgot its votes voted against itself")
}

// Signatures are environment: real ones, and executing each block once or four
// times, change what is in the steps and not the steps.
func TestRealSignaturesAndOwnExecutionChangeNoStep(t *testing.T) {
	shape := func(change func(*NetworkConfig)) (uint64, uint64) {
		n := NetworkConfig{World: quick(5)}
		change(&n)
		one := aNetwork(t, n)
		one.CrashAt("v1", AfterAppend, 6)
		one.Submit("v0", one.Transfer("alice", one.Key("bob").Address(), types.WeiOf(5)), nil)
		letRun(t, one.World, 10*time.Second)
		if err := one.Boot("v1"); err != nil {
			t.Fatal(err)
		}
		if err := one.RunToHeight(20, time.Minute); err != nil {
			t.Fatal(err)
		}
		return one.Shape(), one.Steps()
	}
	want, steps := shape(func(*NetworkConfig) {})
	for name, change := range map[string]func(*NetworkConfig){
		"real signatures": func(c *NetworkConfig) { c.Real = true },
		"executing apart": func(c *NetworkConfig) { c.Apart = true },
	} {
		if got, n := shape(change); got != want {
			t.Errorf("with %s the run has another shape, in %d steps instead of %d", name, n, steps)
		}
	}
}

// One seed is one run for a whole network too, with Python's absence, crashes
// and oracles and all; and real signatures change nothing but the bytes.
func TestACampaignsDigestIsItsSeeds(t *testing.T) {
	digest := func(seed uint64, cores int) types.Hash {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		c, err := newCampaign(seed)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.run(); err != nil {
			t.Fatal(err)
		}
		return c.Digest()
	}
	first := digest(11, 1)
	if again := digest(11, 2); again != first {
		t.Errorf("seed 11 has the digests %s and %s", first, again)
	}
	if other := digest(12, 1); other == first {
		t.Error("seeds 11 and 12 have one digest")
	}
}

// isMember reports whether a validator is in the newest epoch's set.
func (n *Network) isMember(name string) bool {
	set := n.members
	if set == nil {
		set = &n.Genesis.Validators
	}
	return set.Index(n.keys[name].Address()) >= 0
}
