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

// maxAnswerBytes is more than four of the greatest amounts and their names.
const maxAnswerBytes = 1024

// reasonNonsense is why an answer that came does not count.
const reasonNonsense = "malformed_answer"

// agency is how a policy speaks with gas bidding agents: what they are told, and
// how their answer is read, which is false of nonsense.
type agency struct {
	context func(r *laneRun, q question) any
	read    func(output []byte) (bid, bool)
	floor   func(*Block) types.Wei // what a max fee must reach not to be priced out
}

// laneAgents is how eip1559 speaks with them.
func laneAgents(p50 types.Wei) agency {
	return agency{
		context: func(r *laneRun, q question) any {
			return &GBAContext{
				TriggerBlockHeight: q.trigger, CurrentBlockHeight: r.Height,
				BaseFeeCycle: r.Fees.Cycle, BaseFeeCell: r.Fees.Cell, BaseFeeLaneTimer: r.Fees.Lane,
				LastBlockCycles: r.lane.LastCycles, PreviousP50: p50, OwnerBalance: r.Books.Balance(q.actor),
			}
		},
		read:  readAnswer,
		floor: func(b *Block) types.Wei { return b.Fees.Lane },
	}
}

func readAnswer(output []byte) (bid, bool) {
	var answer TxFeeParams
	if !readMap(output, &answer) {
		return bid{}, false
	}
	return bid{answer.MaxFeePerCycle, answer.MaxPriorityFeePerCycle}, true
}

// readMap reads what a bidder answered. Its CBOR need not be canonical; one
// that has an unknown name, a name twice, a value that is no unsigned integer
// below 2^256, or anything behind it, is nonsense. So is null, which a decoder
// takes for an empty map.
func readMap(output []byte, fees any) bool {
	return codec.UnmarshalLoose(output, maxAnswerBytes, fees) == nil && output[0]>>5 == 5
}

// answers are the bids that bidders gave, by places of due; nil where nobody was
// asked.
type answers []bid

// heard is what came of a question: a bid, or why the timers wait that it was
// asked for.
type heard struct {
	bid
	waits string
}

func (a answers) of(at int) bid {
	if a == nil {
		return bid{}
	}
	return a[at]
}

// question names what is asked once a block (decision T15).
type question struct {
	bidder, actor types.Address
	trigger       types.Height
}

// interview asks the bidders of a block's timers.
type interview struct {
	*laneRun
	agency
	heard map[question]heard
}

// askBidders asks the bidder of each timer that does not state both numbers, in
// rounds of one question an actor, as far as gba_cycles_per_block reaches: once for
// each bidder, actor and trigger height. Who answered with too low a max fee is not
// asked again until that is enough, or gba_retry_blocks have passed; its answer
// stands. A timer whose payer cannot hold the call, or for
// which no cycles are left, is the default GBA's; so is one whose bidder failed,
// which an event tells. One whose bidder is passed over waits: what it would cost
// is not known, and nobody but its bidder may say. Its error is the environment's.
//
// Spec: CIP-1 §7, decisions C18, T14, T15, T27. Vectors:
// fixtures/vectors/cip1/7-gba-budget.json.
func (r *laneRun) askBidders(speak agency) (answers, error) {
	bidders := r.bidders()
	if bidders == nil {
		return nil, nil
	}
	said := make(answers, len(r.due))
	i := interview{laneRun: r, agency: speak, heard: make(map[question]heard)}
	last, floor := r.lastAnswers(), speak.floor(r.Block)
	bidders = slices.DeleteFunc(bidders, func(b bidderAt) bool {
		low, stands := last(&r.due[b.at], floor)
		if stands {
			said[b.at] = bid{maxFee: &low}
		}
		return stands
	})
	for _, b := range r.rounds(bidders) {
		d := &r.due[b.at]
		q := question{b.bidder, d.Actor, d.Height}
		answer, known := i.heard[q]
		if !known && i.affords(d) && !r.silenced(b.bidder) {
			var err error
			if answer, err = i.ask(q, d); err != nil {
				return nil, err
			}
			i.heard[q] = answer
		}
		said[b.at], d.waiting = answer.bid, answer.waits
		r.rememberAnswer(d, answer.maxFee, floor)
	}
	return said, nil
}

// rounds brings bidders, which are in sequence order, into the order of asking:
// first the first question of each actor, by sequence, then the second of each, and
// so on; timers with one question beside each other. By sequence alone whoever has
// the oldest timers owns the agents' budget for as long as they live.
//
// Decision T15.
func (r *laneRun) rounds(bidders []bidderAt) []bidderAt {
	type turn struct {
		round int
		first types.Seq
	}
	turns, asks := make(map[question]turn), make(map[types.Address]int)
	questionOf := func(b bidderAt) question { return question{b.bidder, r.due[b.at].Actor, r.due[b.at].Height} }
	for _, b := range bidders {
		q := questionOf(b)
		if _, known := turns[q]; !known {
			turns[q] = turn{asks[q.actor], r.due[b.at].Seq}
			asks[q.actor]++
		}
	}
	slices.SortStableFunc(bidders, func(a, b bidderAt) int {
		x, y := turns[questionOf(a)], turns[questionOf(b)]
		return cmp.Or(cmp.Compare(x.round, y.round), cmp.Compare(x.first, y.first))
	})
	return bidders
}

// lastAnswer is one that priced a timer out, as state keeps it while the timer
// is pending.
type lastAnswer struct {
	_      struct{} `cbor:",toarray"`
	At     types.Height
	MaxFee types.Wei
}

