package crowd

import "github.com/cowboyinc/devnet/internal/base/draw"

// richFee is a max fee that no base fee of an experiment reaches, in wei a cycle.
const richFee uint64 = 1 << 62

// Price is what a crowd offers for a fire.
type Price struct {
	Tip    uint64  // wei a cycle
	MaxFee *uint64 // wei a cycle; nil: more than any base fee
}

func (p Price) newOrder() Order {
	most := richFee
	if p.MaxFee != nil {
		most = *p.MaxFee
	}
	return Order{Tip: &p.Tip, MaxFee: &most}
}

// AlwaysDue is a closed loop: each member has timers that are due again in 1..spread blocks
// after each fire.
func AlwaysDue(name string, members, timers int, spread uint64, price Price) *Crowd {
	return newRepeatingCrowd(name, members, timers, 1, spread, price)
}

// Heartbeats are members that fire once in every blocks, give or take jitter.
func Heartbeats(name string, members int, every, jitter uint64, price Price) *Crowd {
	return newRepeatingCrowd(name, members, 1, every-jitter, every+jitter, price)
}

func newRepeatingCrowd(name string, members, timers int, least, most uint64, price Price) *Crowd {
	return &Crowd{Name: name, Members: members, Begin: func(_ int, s *draw.Stream) (orders []Order) {
		for range timers {
			o := price.newOrder()
			o.In, o.Least, o.Most = s.Uniform(1, most), least, most
			orders = append(orders, o)
		}
		return orders
	}}
}

// Bursts are members with timers that are due again in 1..spread blocks after each fire, for some blocks, and rest for others, again and
// again.
func Bursts(name string, members, timers int, spread, blocks, rest uint64, price Price) *Crowd {
	return &Crowd{Name: name, Members: members, Tick: func(sees Outlook, s *draw.Stream) map[int][]Order {
		if sees.Since%(blocks+rest) != 0 {
			return nil
		}
		orders := make(map[int][]Order, members)
		for i := range members {
			for k := range timers {
				o := price.newOrder()
				o.In, o.Least, o.Most = s.Uniform(1, spread), 1, spread
				o.Until, o.Slot, o.Count = &blocks, uint64(k), sees.Since
				orders[i] = append(orders[i], o)
			}
		}
		return orders
	}}
}

// Quiet are members of which each orders a timer for the next block once in every blocks on
// average, each block alike.
func Quiet(name string, members int, every uint64, price Price) *Crowd {
	return &Crowd{Name: name, Members: members, Tick: func(_ Outlook, s *draw.Stream) map[int][]Order {
		orders := map[int][]Order{}
		for i := range members {
			if s.Bernoulli(draw.Ratio{Num: 1, Den: every}) {
				o := price.newOrder()
				o.In = 1
				orders[i] = []Order{o}
			}
		}
		return orders
	}}
}

// Elastic are users that pay at most what a fire is worth to them: orders a block for the
// next, of values of 0..top wei a cycle, each alike. The value is the max fee, without a
// tip. An order gives up after patience blocks.
func Elastic(name string, orders int, top, patience uint64) *Crowd {
	return eachBlock(name, orders, func(s *draw.Stream) Order {
		value, tip := s.Uniform(0, top), uint64(0)
		return Order{In: 1, Patience: &patience, MaxFee: &value, Tip: &tip, Value: value}
	})
}

// eachBlock are members that each order one timer a block.
func eachBlock(name string, members int, order func(*draw.Stream) Order) *Crowd {
	return &Crowd{Name: name, Members: members, Tick: func(_ Outlook, s *draw.Stream) map[int][]Order {
		orders := make(map[int][]Order, members)
		for i := range members {
			orders[i] = []Order{order(s)}
		}
		return orders
	}}
}

// Tiers are members that each order a timer a block, due after in blocks: a share of them
// hints urgent, the others standard. The first ones state a tip, from which the median
// begins.
func Tiers(name string, members int, urgentPermille, in, firstTip uint64) *Crowd {
	c := &Crowd{Name: name, Members: members}
	c.Tick = func(sees Outlook, s *draw.Stream) map[int][]Order {
		orders := make(map[int][]Order, members)
		for i := range members {
			most := richFee
			o := Order{In: in, MaxFee: &most, Tier: "standard"}
			if s.Bernoulli(draw.Ratio{Num: urgentPermille, Den: permille}) {
				o.Tier = "urgent"
			}
			if sees.Since <= in {
				o.Tier, o.Tip = "", &firstTip
			}
			orders[i] = []Order{o}
		}
		return orders
	}
	return c
}

// Bids is how bidders of an auction value and bid.
type Bids struct {
	Top      uint64   // values are 0..Top wei, each alike
	Permille uint64   // the share of a value that is bid
	Each     []uint64 // the shares of the first members, where they differ
	Patience *uint64  // blocks; nil: as long as the chain allows
	In       uint64   // blocks from a bid until its auction; 0: one
	AreKept  bool     // a member draws its value once, not for each block
	// AreTips says that values and bids are a cycle: the bid is a timer's tip, and the value its max fee.
	AreTips bool
	// RaisePermille has the members' agents asked for their tips (Order.RaisePermille); nil: the share is the tip.
	RaisePermille *uint64
	Adapts        *BestResponse // how members choose their shares from the second block on; nil: they keep them
}

func (b *Bids) shareOf(member int) uint64 {
	if member < len(b.Each) {
		return b.Each[member]
	}
	return b.Permille
}

func (b *Bids) newOrder(share uint64, s *draw.Stream) Order {
	if b.AreTips {
		return b.newTip(share, s.Uniform(0, b.Top))
	}
	o := Order{In: max(1, b.In), Patience: b.Patience, BidPermille: &share}
	o.drawValue(s.Uniform(0, b.Top))
	return o
}

func (b *Bids) newTip(share, value uint64) Order {
	o := Order{In: max(1, b.In), Patience: b.Patience, Value: value, MaxFee: &value, RaisePermille: b.RaisePermille}
	if tip := shareOf(value, share); b.RaisePermille == nil {
		o.Tip = &tip
	}
	return o
}

// Bidders are members that each bid for a fire in every block.
func Bidders(name string, members int, bids Bids) *Crowd {
	shares := make([]uint64, max(0, members))
	for i := range shares {
		shares[i] = bids.shareOf(i)
	}
	bids.Adapts.takeShares(shares)
	var kept []Order
	c := &Crowd{Name: name, Members: members, Adapts: bids.Adapts, HasAgents: bids.RaisePermille != nil}
	c.Tick = func(_ Outlook, s *draw.Stream) map[int][]Order {
		orders := make(map[int][]Order, members)
		for i, share := range shares {
			var o Order
			if i < len(kept) {
				o = kept[i]
				if o.BidPermille != nil {
					o.BidPermille = &share
					o.drawValue(o.Value)
				}
			} else if o = bids.newOrder(share, s); bids.AreKept {
				kept = append(kept, o)
			}
			orders[i] = []Order{o}
		}
		return orders
	}
	return c
}

// PatientBidders are members that each bid for one fire until they have it, and then for
// the next, of another value. What a fire is worth decays while it waits.
func PatientBidders(name string, members int, bids Bids, decayPermille uint64) *Crowd {
	return &Crowd{Name: name, Members: members, DecayPermille: decayPermille, Begin: func(i int, s *draw.Stream) []Order {
		o := bids.newOrder(bids.shareOf(i), s)
		o.Least, o.Most, o.Top = 1, 1, bids.Top
		return []Order{o}
	}}
}
