package lab

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/cowboyinc/devnet/internal/base/draw"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/bare/attest"
	"github.com/cowboyinc/devnet/internal/worlds/bare/crowd"
)

// maxBlocks bounds the blocks of a row.
const maxBlocks = 1_000_000

// Row is what a point came to with a seed.
type Row struct {
	Key     string
	Point   int // its index
	Seed    uint64
	Figures []float64 // by measure
	Digest  string    // of the state at the end
	Blocks  uint64
	Fires   uint64
}

// Play makes the row of a point and a seed. Its error is a mistake of the file, or a rule
// that the ledger broke.
func (e *Experiment) Play(p Point, seed uint64) (Row, error) {
	row, err := e.playRow(p, seed)
	if err != nil {
		return row, fmt.Errorf("%s %s seed=%d: %w", e.Name, e.Describe(p), seed, err)
	}
	return row, nil
}

func (e *Experiment) playRow(p Point, seed uint64) (row Row, err error) {
	thread, at := newThread(e.Name), e.pointValue(p)
	given, err := e.paramsOf(thread, at)
	if err != nil {
		return row, err
	}
	n := &net{seed: seed, params: given}
	if n.open, err = e.openerOf(p); err != nil {
		return row, err
	}
	defer n.closeRoom()
	result, err := starlark.Call(thread, e.play, starlark.Tuple{at, n}, nil)
	if err != nil {
		return row, withPosition(err)
	}
	row = Row{Key: e.Key(p, seed), Point: p.Index, Seed: seed}
	if err := n.describeWorld(&row); err != nil {
		return row, err
	}
	figures, isDict := result.(*starlark.Dict)
	if !isDict {
		return row, fmt.Errorf("play returns a dict of figures by measure; got %s", result.Type())
	}
	for _, m := range e.Measures {
		v, found, err := figures.Get(starlark.String(m.Name))
		if err != nil || !found {
			return row, fmt.Errorf("play returned no figure of %s", m.Name)
		}
		f, err := readFigure(m.Name, v)
		if err != nil {
			return row, err
		}
		row.Figures = append(row.Figures, f)
	}
	if figures.Len() != len(e.Measures) {
		return row, fmt.Errorf("play returned %d figures, and measures names %d", figures.Len(), len(e.Measures))
	}
	return row, nil
}

func (e *Experiment) paramsOf(thread *starlark.Thread, at starlark.Value) (params.Overrides, error) {
	given := params.Overrides{}
	if e.params == nil {
		return given, nil
	}
	result, err := starlark.Call(thread, e.params, starlark.Tuple{at}, nil)
	if err != nil {
		return nil, withPosition(err)
	}
	dict, isDict := result.(*starlark.Dict)
	if !isDict {
		return nil, fmt.Errorf("params returns a dict of parameters; got %s", result.Type())
	}
	for _, item := range dict.Items() {
		value := plainText(item[1])
		if b, isBool := item[1].(starlark.Bool); isBool {
			value = strings.ToLower(b.String())
		}
		given[plainText(item[0])] = value
	}
	return given, nil
}

// net is the bare world of a row as play sees it.
type net struct {
	seed      uint64
	params    params.Overrides
	open      crowd.Opener // nil: the bare world
	fires     uint64
	proposers int // validators; 0: as many as the world has by default
	crowds    []*crowd.Crowd
	traffic   *crowd.Traffic
	room      *crowd.Room
	votes     *attest.Counts // of net.presence; nil before
}

func (n *net) closeRoom() {
	if n.room != nil {
		n.room.World.Close()
	}
}

// String implements starlark.Value, as do the three below.
func (*net) String() string       { return "net" }
func (*net) Type() string         { return "net" }
func (*net) Freeze()              {}
func (*net) Truth() starlark.Bool { return true }

// Hash implements starlark.Value.
func (*net) Hash() (uint32, error) { return 0, errors.New("net cannot be a key") }

// maker makes a crowd of a call's arguments.
type maker func(name string, u unpack) (*crowd.Crowd, error)

// unpack reads the arguments of a call after the name of the crowd.
type unpack func(pairs ...any) error