func keyAnswer(id types.TimerID) []byte { return append([]byte("t/d/"), id[:]...) }

// lastAnswers returns the question whether a timer's last answer still stands: its
// max fee does not reach the floor yet, and was given less than gba_retry_blocks
// ago (decision T15).
func (r *laneRun) lastAnswers() func(*dueTimer, types.Wei) (types.Wei, bool) {
	kept := holdsAny(r.KV, "t/d/")
	return func(d *dueTimer, floor types.Wei) (types.Wei, bool) {
		if !kept || d.MaxFeePerCycle != nil {
			return types.Wei{}, false
		}
		data := r.KV.Get(keyAnswer(d.ID))
		if data == nil {
			return types.Wei{}, false
		}
		last := read[lastAnswer](data)
		return last.MaxFee, last.MaxFee.Less(floor) && uint64(r.Height-last.At) < r.Params.GBARetryBlocks
	}
}

// rememberAnswer keeps a max fee that prices its timer out, and forgets the one
// before where this does not.
func (r *laneRun) rememberAnswer(d *dueTimer, maxFee *types.Wei, floor types.Wei) {
	key := keyAnswer(d.ID)
	if d.MaxFeePerCycle == nil && maxFee != nil && maxFee.Less(floor) {
		r.KV.Set(key, codec.Marshal(&lastAnswer{At: r.Height, MaxFee: *maxFee}))
		return
	}
	r.forgetAnswer(d.ID)
}

// forgetAnswer takes what is kept of a timer's last answer out of state.
func (b *Block) forgetAnswer(id types.TimerID) {
	if key := keyAnswer(id); b.KV.Get(key) != nil {
		b.KV.Set(key, nil)
	}
}

// bidderAt is who prices the timer at a place of due.
type bidderAt struct {
	at     int
	bidder types.Address
}

// bidders are those of the timers that leave a number open and have not expired,
// in sequence order.
func (r *laneRun) bidders() (all []bidderAt) {
	if Free(r.Params) {
		return nil
	}
	of := r.bidderOf()
	for at := range r.due {
		d := &r.due[at]
		if d.stated().whole() || d.expired(r.Height) {
			continue
		}
		if bidder := of(d); bidder != nil {
			all = append(all, bidderAt{at, *bidder})
		}
	}
	slices.SortFunc(all, func(a, b bidderAt) int { return cmp.Compare(r.due[a.at].Seq, r.due[b.at].Seq) })
	return all
}

// bidderOf returns who prices a timer: its own GBA, else its actor's; nil is the
// protocol's own (decision T14). It reads each actor's once, and none where the
// chain has none.
func (r *laneRun) bidderOf() func(*dueTimer) *types.Address {
	named := holdsAny(r.KV, "t/g/")
	known := make(map[types.Address]*types.Address)
	return func(d *dueTimer) *types.Address {
		if d.GBA != nil || !named {
			return d.GBA
		}
		bidder, ok := known[d.Actor]
		if !ok {
			bidder = gasBidder(r.KV, d.Actor)
			known[d.Actor] = bidder
		}
		return bidder
	}
}

// affords reports whether the calls of the block have a call's limit left, by
// what they used, and the payer holds its price, of a signer within what he
// signed for (decisions T27, T28).
func (i *interview) affords(d *dueTimer) bool {
	limit := i.Params.GBACallCycles
	if limit > i.Params.GBABlockCycles.Sub(i.out.AskCycles) {
		return false
	}
	price, ok := i.Fees.Cycle.MulOk(uint64(limit))
	return ok && !i.means(&d.Entry, d.payer).Less(price)
}

// ask makes a call at the cost of a timer's payer. What it used counts, and was
// charged, however it ended.
func (i *interview) ask(q question, d *dueTimer) (heard, error) {
	if i.over {
		return heard{waits: ReasonNotBegun}, nil
	}
	asked := Question{Bidder: q.bidder, Payer: d.payer, Actor: q.actor, Trigger: q.trigger,
		Context: codec.Marshal(i.context(i.laneRun, q)), Cycles: i.Params.GBACallCycles}
	answer, err := i.lane.Ask(asked)
	if err == nil && answer.Passed == ReasonHostFailed && i.silences(q.bidder) {
		asked.Failed = true
		answer, err = i.lane.Ask(asked)
	}
	if err != nil {
		return heard{}, fmt.Errorf("gas bidder %s of actor %s: %w", q.bidder, q.actor, err)
	}
	if answer.Passed != "" {
		i.over = answer.Passed == ReasonNotBegun
		return heard{waits: answer.Passed}, nil
	}
	if answer.Cycles > asked.Cycles {
		return heard{}, fmt.Errorf("gas bidder %s used %d cycles of %d: a bug of whoever ran it", q.bidder, answer.Cycles, asked.Cycles)
	}
	i.out.AskCycles += answer.Cycles
	i.draw(&d.Entry, d.payer, i.Fees.Cycle.Mul(uint64(answer.Cycles))) // no more than affords saw
	return heard{bid: i.bidIn(q, &answer)}, nil
}

// bidIn is the bid in an answer, the default GBA's where it is none, which an
// event tells.
func (i *interview) bidIn(q question, answer *Answer) bid {
	reason := answer.Fault
	if reason == "" {
		said, ok := i.read(answer.Output)
		if ok {
			return said
		}
		reason = reasonNonsense
	}
	i.out.Events = append(i.out.Events, event(EventGasBidFailed,
		GasBidFailed{Bidder: q.bidder, Actor: q.actor, TriggerBlockHeight: q.trigger, Reason: reason}))
	return bid{}
}
