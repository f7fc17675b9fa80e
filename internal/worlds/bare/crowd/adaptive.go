package crowd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// mostShare is the highest share of a value that a best response bids, in thousandths.
const mostShare = 1500

// MaxMemory bounds the blocks that a best response looks back on.
const MaxMemory = 1_000

// BestResponse has each member of a crowd of bidders bid what would have earned it most in the
// blocks that it remembers, the others' bids as they were: a share of its value. It knows the rule of payment and
// sees all bids, which the chain shows, so that its next order answers the block before. Where its share is among the best it
// keeps it, and otherwise takes the lowest of the best.
type BestResponse struct {
	Memory int    // blocks, at least 1
	Step   uint64 // thousandths between two shares, at least 1

	shares  []uint64 // by member, in thousandths
	members []memory
	blocks  uint64 // that shares were chosen for, times members, since the last Reset
	sum     uint64 // of the shares chosen
	moved   uint64 // by how much they were other than the ones before
}

// memory is what a member remembers.
type memory struct {
	seen   []auctionSeen
	oldest int     // its place in seen, once that is full
	earned []int64 // by share in steps: what its bids would have earned in what was seen
}

// auctionSeen is an auction as a member saw it.
type auctionSeen struct{ value, hurdle uint64 }

// takeShares takes the shares, by member, that it is to change.
func (b *BestResponse) takeShares(shares []uint64) {
	if b == nil {
		return
	}
	b.shares, b.members = shares, make([]memory, len(shares))
	for i := range b.members {
		b.members[i].earned = make([]int64, mostShare/b.Step+1)
	}
}

func (b *BestResponse) resetFigures() {
	if b != nil {
		b.blocks, b.sum, b.moved = 0, 0, 0
	}
}

// Shares is the sum of the shares that members bid since the last Reset, in thousandths, and how many there were.
func (b *BestResponse) Shares() (sum, count uint64) { return b.sum, b.blocks }

// Moves is the sum of the changes of the shares since the last Reset, in thousandths, and how many shares there were.
func (b *BestResponse) Moves() (sum, count uint64) { return b.moved, b.blocks }

// answerAuction has a member answer an auction.
func (b *BestResponse) answerAuction(member int, saw auctionSeen, m *market) {
	b.rememberAuction(&b.members[member], saw, m)
	before := b.shares[member]
	after := b.bestShare(before, &b.members[member], m)
	b.shares[member] = after
	b.blocks, b.sum, b.moved = b.blocks+1, b.sum+after, b.moved+max(before, after)-min(before, after)
}

// rememberAuction adds an auction to a memory, and forgets the oldest of a full one.
func (b *BestResponse) rememberAuction(of *memory, saw auctionSeen, m *market) {
	if len(of.seen) < b.Memory {
		of.seen = append(of.seen, saw)
	} else {
		for i := range of.earned {
			of.earned[i] -= m.earningsOf(uint64(i)*b.Step, of.seen[of.oldest])
		}
		of.seen[of.oldest] = saw
		of.oldest = (of.oldest + 1) % b.Memory
	}
	for i := range of.earned {
		of.earned[i] += m.earningsOf(uint64(i)*b.Step, saw)
	}
}

func (b *BestResponse) bestShare(now uint64, of *memory, m *market) uint64 {
	best, most := now, int64(0)
	for _, saw := range of.seen {
		most += m.earningsOf(now, saw)
	}
	for i, earned := range of.earned {
		if earned > most {
			best, most = uint64(i)*b.Step, earned
		}
	}
	return best
}

// market is the bids of an auction lane, as the chain shows them to who adapts and to shills.
type market struct {
	fires        int
	reserve      uint64
	paysOwnBid   bool // by the first price
	reserveHolds bool
	open         []openBid // in the order of their scheduling
	members      map[types.Address]adapting
}

// openBid is a timer that has not ended.
type openBid struct {
	actor         types.Address
	from, through types.Height // the blocks whose auctions it is in
	id            types.TimerID
	bid, value    uint64
}