var makers = map[string]maker{
	"always_due": func(name string, u unpack) (*crowd.Crowd, error) {
		members, timers, spread, price, deployers, after, leaves := 1, 1, uint64(1), crowd.Price{}, 1, uint64(0), uint64(0)
		size := 1
		err := u("members", &members, "timers?", &timers, "spread?", &spread, "tip?", &price.Tip, "deployers?", &deployers, "after?", &after,
			"leaves?", &leaves, "size?", &size)
		if err == nil {
			err = atLeastOne("timers", timers, "spread", int(spread), "deployers", deployers, "size", size)
		}
		c := crowd.AlwaysDue(name, members, timers, spread, price)
		c.Deployers, c.After, c.Leaves, c.Size = deployers, after, leaves, uint64(size)
		return c, err
	},
	"bursts": func(name string, u unpack) (*crowd.Crowd, error) {
		members, timers, spread, blocks, rest, price := 1, 1, uint64(1), uint64(0), uint64(0), crowd.Price{}
		err := u("members", &members, "timers?", &timers, "spread?", &spread, "blocks", &blocks, "rest", &rest, "tip?", &price.Tip)
		if err == nil {
			err = atLeastOne("timers", timers, "spread", int(spread), "blocks", int(blocks), "rest", int(rest))
		}
		return crowd.Bursts(name, members, timers, spread, blocks, rest, price), err
	},
	"heartbeats": func(name string, u unpack) (*crowd.Crowd, error) {
		members, every, jitter, price, deployers, after, leaves := 1, uint64(10), uint64(0), crowd.Price{}, 1, uint64(0), uint64(0)
		err := u("members", &members, "every", &every, "jitter?", &jitter, "tip?", &price.Tip, "deployers?", &deployers, "after?", &after,
			"leaves?", &leaves)
		if err == nil && jitter >= every {
			err = fmt.Errorf("jitter is below every; got %d and %d", jitter, every)
		}
		if err == nil {
			err = atLeastOne("deployers", deployers)
		}
		c := crowd.Heartbeats(name, members, every, jitter, price)
		c.Deployers, c.After, c.Leaves = deployers, after, leaves
		return c, err
	},
	"quiet": func(name string, u unpack) (*crowd.Crowd, error) {
		members, every, price, deployers := 1, uint64(10), crowd.Price{}, 1
		err := u("members", &members, "every", &every, "tip?", &price.Tip, "deployers?", &deployers)
		if err == nil {
			err = atLeastOne("every", int(every), "deployers", deployers)
		}
		c := crowd.Quiet(name, members, every, price)
		c.Deployers = deployers
		return c, err
	},
	"elastic": func(name string, u unpack) (*crowd.Crowd, error) {
		orders, top, patience := 1, uint64(0), uint64(0)
		err := u("orders", &orders, "top", &top, "patience?", &patience)
		return crowd.Elastic(name, orders, top, patience), err
	},
	"tiers": func(name string, u unpack) (*crowd.Crowd, error) {
		members, urgent, in, first := 1, uint64(0), uint64(1), uint64(100)
		err := u("members", &members, "urgent_permille", &urgent, "due_in?", &in, "first_tip?", &first)
		if err == nil {
			err = atLeastOne("due_in", int(in))
		}
		return crowd.Tiers(name, members, urgent, in, first), err
	},
	"bidders": func(name string, u unpack) (*crowd.Crowd, error) {
		members, bids, none, ahead, size := 1, crowd.Bids{}, uint64(0), 1, 1
		each := new(starlark.List)
		var adapts adaptation
		err := u("members", &members, "top", &bids.Top, "permille?", &bids.Permille, "each?", &each, "kept?", &bids.AreKept, "adapts?", &adapts,
			"tips?", &bids.AreTips, "ahead?", &ahead, "size?", &size)
		if err == nil {
			err = atLeastOne("ahead", ahead, "size", size)
		}
		bids.Patience, bids.In = &none, uint64(ahead)
		if err == nil {
			bids.Each, err = wholeNumbers("each", each)
		}
		if err == nil {
			err = adapts.applyTo(&bids)
		}
		c := crowd.Bidders(name, members, bids)
		c.Size = uint64(size)
		return c, err
	},
	"patient_bidders": func(name string, u unpack) (*crowd.Crowd, error) {
		members, bids, decay, size := 1, crowd.Bids{}, uint64(0), 1
		each := new(starlark.List)
		err := u("members", &members, "top", &bids.Top, "permille?", &bids.Permille, "each?", &each, "decay_permille?", &decay, "size?", &size)
		if err == nil {
			err = atLeastOne("size", size)
		}
		if err == nil {
			bids.Each, err = wholeNumbers("each", each)
		}
		if err == nil && decay > 1000 {
			err = fmt.Errorf("decay_permille is 0 to 1000; got %d", decay)
		}
		c := crowd.PatientBidders(name, members, bids, decay)
		c.Size = uint64(size)
		return c, err
	},
	"shill": func(name string, u unpack) (*crowd.Crowd, error) {
		var guess starlark.Value = starlark.None
		if err := u("guess?", &guess); err != nil || guess == starlark.None {
			return crowd.NewShill(name, crowd.Shill{}), err
		}
		var bid uint64
		if err := starlark.AsInt(guess, &bid); err != nil {
			return nil, fmt.Errorf("guess is a bid in wei: %w", err)
		}
		return crowd.NewShill(name, crowd.Shill{Guess: &bid}), nil
	},
	"self_tippers": func(name string, u unpack) (*crowd.Crowd, error) {
		validators, timers, price, isInEveryBlock := 1, 0, crowd.Price{}, false
		err := u("validators", &validators, "timers", &timers, "tip?", &price.Tip, "every_block?", &isInEveryBlock)
		if err == nil && (validators < 0 || validators > maxValidators) {
			err = fmt.Errorf("validators is 0 to %d; got %d", maxValidators, validators)
		}
		if err == nil && (timers < 0 || timers > crowd.MaxOrders) {
			err = fmt.Errorf("timers is 0 to %d; got %d", crowd.MaxOrders, timers)
		}
		return crowd.SelfTippers(name, validators, max(0, timers), isInEveryBlock, price), err
	},
}

