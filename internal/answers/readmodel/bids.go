package readmodel

import (
	"context"
	"errors"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// TryBid implements answers.Reader.
func (v *reader) TryBid(ctx context.Context, trial ledger.BidTrial) (tried ledger.BidTried, err error) {
	err = v.runPaidRead(ctx, readOfHandler(trial.Bidder, program.BidHandler), func() (_ types.Cycles, err error) {
		tried, err = v.executor.TryBid(v.state, trial)
		return tried.Cycles, err
	})
	var policy *scheduler.Error
	switch {
	case errors.As(err, &policy):
		err = refusal.New(policy.Code, "%s", policy.Message).
			Hint("eip1559 and gba do: devnet params set cip1.policy eip1559.")
	default:
		err = validators.Refusal(failedRead(err))
	}
	return tried, err
}
