// Package crowd fills a bare world with members: actors that order timers as their crowd
// does. A Room is the world with its crowds, its lane in fires, and the figures of all.
//
// What a member decides follows from the seed, its address and the payload of its timer, or
// from the stream of its crowd and the height. So one crowd moves no other's draws.
package crowd

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/draw"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/bare"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Limits of a room.
const (
	MaxMembers = 5_000  // of a crowd
	MaxOrders  = 20_000 // of a crowd in a block
	MaxFires   = 10_000 // of the lane in a block

	LeastTraffic = 200       // cells a block of the traffic
	MostTraffic  = 1_000_000 // the same; a transaction has at most a MiB
)

// fireCycles is what a fire takes of the lane: its limit, all of which it uses.
const fireCycles = 1_000

// fireCells is what a fire may write.
const fireCells = 2_000

// Crowd is members that behave alike.
type Crowd struct {
	Name    string
	Members int
	// Deployers is how many accounts of the crowd's own deployed the members, in turn; 0: one.
	Deployers int
	// After is how many blocks members that Begin orders wait before their first order counts.
	After uint64
	// Leaves is after how many blocks these members order no more; 0: never.
	Leaves uint64
	// Begin returns the orders with which a member begins. It may be nil.
	Begin func(member int, s *draw.Stream) []Order
	// Tick returns the orders of a block by members, before it. It may be nil.
	Tick func(sees Outlook, s *draw.Stream) map[int][]Order
	// DecayPermille is what a block of waiting takes of an order's worth.
	DecayPermille uint64
	// Adapts chooses the shares that the members bid; nil: they are fixed.
	Adapts *BestResponse
	// ReadsBids says that its orders follow from the bids of others.
	ReadsBids bool
	// Validators is how many of the first validators are its owner's, who gets the tips of their blocks.
	Validators int
	// Size is how many fires of the lane a fire of a member takes; 0: one.
	Size uint64
	// HasAgents says that the chain asks the members' own programs for tips that their orders leave open.
	HasAgents bool

	Counts    Counts
	stream    *draw.Stream
	addresses []types.Address
}

// Traffic is a transaction a block that takes cells beside the crowds.
type Traffic struct {
	Cells types.Cells // of a block
	Most  types.Wei   // a cell; while the base fee is higher, nothing is sent
}

// Config describes a room.
type Config struct {
	Seed  uint64
	Fires uint64 // of size 1: what the lane holds a block
	// Validators is how many there are, who lead in turn; 0: one, on a network four.
	Validators int
	Params     params.Overrides // beside those of the lane
	Crowds     []*Crowd
	Traffic    *Traffic // nil: none
	Open       Opener   // nil: the bare world
}

// World is the chain of a room.
type World interface {
	Deploy(account, name string, code []byte, fund types.Wei) (types.Address, error)
	Call(account string, actor types.Address, handler string, payload []byte) error
	Fill(account string, actor types.Address, handler string, cells types.Cells, most types.Wei) (cost types.Wei, ok bool, err error)
	Step() error   // one block of what was submitted
	Settle() error // blocks until all of it is in one
	Head() *ledger.State
	Root() types.Hash
	Audit() error
	Blocks() uint64
	Fires() uint64
	Close() // ends it; what it came to can still be read
}

// Opener opens a world for a seed.
type Opener func(seed uint64, c bare.Config) (World, error)

func openBare(_ uint64, c bare.Config) (World, error) { return bare.New(c) }

// Room is a world with crowds.
type Room struct {
	World     World
	market    *market // of auctions with members that adapt, or nil
	crowds    []*Crowd
	isMixed   bool // fires of members have several sizes
	of        map[types.Address]*Crowd
	conductor types.Address
	lane      types.Cycles
	traffic   *Traffic
	blocks    uint64 // since the first of Run

	counted   uint64    // blocks since Reset
	fireless  uint64    // of them, those without a fire
	sent      uint64    // of them, those with a transaction of the traffic
	cellsPaid types.Wei // by the traffic, for its cells
	used      types.Cycles
	fees      squares // the lane's base fee of each block, in wei a cycle
	hurdles   big.Int // the sum of the larger of each fee and the one before
	lastFee   types.Wei
	medianTip types.Wei // of the fires of the last block that had some
	tipsPaid  types.Wei
	refusals  uint64
	asked     types.Cycles // that agents used
}