func wholeNumbers(name string, list *starlark.List) (all []uint64, err error) {
	for i := range list.Len() {
		var n uint64
		if err := starlark.AsInt(list.Index(i), &n); err != nil {
			return nil, fmt.Errorf("%s is a list of whole numbers: %w", name, err)
		}
		all = append(all, n)
	}
	return all, nil
}

func atLeastOne(pairs ...any) error {
	for i := 0; i < len(pairs); i += 2 {
		if n := pairs[i+1].(int); n < 1 {
			return fmt.Errorf("%s is at least 1; got %d", pairs[i], n)
		}
	}
	return nil
}

// AttrNames implements starlark.HasAttrs.
func (n *net) AttrNames() []string {
	return slices.Sorted(maps.Keys(makers))
}

// figures are what a room tells, by the names of a script.
var figures = map[string]func(*crowd.Room) starlark.Value{
	"blocks":       func(r *crowd.Room) starlark.Value { return starlark.MakeUint64(r.Blocks()) },
	"fired":        func(r *crowd.Room) starlark.Value { return starlark.MakeUint64(r.Fired()) },
	"fireless":     func(r *crowd.Room) starlark.Value { return starlark.MakeUint64(r.Fireless()) },
	"refused":      func(r *crowd.Room) starlark.Value { return starlark.MakeUint64(r.Refused()) },
	"tips":         func(r *crowd.Room) starlark.Value { return weiValue(r.Tips()) },
	"median_tip":   func(r *crowd.Room) starlark.Value { return weiValue(r.MedianTip()) },
	"last_fee":     func(r *crowd.Room) starlark.Value { return weiValue(r.LaneFee()) },
	"asked_cycles": func(r *crowd.Room) starlark.Value { return starlark.MakeUint64(uint64(r.Asked())) },
	"state_keys":   func(r *crowd.Room) starlark.Value { return starlark.MakeInt(r.World.Head().Len()) },
	"traffic_blocks": func(r *crowd.Room) starlark.Value {
		sent, _ := r.TrafficSent()
		return starlark.MakeUint64(sent)
	},
	"traffic_paid": func(r *crowd.Room) starlark.Value {
		_, paid := r.TrafficSent()
		return weiValue(paid)
	},
	"use": func(r *crowd.Room) starlark.Value {
		used, had := r.Use()
		return nearestRatio(new(big.Int).SetUint64(uint64(used)), new(big.Int).SetUint64(uint64(had)))
	},
	"fee": func(r *crowd.Room) starlark.Value {
		return nearestRatio(r.LaneFees(), new(big.Int).SetUint64(r.Blocks()))
	},
	"hurdle": func(r *crowd.Room) starlark.Value {
		return nearestRatio(r.LaneHurdles(), new(big.Int).SetUint64(r.Blocks()))
	},
	"fee_cv": func(r *crowd.Room) starlark.Value {
		num, den := r.LaneFeeVariation()
		return starlark.Float(math.Sqrt(float64(nearestRatio(num, den))))
	},
}

