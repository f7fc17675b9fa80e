package scheduler

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// GBAContext is what a gas bidding agent is told (CIP-1 §7.2): a CBOR map with
// the spec's names (decision T14). Amounts are in wei and exceed the spec's u128
// where the chain's do.
type GBAContext struct {
	TriggerBlockHeight types.Height `cbor:"trigger_block_height"`
	CurrentBlockHeight types.Height `cbor:"current_block_height"`
	BaseFeeCycle       types.Wei    `cbor:"basefee_cycle"`
	BaseFeeCell        types.Wei    `cbor:"basefee_cell"`
	BaseFeeLaneTimer   types.Wei    `cbor:"basefee_lane_timer"`
	LastBlockCycles    types.Cycles `cbor:"last_block_cycle_usage"`
	PreviousP50        types.Wei    `cbor:"previous_block_p50_priority_tip_per_cycle"`
	OwnerBalance       types.Wei    `cbor:"owner_actor_balance"`
}

// TxFeeParams is what it answers (CIP-1 §7.1): a CBOR map with the spec's names.
// A number that is null or missing is the default GBA's. The cell side is read
// and has no effect (decision T13).
type TxFeeParams struct {
	MaxFeePerCycle         *types.Wei `cbor:"max_fee_per_cycle,omitempty"`
	MaxPriorityFeePerCycle *types.Wei `cbor:"max_priority_fee_per_cycle,omitempty"`
	MaxFeePerCell          *types.Wei `cbor:"max_fee_per_cell,omitempty"`
	MaxPriorityFeePerCell  *types.Wei `cbor:"max_priority_fee_per_cell,omitempty"`
}

// maxAnswerBytes exceeds the size of four amounts of 256 bits with their names.
const maxAnswerBytes = 1024

// reasonNonsense is why an answer that came does not count.
const reasonNonsense = "malformed_answer"

// bidCodec is how a policy speaks with gas bidding agents: what they are told,
// and how their answer is read, which is false of nonsense.
type bidCodec struct {
	context func(r *laneRun, q bidKey) any
	read    func(output []byte) (bid, bool)
	floor   func(*InBlock) types.Wei // what a max fee must reach not to be priced out
}

// laneBids is how eip1559 speaks with them.
func laneBids(p50 types.Wei) bidCodec {
	return bidCodec{
		context: func(r *laneRun, q bidKey) any {
			return &GBAContext{
				TriggerBlockHeight: q.trigger, CurrentBlockHeight: r.Height,
				BaseFeeCycle: r.Fees.Cycle, BaseFeeCell: r.Fees.Cell, BaseFeeLaneTimer: r.Fees.Lane,
				LastBlockCycles: r.host.LastCycles, PreviousP50: p50, OwnerBalance: r.Books.Balance(q.actor),
			}
		},
		read:  readAnswer,
		floor: func(b *InBlock) types.Wei { return b.Fees.Lane },
	}
}

func readAnswer(output []byte) (bid, bool) {
	var answer TxFeeParams
	if !readMap(output, &answer) {
		return bid{}, false
	}
	return bid{answer.MaxFeePerCycle, answer.MaxPriorityFeePerCycle}, true
}

// readMap reads what a bidder answered. Its CBOR need not be canonical. An answer
// is nonsense if it has an unknown or repeated name, a value that is not an
// unsigned integer below 2^256, or trailing data. So is null, which a decoder takes
// for an empty map.
func readMap(output []byte, fees any) bool {
	return codec.UnmarshalLoose(output, maxAnswerBytes, fees) == nil && output[0]>>5 == 5
}

// answers holds the bids that bidders gave, by places of due; nil for timers whose
// bidder was not asked.
type answers []bid

// answerOrReason is the outcome of a question: a bid, or the reason why the timers that it
// was asked for wait.
type answerOrReason struct {
	bid
	waits string
}

func (a answers) bidAt(at int) bid {
	if a == nil {
		return bid{}
	}
	return a[at]
}

