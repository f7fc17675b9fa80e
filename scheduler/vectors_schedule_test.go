package scheduler

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func TestVectorsOfScheduling(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Name        string
		Policy      string
		Now         types.Height  `json:",string"`
		BaseFeeLane types.Wei     `json:"basefee_lane_timer"`
		Height      types.Height  `json:",string"`
		GasLimit    *types.Cycles `json:"gas_limit,string"`
		ExpiresAt   *types.Height `json:"expires_at,string"`
		MaxFee      *types.Wei    `json:"max_fee_per_cycle"`
		MaxPriority *types.Wei    `json:"max_priority_fee_per_cycle"`
		Bid         *types.Wei
		BidRejected *types.Height `json:"bid_rejected_from,string"`
		Error       *string
		BidWarned   bool `json:"bid_warned"`
		Clamped     *struct{ Stated, Clamped types.Wei }
		Stored      *struct {
			MaxFee      *types.Wei   `json:"max_fee_per_cycle"`
			MaxPriority *types.Wei   `json:"max_priority_fee_per_cycle"`
			GasLimit    types.Cycles `json:"gas_limit,string"`
			ExpiresAt   types.Height `json:"expires_at,string"`
		}
	}](t, "cip1/6-schedule.json") {
		w := rich()
		w.p.Policy, w.head = c.Policy, c.Now-1
		w.fees.Lane = c.BaseFeeLane
		w.p.BidRejectedFrom = 1 << 40 // never
		if c.BidRejected != nil {
			w.p.BidRejectedFrom = *c.BidRejected
		}
		timer, events, err := w.blockNow().Schedule(alice, nil,
			program.TimerRequest{Height: c.Height, GasLimit: c.GasLimit, ExpiresAt: c.ExpiresAt,
				MaxFeePerCycle: c.MaxFee, MaxPriorityFeePerCycle: c.MaxPriority, Bid: c.Bid})
		if c.Error != nil {
			if err == nil || strings.HasPrefix(*c.Error, "Timer") && codeOf(err) != *c.Error {
				t.Errorf("%+v: %v, want %s", c.Name, err, *c.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got, _ := Get(&w.p, w.kv, w.head, timer.ID); !same(got.MaxFeePerCycle, c.Stored.MaxFee) ||
			!same(got.MaxPriorityFeePerCycle, c.Stored.MaxPriority) ||
			limitOf(&w.p, &got) != c.Stored.GasLimit ||
			(got.GasLimit == types.DefaultGasLimit) != (c.GasLimit == nil) || got.ExpiresAt != c.Stored.ExpiresAt {
			t.Errorf("%+v: stored %+v", c, got)
		}
		var told *PriorityClamped
		warned := false
		for _, e := range events {
			switch e.Name {
			case EventPriorityClamped:
				told = new(PriorityClamped)
				if err := codec.Unmarshal(e.Data, 1000, told); err != nil || told.TimerID != timer.ID {
					t.Errorf("%s: %+v, %v", c.Name, told, err)
				}
			case EventBidIgnored:
				warned = true
			}
		}
		if warned != c.BidWarned || (told == nil) != (c.Clamped == nil) || told != nil &&
			(told.Stated != c.Clamped.Stated || told.Clamped != c.Clamped.Clamped) {
			t.Errorf("%+v: warned %v, clamped %+v", c, warned, told)
		}
	}
}

// limitOf is the limit that a timer has by the present cap.
func limitOf(p *params.Params, t *types.Timer) types.Cycles {
	cycles, _ := FireLimit(p, t.GasLimit)
	return cycles
}