func weiValue(w types.Wei) starlark.Value { return starlark.MakeBigInt(w.Big()) }

// nearestRatio is a fraction as the nearest number, 0 for an empty one.
func nearestRatio(num, den *big.Int) starlark.Float {
	if den.Sign() == 0 {
		return 0
	}
	f, _ := new(big.Rat).SetFrac(num, den).Float64()
	return starlark.Float(f)
}

// Attr implements starlark.HasAttrs.
func (n *net) Attr(name string) (starlark.Value, error) {
	if figure := figures[name]; figure != nil {
		if n.room == nil {
			return nil, fmt.Errorf("net.%s is known after net.run(blocks = …)", name)
		}
		return figure(n.room), nil
	}
	if make := makers[name]; make != nil {
		return starlark.NewBuiltin("net."+name, n.addCrowd(make)), nil
	}
	switch name {
	case "lane":
		return starlark.NewBuiltin("net.lane", n.setLane), nil
	case "validators":
		return starlark.NewBuiltin("net.validators", n.setValidators), nil
	case "traffic":
		return starlark.NewBuiltin("net.traffic", n.setTraffic), nil
	case "run":
		return starlark.NewBuiltin("net.run", n.runBlocks), nil
	case "presence":
		return starlark.NewBuiltin("net.presence", n.playPresence), nil
	case "draws":
		return starlark.NewBuiltin("net.draws", n.newDraws), nil
	}
	return nil, nil
}

func (n *net) addCrowd(make maker) func(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if n.room != nil {
			return nil, fmt.Errorf("%s: crowds come before the first net.run", b.Name())
		}
		if len(args) != 1 {
			return nil, fmt.Errorf("%s takes the crowd's name, and all else by name", b.Name())
		}
		name, isText := starlark.AsString(args[0])
		if !isText || name == "" || name == "conductor" {
			return nil, fmt.Errorf("%s: a crowd's name is a text, and not conductor; got %s", b.Name(), args[0])
		}
		c, err := make(name, func(pairs ...any) error { return starlark.UnpackArgs(b.Name(), nil, kwargs, pairs...) })
		if err != nil {
			return nil, err
		}
		n.crowds = append(n.crowds, c)
		return &members{c}, nil
	}
}

func (n *net) setLane(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if n.room != nil {
		return nil, errors.New("net.lane comes before the first net.run")
	}
	return starlark.None, starlark.UnpackArgs(b.Name(), args, kwargs, "fires", &n.fires)
}

// maxValidators bounds those of a run.
const maxValidators = 100

// setValidators says how many validators propose in turn.
func (n *net) setValidators(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	if n.room != nil {
		return nil, errors.New("net.validators comes before the first net.run")
	}
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "number", &n.proposers); err != nil {
		return nil, err
	}
	if n.proposers < 1 || n.proposers > maxValidators {
		return nil, fmt.Errorf("net.validators takes 1 to %d; got %d", maxValidators, n.proposers)
	}
	return starlark.None, nil
}

// setTraffic has a transaction take cells of each block.
func (n *net) setTraffic(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if n.room != nil || n.traffic != nil {
		return nil, errors.New("net.traffic comes once, before the first net.run")
	}
	var cells, most uint64
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "cells", &cells, "most", &most); err != nil {
		return nil, err
	}
	if cells < crowd.LeastTraffic || cells > crowd.MostTraffic {
		return nil, fmt.Errorf("net.traffic takes %d to %d cells a block; got %d", crowd.LeastTraffic, crowd.MostTraffic, cells)
	}
	n.traffic = &crowd.Traffic{Cells: types.Cells(cells), Most: types.WeiOf(most)}
	return starlark.None, nil
}

// runBlocks makes blocks. What ends in the warm ones is not counted.
func (n *net) runBlocks(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var blocks, warm uint64
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "blocks", &blocks, "warm?", &warm); err != nil {
		return nil, err
	}
	if n.votes != nil {
		return nil, errors.New("net.run: this run is of net.presence, which stands alone")
	}
	if blocks == 0 || blocks > maxBlocks || warm > maxBlocks {
		return nil, fmt.Errorf("net.run takes 1 to %d blocks, and as many warm ones; got %d and %d", maxBlocks, blocks, warm)
	}
	if n.room == nil {
		room, err := crowd.New(crowd.Config{Seed: n.seed, Fires: n.fires, Params: n.params, Crowds: n.crowds, Traffic: n.traffic,
			Validators: n.proposers, Open: n.open})
		if err != nil {
			return nil, err
		}
		n.room = room
	}
	if err := n.room.Run(warm); err != nil {
		return nil, err
	}
	n.room.Reset()
	return starlark.None, n.room.Run(blocks)
}