// LaneParams is a lane of some fires, whose limits are their use.
func LaneParams(fires uint64) params.Overrides {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	cycles := fires * fireCycles
	return params.Overrides{
		"cip1.lane_timer_cycles":                 number(cycles),
		"cip5.max_cycles_per_fire":               number(fireCycles),
		"cip1.max_cycles_per_fire_auction_phase": number(fireCycles),
		"cip5.max_cells_per_fire":                number(fireCells),
		"cip5.max_fires_per_block":               number(fires),
		"cip5.max_fires_per_actor":               number(fires),
		"cip5.max_timers_per_actor":              number(100_000),
		"cip3.block_cycles_limit":                number(400_000_000 + 8*cycles),
		"cip3.lane_user_cycles":                  number(200_000_000),
		"cip3.item_cycles":                       number(40_000_000),
		"cip3.block_cells_limit":                 number(1_000_000_000),
	}
}

// New makes the world, deploys the members and gives them their first orders. These are
// due from the block after Run begins.
func New(c Config) (*Room, error) {
	if c.Fires == 0 || c.Fires > MaxFires {
		return nil, fmt.Errorf("the lane holds 1 to %d fires a block; got %d", MaxFires, c.Fires)
	}
	r := &Room{crowds: c.Crowds, traffic: c.Traffic, of: map[types.Address]*Crowd{}, lane: types.Cycles(c.Fires * fireCycles)}
	if err := r.readSizes(c.Fires); err != nil {
		return nil, err
	}
	given := r.laneParams(c.Fires)
	for key, value := range c.Params { // order: into a map
		given[key] = value
	}
	accounts := []string{"conductor", trafficAccount}
	for _, crowd := range c.Crowds {
		if crowd.Members < 1 || crowd.Members > MaxMembers {
			return nil, fmt.Errorf("the crowd %s has 1 to %d members; got %d", crowd.Name, MaxMembers, crowd.Members)
		}
		for k := range max(1, crowd.Deployers) {
			accounts = append(accounts, crowd.deployerName(k))
		}
		crowd.stream = draw.New(c.Seed, "crowd "+crowd.Name)
		crowd.Counts.decayPermille = crowd.DecayPermille
	}
	slices.Sort(accounts)
	open := c.Open
	if open == nil {
		open = openBare
	}
	world, err := open(c.Seed, bare.Config{Params: given, Programs: Host{c.Seed}, Accounts: slices.Compact(accounts),
		Validators: c.Validators, Observe: r.countBlock})
	if err != nil {
		return nil, err
	}
	if r.market, err = newMarket(c.Fires, world.Head().NextParams(), c.Crowds); err != nil {
		return nil, err
	}
	if r.market != nil && r.isMixed {
		return nil, errMixedMarket
	}
	r.World = world
	return r, r.deployMembers()
}

func (c *Crowd) deployerName(k int) string {
	if c.Deployers > 1 {
		return fmt.Sprintf("%s %d", c.Name, k)
	}
	return c.Name
}

// memberFunds is what a member begins with: enough for any price that a test of a rule
// asks for.
var memberFunds = bare.Balance.Div(1 << 20)

