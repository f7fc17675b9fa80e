package readmodel

import (
	"context"
	"errors"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/scheduler"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// TryBid implements api.Reader.
func (v *reader) TryBid(_ context.Context, trial api.BidTrial) (api.BidTried, error) {
	tried, err := v.executor.TryBid(v.state, ledger.BidTrial(trial))
	var missing *ledger.EnvironmentError
	var policy *scheduler.Error
	switch {
	case errors.As(err, &missing):
		return api.BidTried{}, environment(err)
	case errors.As(err, &policy):
		return api.BidTried{}, refusal.New(policy.Code, "%s", policy.Message).
			Hint("eip1559 and gba do: devnet params set cip1.policy eip1559.")
	case err != nil:
		return api.BidTried{}, Refusal(err)
	}
	out := api.BidTried{Result: resultOf(tried.ReadResult), Height: tried.Height, Context: tried.Context, Answers: tried.Answers,
		MaxFee: tried.Tried.MaxFee, Priority: tried.Tried.Priority, Price: tried.Tried.Price, PricedOut: tried.Tried.PricedOut}
	return out, nil
}