// bidKey names what is asked once a block (decision T15).
type bidKey struct {
	bidder, actor types.Address
	trigger       types.Height
}

// bidCalls asks the bidders of a block's timers.
type bidCalls struct {
	lane  *laneRun
	codec bidCodec
	heard map[bidKey]answerOrReason
}

// askBidders asks the bidder of each timer that does not state both numbers, in
// rounds of one question an actor, as far as gba_cycles_per_block reaches: once for
// each bidder, actor and trigger height. A bidder that answered with too low a max
// fee is asked again only when that fee is enough, or gba_retry_blocks have passed;
// until then its answer counts. A timer whose payer cannot hold the call, or for
// which no cycles are left, is the default GBA's; so is one whose bidder failed,
// which an event tells. A timer whose bidder is skipped waits: its cost is unknown,
// and only its bidder may state it. An error comes from the environment.
//
// Spec: CIP-1 §7, decisions C18, T14, T15, T27. Vectors:
// fixtures/vectors/cip1/7-gba-budget.json.
func (r *laneRun) askBidders(with bidCodec) (answers, error) {
	c := bidCalls{lane: r, codec: with, heard: make(map[bidKey]answerOrReason)}
	bidders := c.openBidders()
	if bidders == nil {
		return nil, nil
	}
	said := make(answers, len(r.due))
	last, floor := lastAnswers(r.InBlock), with.floor(r.InBlock)
	bidders = slices.DeleteFunc(bidders, func(b bidderAt) bool {
		low, stands := last(&r.due[b.at], floor)
		if stands {
			said[b.at] = bid{maxFee: &low}
		}
		return stands
	})
	for _, b := range c.askRounds(bidders) {
		d := &r.due[b.at]
		answer, err := c.answerTo(bidKey{b.bidder, d.Actor, d.Height}, d)
		if err != nil {
			return nil, err
		}
		said[b.at], d.waiting = answer.bid, answer.waits
		rememberAnswer(r.InBlock, d, answer.maxFee, floor)
	}
	return said, nil
}

// answerTo returns the outcome of a question. It asks the question at the cost of a
// timer's payer if it was not asked yet and the payer affords it.
func (c *bidCalls) answerTo(q bidKey, d *dueTimer) (answerOrReason, error) {
	answer, known := c.heard[q]
	if known || !c.canAfford(d) || c.isSilenced(q.bidder) {
		return answer, nil
	}
	answer, err := c.askBidder(q, d)
	if err == nil {
		c.heard[q] = answer
	}
	return answer, err
}

// askRounds sorts bidders from sequence order into the order of asking: first the
// first question of each actor, by sequence, then the second of each, and so on.
// Timers with one question are adjacent. In plain sequence order, the owner of the
// oldest timers would own the agents' budget as long as these live.
//
// Decision T15.
func (c *bidCalls) askRounds(bidders []bidderAt) []bidderAt {
	type rank struct {
		round int
		first types.Seq
	}
	ranks, asks := make(map[bidKey]rank), make(map[types.Address]int)
	due := c.lane.due
	keyOf := func(b bidderAt) bidKey { return bidKey{b.bidder, due[b.at].Actor, due[b.at].Height} }
	for _, b := range bidders {
		q := keyOf(b)
		if _, known := ranks[q]; !known {
			ranks[q] = rank{asks[q.actor], due[b.at].Seq}
			asks[q.actor]++
		}
	}
	slices.SortStableFunc(bidders, func(a, b bidderAt) int {
		x, y := ranks[keyOf(a)], ranks[keyOf(b)]
		return cmp.Or(cmp.Compare(x.round, y.round), cmp.Compare(x.first, y.first))
	})
	return bidders
}

// bidderAt is the bidder that prices the timer at a place of due.
type bidderAt struct {
	at     int
	bidder types.Address
}

