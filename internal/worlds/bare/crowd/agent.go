package crowd

import (
	"encoding/binary"
	"errors"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// agentCode is the code of members whose timers the chain asks about: their program has get_gas_bid.
const agentCode = "go:crowd-agent"

// maxQuestionBytes exceeds the size of a question with its names.
const maxQuestionBytes = 2048

// question is what the chain tells an agent (CIP-1 §7.2).
type question struct {
	Trigger       types.Height `cbor:"trigger_block_height"`
	Current       types.Height `cbor:"current_block_height"`
	BaseFeeCycle  types.Wei    `cbor:"basefee_cycle"`
	BaseFeeCell   types.Wei    `cbor:"basefee_cell"`
	BaseFeeLane   types.Wei    `cbor:"basefee_lane_timer"`
	LastCycles    types.Cycles `cbor:"last_block_cycle_usage"`
	PreviousP50   types.Wei    `cbor:"previous_block_p50_priority_tip_per_cycle"`
	OwnersBalance types.Wei    `cbor:"owner_actor_balance"`
}

// quote is its answer (CIP-1 §7.1): the tip. The timer states its max fee itself.
type quote struct {
	Tip types.Wei `cbor:"max_priority_fee_per_cycle"`
}

// worthSlots is how many trigger heights a member keeps apart: its timers are due in the next block.
const worthSlots = 4

func worthKey(trigger types.Height) []byte { return []byte{'w', byte(trigger % worthSlots)} }

// keepWorth keeps what an agent has to know of a timer, since the chain tells it the trigger height alone: its
// worth, and by how much it outbids.
func keepWorth(ctx program.Context, o *Order) error {
	due := ctx.Block().Height + types.Height(o.In)
	record := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, o.Value), *o.RaisePermille)
	return ctx.Set(worthKey(due), record)
}

// answerQuestion outbids the median tip of the block before, as far as the timer's worth allows.
func answerQuestion(ctx program.Context, payload []byte) ([]byte, error) {
	var asked question
	if err := codec.UnmarshalLoose(payload, maxQuestionBytes, &asked); err != nil {
		return nil, err
	}
	record, found, err := ctx.Get(worthKey(asked.Trigger))
	if err != nil {
		return nil, err
	}
	if !found || len(record) != 16 {
		return nil, errors.New("the agent of a member knows no worth for the timer")
	}
	worth, raise := types.WeiOf(binary.BigEndian.Uint64(record)), binary.BigEndian.Uint64(record[8:])
	tip := asked.PreviousP50.Add(asked.PreviousP50.Mul(raise).Div(permille)).Add(types.WeiOf(1))
	if worth.Less(asked.BaseFeeLane) {
		tip = types.Wei{}
	} else {
		tip = tip.Min(worth.Sub(asked.BaseFeeLane))
	}
	return codec.Marshal(&quote{tip}), nil
}