func (r *Room) deployMembers() (err error) {
	if r.conductor, err = r.World.Deploy("conductor", "conductor", []byte(programCode), types.Wei{}); err != nil {
		return err
	}
	for _, c := range r.crowds {
		for i := range c.Members {
			account := c.deployerName(i % max(1, c.Deployers))
			at, err := r.World.Deploy(account, fmt.Sprintf("%s-%d", c.Name, i), []byte(r.codeOf(c)), memberFunds)
			if err != nil {
				return err
			}
			c.addresses = append(c.addresses, at)
			if r.of[at] != nil {
				return fmt.Errorf("two crowds are called %s: give one another name", c.Name)
			}
			r.of[at] = c
		}
		r.market.admitMembers(c)
	}
	if err := r.World.Settle(); err != nil {
		return err
	}
	for _, c := range r.crowds {
		if c.Begin == nil {
			continue
		}
		orders := map[int][]Order{}
		for i := range c.Members {
			orders[i] = c.Begin(i, c.stream)
			for k := range orders[i] {
				orders[i][k].Slot = uint64(k)
				orders[i][k].In += c.After
				if c.Leaves > 0 {
					orders[i][k].Until = &c.Leaves
				}
			}
		}
		if err := r.submitOrders(c, orders); err != nil {
			return err
		}
	}
	return r.World.Settle()
}

// errandsAtOnce bounds the orders of a transaction.
const errandsAtOnce = 2_000