// openBidders returns the bidders of the timers that leave a number open and have not
// expired, in sequence order.
func (c *bidCalls) openBidders() (all []bidderAt) {
	r := c.lane
	if Free(r.Params) {
		return nil
	}
	of := bidderOf(r.KV)
	for at := range r.due {
		d := &r.due[at]
		if d.statedBid().isWhole() || d.hasExpired(r.Height) {
			continue
		}
		if bidder := of(d); bidder != nil {
			all = append(all, bidderAt{at, *bidder})
		}
	}
	slices.SortFunc(all, func(a, b bidderAt) int { return cmp.Compare(r.due[a.at].Seq, r.due[b.at].Seq) })
	return all
}

// bidderOf returns the bidder that prices a timer: its own GBA, otherwise its
// actor's; nil is the protocol's default (decision T14). It reads each actor's
// once, and none where the chain has none.
func bidderOf(kv KV) func(*dueTimer) *types.Address {
	named := holdsAny(kv, "t/g/")
	known := make(map[types.Address]*types.Address)
	return func(d *dueTimer) *types.Address {
		if d.GBA != nil || !named {
			return d.GBA
		}
		bidder, ok := known[d.Actor]
		if !ok {
			bidder = gasBidder(kv, d.Actor)
			known[d.Actor] = bidder
		}
		return bidder
	}
}

// canAfford reports whether the block's calls have the limit of one call left, and
// the payer holds its price, within the amount signed for if the payer is a signer
// (decisions T27, T28).
func (c *bidCalls) canAfford(d *dueTimer) bool {
	r := c.lane
	limit := r.Params.GBACallCycles
	if limit > r.Params.GBABlockCycles.Sub(r.out.AskCycles) {
		return false
	}
	price, ok := r.Fees.Cycle.MulOk(uint64(limit))
	return ok && !r.spendable(&d.Entry, d.payer).Less(price)
}

// askBidder makes a call at the cost of a timer's payer. The cycles used count, and were
// charged, whatever the call's end.
func (c *bidCalls) askBidder(q bidKey, d *dueTimer) (answerOrReason, error) {
	r := c.lane
	if r.over {
		return answerOrReason{waits: ReasonNotBegun}, nil
	}
	asked := BidCall{Bidder: q.bidder, Payer: d.payer, Actor: q.actor, Trigger: q.trigger,
		Context: codec.Marshal(c.codec.context(r, q)), Cycles: r.Params.GBACallCycles}
	answer, err := r.host.Ask(asked)
	if err == nil && answer.Passed == ReasonHostFailed && c.silenceAgent(q.bidder) {
		asked.Failed = true
		answer, err = r.host.Ask(asked)
	}
	if err != nil {
		return answerOrReason{}, fmt.Errorf("gas bidder %s of actor %s: %w", q.bidder, q.actor, err)
	}
	if answer.Passed != "" {
		r.over = answer.Over
		return answerOrReason{waits: answer.Passed}, nil
	}
	if answer.Cycles > asked.Cycles {
		return answerOrReason{}, fmt.Errorf("gas bidder %s used %d cycles of %d: a bug of its host", q.bidder, answer.Cycles, asked.Cycles)
	}
	r.out.AskCycles += answer.Cycles
	r.drawAllowance(&d.Entry, d.payer, r.Fees.Cycle.Mul(uint64(answer.Cycles))) // no more than affords saw
	return answerOrReason{bid: c.bidIn(q, &answer)}, nil
}

// bidIn returns the bid in an answer; for an invalid answer it returns the default
// GBA's bid and records an event.
func (c *bidCalls) bidIn(q bidKey, answer *Answer) bid {
	reason := answer.Fault
	if reason == "" {
		said, ok := c.codec.read(answer.Output)
		if ok {
			return said
		}
		reason = reasonNonsense
	}
	c.lane.out.Events = append(c.lane.out.Events, newEvent(EventGasBidFailed,
		GasBidFailed{Bidder: q.bidder, Actor: q.actor, TriggerBlockHeight: q.trigger, Reason: reason}))
	return bid{}
}