// members is a crowd as play sees it.
type members struct{ of *crowd.Crowd }

// String implements starlark.Value, as do the four below.
func (m *members) String() string      { return m.of.Name }
func (*members) Type() string          { return "crowd" }
func (*members) Freeze()               {}
func (*members) Truth() starlark.Bool  { return true }
func (*members) Hash() (uint32, error) { return 0, errors.New("a crowd cannot be a key") }

var counts = map[string]func(*crowd.Counts) starlark.Value{
	"scheduled": func(c *crowd.Counts) starlark.Value { return starlark.MakeUint64(c.Scheduled) },
	"fired":     func(c *crowd.Counts) starlark.Value { return starlark.MakeUint64(c.Fired) },
	"expired":   func(c *crowd.Counts) starlark.Value { return starlark.MakeUint64(c.Expired) },
	"insolvent": func(c *crowd.Counts) starlark.Value { return starlark.MakeUint64(c.Insolvent) },
	"paid":      func(c *crowd.Counts) starlark.Value { return weiValue(c.Paid) },
	"tips":      func(c *crowd.Counts) starlark.Value { return weiValue(c.Tips) },
	"returned":  func(c *crowd.Counts) starlark.Value { return weiValue(c.Returned) },
	"earned":    func(c *crowd.Counts) starlark.Value { return weiValue(c.Earned) },
	"worth":     func(c *crowd.Counts) starlark.Value { return weiValue(c.Worth) },
	"wait_mean": func(c *crowd.Counts) starlark.Value {
		return nearestRatio(new(big.Int).SetUint64(c.WaitSum()), new(big.Int).SetUint64(c.Fired))
	},
	"wait_longest": func(c *crowd.Counts) starlark.Value { return starlark.MakeUint64(c.WaitLongest()) },
	"wait_p99":     func(c *crowd.Counts) starlark.Value { return starlark.MakeUint64(c.WaitOf(990)) },
}

// adaptiveFigures are what the members of a crowd did that adapts, a member and a block, in parts of a value.
var adaptiveFigures = map[string]func(*crowd.BestResponse) (sum, count uint64){
	"share": (*crowd.BestResponse).Shares,
	"moves": (*crowd.BestResponse).Moves,
}

// AttrNames implements starlark.HasAttrs.
func (*members) AttrNames() []string {
	return slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(counts)), slices.Collect(maps.Keys(adaptiveFigures)))))
}

// Attr implements starlark.HasAttrs.
func (m *members) Attr(name string) (starlark.Value, error) {
	if count := counts[name]; count != nil {
		return count(&m.of.Counts), nil
	}
	if figure := adaptiveFigures[name]; figure != nil {
		if m.of.Adapts == nil {
			return nil, fmt.Errorf("%s.%s is of a crowd with adapts = best_response(…)", m.of.Name, name)
		}
		sum, count := figure(m.of.Adapts)
		return nearestRatio(new(big.Int).SetUint64(sum), new(big.Int).SetUint64(1000*count)), nil
	}
	return nil, nil
}

// naturalLogarithm is ln(num, den = 1) of whole numbers, by integers: all machines give one figure.
func naturalLogarithm(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var num, den uint64 = 0, 1
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "num", &num, "den?", &den); err != nil {
		return nil, err
	}
	if num == 0 || den == 0 {
		return nil, fmt.Errorf("ln takes whole numbers above 0; got %d and %d", num, den)
	}
	return starlark.Float(float64(int64(draw.Log(num))-int64(draw.Log(den))) / (1 << 32)), nil
}

// newDraws is a stream of random figures with a name.
func (n *net) newDraws(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name); err != nil {
		return nil, err
	}
	stream := draw.New(n.seed, "script "+name)
	return starlark.NewBuiltin("uniform", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (
		starlark.Value, error) {
		var least, most uint64
		if err := starlark.UnpackArgs(b.Name(), args, kwargs, "least", &least, "most", &most); err != nil {
			return nil, err
		}
		if least > most {
			return nil, fmt.Errorf("uniform takes least and most; got %d above %d", least, most)
		}
		return starlark.MakeUint64(stream.Uniform(least, most)), nil
	}), nil
}
