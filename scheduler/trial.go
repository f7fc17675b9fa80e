package scheduler

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/feemarket"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Trial asks a gas bidding agent for the price of a hypothetical timer, as the lane
// of a block would: for its author, who wants to see the answer. It takes no turn,
// and stores nothing.
//
// Spec: CIP-1 §7, decisions T13 to T15.
type Trial struct {
	lane  *laneRun
	codec bidCodec
	price func(bid) (price feemarket.Price, pricedOut bool)
}

// Tried is the effect that an agent's answer would have in the block.
type Tried struct {
	MaxFee    *types.Wei // as it answered, in wei a cycle; nil: the protocol's own agent says it
	Priority  *types.Wei // the same of the tip
	Price     feemarket.Price
	PricedOut bool // the max fee is below the base fee that a turn takes
}

// NewTrial opens a trial in b; the block before b used last cycles. It returns an
// *Error if the policy has no agents.
func NewTrial(b *InBlock, last types.Cycles) (*Trial, error) {
	lane := &laneRun{InBlock: b, host: LaneHost{LastCycles: last}}
	switch {
	case b.Params.Policy == EIP1559 && !Free(b.Params):
		p50 := previousP50(b.KV, b.Height)
		return &Trial{lane, laneBids(p50), func(said bid) (feemarket.Price, bool) { return b.lanePrice(said, p50) }}, nil
	case b.Params.Policy == GBA && !Free(b.Params):
		return &Trial{lane, revisionBids, b.revisionPrice}, nil
	}
	return nil, newError(CodePolicyUnsupported, "T14", "the policy %s does not use gas bidding agents", b.Params.Policy)
}

// Context returns the context that an agent would get for a timer of actor that is
// due since trigger: heights in blocks, amounts in wei.
func (t *Trial) Context(actor types.Address, trigger types.Height) map[string]types.Wei {
	told := map[string]types.Wei{}
	data := codec.Marshal(t.codec.context(t.lane, bidKey{actor: actor, trigger: trigger}))
	if err := codec.Unmarshal(data, len(data), &told); err != nil {
		panic("scheduler: the context of agents is not a map of numbers: " + err.Error())
	}
	return told
}

// Answer reads what an agent answered. It returns false for nonsense, which the
// protocol's default agent replaces.
func (t *Trial) Answer(output []byte) (Tried, bool) {
	said, ok := t.codec.read(output)
	if !ok {
		said = bid{}
	}
	price, low := t.price(said)
	return Tried{MaxFee: said.maxFee, Priority: said.priority, Price: price, PricedOut: low}, ok
}
