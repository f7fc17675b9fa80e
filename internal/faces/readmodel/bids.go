package readmodel

import (
	"context"
	"errors"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// TryBid implements api.Reader.
func (v *reader) TryBid(_ context.Context, trial ledger.BidTrial) (tried ledger.BidTried, err error) {
	tried, err = v.executor.TryBid(v.state, trial)
	var missing *ledger.EnvironmentError
	var policy *scheduler.Error
	switch {
	case errors.As(err, &missing):
		err = environment(err)
	case errors.As(err, &policy):
		err = refusal.New(policy.Code, "%s", policy.Message).
			Hint("eip1559 and gba do: devnet params set cip1.policy eip1559.")
	default:
		err = Refusal(err)
	}
	return tried, err
}