// submitOrders submits orders of a crowd, by members.
func (r *Room) submitOrders(c *Crowd, orders map[int][]Order) error {
	now := uint64(r.World.Head().Header().Height)
	for i := range c.addresses {
		for k := range orders[i] {
			if o := &orders[i][k]; o.Until != nil {
				until := now + 1 + *o.Until
				o.Until = &until
			}
		}
	}
	var errands []errand
	waiting := 0
	flush := func() error {
		if len(errands) == 0 {
			return nil
		}
		err := r.World.Call("conductor", r.conductor, "conduct", appendErrands(nil, errands))
		errands, waiting = nil, 0
		return err
	}
	all := 0
	for i, at := range c.addresses {
		for mine := orders[i]; len(mine) > 0; {
			part := mine[:min(len(mine), errandsAtOnce-waiting)]
			mine = mine[len(part):]
			errands, waiting = append(errands, errand{Member: at, Orders: part}), waiting+len(part)
			all += len(part)
			if waiting == errandsAtOnce {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	if all > MaxOrders {
		return fmt.Errorf("the crowd %s has at most %d orders a block; got %d", c.Name, MaxOrders, all)
	}
	return flush()
}

// Run makes blocks, each after the orders of its crowds.
func (r *Room) Run(blocks uint64) error {
	for range blocks {
		for _, c := range r.crowds {
			if c.Tick == nil {
				continue
			}
			if err := r.submitOrders(c, c.Tick(Outlook{r.blocks, r}, c.stream)); err != nil {
				return err
			}
		}
		if err := r.sendTraffic(); err != nil {
			return err
		}
		r.blocks++
		if err := r.World.Step(); err != nil {
			return err
		}
	}
	return nil
}

// trafficAccount signs the transactions of the traffic.
const trafficAccount = "traffic"

func (r *Room) sendTraffic() error {
	if r.traffic == nil {
		return nil
	}
	cost, ok, err := r.World.Fill(trafficAccount, r.conductor, "ignore", r.traffic.Cells, r.traffic.Most)
	if ok {
		r.sent, r.cellsPaid = r.sent+1, r.cellsPaid.Add(cost)
	}
	return err
}

// countBlock counts what a block did.
func (r *Room) countBlock(result *ledger.Result) {
	r.counted++
	r.used += result.Lane.Cycles
	before := r.lastFee
	r.lastFee = result.Block.Header.BaseFeeLaneTimer
	if before.Less(r.lastFee) {
		before = r.lastFee
	}
	r.hurdles.Add(&r.hurdles, before.Big())
	r.fees.addSquare(r.lastFee.Big())
	r.tipsPaid = r.tipsPaid.Add(result.Tips.Timers)
	r.asked += result.Lane.AskCycles
	r.market.noteBlock(result)
	for _, c := range r.crowds {
		c.Counts.leads = isAmongFirst(result.Block.Header.Proposer, result.State, c.Validators)
		if c.Counts.leads {
			c.Counts.Earned = c.Counts.Earned.Add(result.Tips.Timers)
		}
	}
	var tips []types.Wei
	values := valuesOf(result.Receipts)
	for i := range result.Timers {
		change := &result.Timers[i]
		var value uint64
		if change.Status == types.TimerFired {
			tips = append(tips, change.Priority)
			value, values = values[0], values[1:]
		}
		if c := r.of[change.Timer.Actor]; c != nil {
			c.Counts.noteChange(change, value)
		}
	}
	if len(tips) == 0 {
		r.fireless++
	} else {
		slices.SortFunc(tips, types.Wei.Cmp)
		r.medianTip = tips[(len(tips)-1)/2]
	}
	for i := range result.Receipts {
		if receipt := &result.Receipts[i]; receipt.To == r.conductor && len(receipt.Output) == 8 {
			r.refusals += binary.BigEndian.Uint64(receipt.Output)
		}
	}
}

// valuesOf are the values of the fires of a block, which their programs returned, in the
// order of the fires.
func valuesOf(receipts []types.Receipt) (values []uint64) {
	for i := range receipts {
		if r := &receipts[i]; r.Origin == types.OriginTimer {
			if r.Status != types.StatusOK {
				panic(fmt.Sprintf("crowd: the fire of a member ended with %s: %v", r.Status, r.Error))
			}
			values = append(values, binary.BigEndian.Uint64(r.Output))
		}
	}
	return values
}

// Reset begins all figures anew: what came before was the warm-up.
func (r *Room) Reset() {
	r.counted, r.used, r.fees, r.hurdles, r.tipsPaid, r.refusals = 0, 0, squares{}, big.Int{}, types.Wei{}, 0
	r.fireless, r.sent, r.cellsPaid, r.asked = 0, 0, types.Wei{}, 0
	for _, c := range r.crowds {
		c.Counts.Reset()
		c.Adapts.resetFigures()
	}
}

// Blocks is how many blocks the figures are of.
func (r *Room) Blocks() uint64 { return r.counted }

// Fired is how many timers of all crowds fired.
func (r *Room) Fired() (n uint64) {
	for _, c := range r.crowds {
		n += c.Counts.Fired
	}
	return n
}

// Fireless is how many blocks had no fire.
func (r *Room) Fireless() uint64 { return r.fireless }

// TrafficSent is how many blocks the traffic sent a transaction for, and what it paid for the
// cells of all, in wei.
func (r *Room) TrafficSent() (blocks uint64, paid types.Wei) { return r.sent, r.cellsPaid }

// Refused is how many orders of ticks the chain refused.
func (r *Room) Refused() uint64 { return r.refusals }

// Use is the cycles that fires used, and those that the lane had.
func (r *Room) Use() (used, had types.Cycles) { return r.used, r.lane * types.Cycles(r.counted) }

// Asked is the cycles that agents used.
func (r *Room) Asked() types.Cycles { return r.asked }

// LaneFee is the lane's base fee of the last block, in wei a cycle.
func (r *Room) LaneFee() types.Wei { return r.lastFee }

// LaneFees is the sum of the lane's base fees over the blocks.
func (r *Room) LaneFees() *big.Int { return new(big.Int).Set(&r.fees.sum) }

// LaneHurdles is the sum over the blocks of what an order for the next block had to state as
// its max fee: the lane's base fee when it was scheduled and when it fired.
func (r *Room) LaneHurdles() *big.Int { return new(big.Int).Set(&r.hurdles) }

// LaneFeeVariation is the squared coefficient of variation of the lane's base fee, as a
// fraction.
func (r *Room) LaneFeeVariation() (num, den *big.Int) { return r.fees.squaredVariation() }

// MedianTip is the lower median of the tips of the last block with fires, in wei a cycle;
// of an auction, of the bids.
func (r *Room) MedianTip() types.Wei { return r.medianTip }

// Tips is what the proposer earned by fires, in wei.
func (r *Room) Tips() types.Wei { return r.tipsPaid }