// adapting is a member that adapts.
type adapting struct {
	by     *BestResponse
	member int
}

var errNoAuction = errors.New("best_response and shills answer the bids of an auction: set cip1.policy to bias-vcg or bias-first-price")

var errMixedMarket = errors.New("best_response and shills count winners by fires of one size: leave out size, or them")

// newMarket is nil where no crowd reads bids.
func newMarket(fires uint64, p *params.Params, crowds []*Crowd) (*market, error) {
	if !slices.ContainsFunc(crowds, func(c *Crowd) bool { return c.Adapts != nil || c.ReadsBids }) {
		return nil, nil
	}
	if p.Policy != "bias-vcg" && p.Policy != "bias-first-price" {
		return nil, errNoAuction
	}
	reserve, fits := p.BiasReservePrice.Uint64()
	if !fits {
		return nil, fmt.Errorf("bids are counted in 64 bits, and the reserve price of %s wei needs more", p.BiasReservePrice)
	}
	return &market{fires: int(fires), reserve: reserve, paysOwnBid: p.Policy == "bias-first-price",
		reserveHolds: p.BiasReserveHolds, members: map[types.Address]adapting{}}, nil
}

// admitMembers tells the market who adapts, once it is known by which address.
func (m *market) admitMembers(c *Crowd) {
	if m == nil || c.Adapts == nil {
		return
	}
	for i, at := range c.addresses {
		m.members[at] = adapting{c.Adapts, i}
	}
}

// earningsOf is what the bid of a share would have earned in an auction, the others' bids as they were.
func (m *market) earningsOf(share uint64, saw auctionSeen) int64 {
	bid := shareOf(saw.value, share)
	if bid <= saw.hurdle || m.reserveHolds && bid < m.reserve {
		return 0
	}
	paid := bid
	if !m.paysOwnBid {
		paid = min(bid, max(saw.hurdle, m.reserve))
	}
	return int64(saw.value) - int64(paid)
}

// noteBlock has who adapts learn of a block's auction, and notes the bids of the next.
func (m *market) noteBlock(result *ledger.Result) {
	if m == nil {
		return
	}
	m.tellMembers(result.Block.Header.Height)
	for i := range result.Timers {
		change := &result.Timers[i]
		if change.Kind == types.ChangeScheduled {
			m.open = append(m.open, newOpenBid(&change.Timer))
		} else if change.Status != types.TimerPending {
			m.open = slices.DeleteFunc(m.open, func(b openBid) bool { return b.id == change.Timer.ID })
		}
	}
}

func newOpenBid(t *types.Timer) openBid {
	o, err := decodeOrder(t.Payload)
	if err != nil {
		panic(err)
	}
	bid, fits := t.Bid.Uint64()
	if !fits {
		panic("crowd: a bid of a member needs more than 64 bits: " + t.Bid.String())
	}
	return openBid{actor: t.Actor, from: t.Height, through: t.ExpiresAt, id: t.ID, bid: bid, value: o.Value}
}

// bidsAt are the bids of the auction at a height, as far as they are known, the highest first.
func (m *market) bidsAt(height types.Height) (bids []openBid) {
	for _, b := range m.open {
		if b.from <= height && height <= b.through {
			bids = append(bids, b)
		}
	}
	slices.SortStableFunc(bids, func(a, b openBid) int { return cmp.Compare(b.bid, a.bid) })
	return bids
}

func (m *market) tellMembers(now types.Height) {
	bids := m.bidsAt(now)
	for _, own := range bids {
		if one, adapts := m.members[own.actor]; adapts {
			one.by.answerAuction(one.member, auctionSeen{value: own.value, hurdle: m.hurdleFor(own.actor, bids)}, m)
		}
	}
}

// hurdleFor is the bid of others that an actor has to exceed: of so many as fires have room, the lowest.
func (m *market) hurdleFor(actor types.Address, bids []openBid) uint64 {
	left := m.fires
	for _, b := range bids {
		if b.actor == actor {
			continue
		}
		if left--; left == 0 {
			return b.bid
		}
	}
	return 0
}
