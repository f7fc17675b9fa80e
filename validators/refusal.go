package validators

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/mempool"
)

// Refusal turns what admission says into an answer for a client.
func Refusal(err error) error {
	var invalid *ledger.Invalid
	var full *mempool.Error
	var notTaken *NotTakenError
	var reports *ReportsFullError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return refusal.New(invalid.Code, "%s", invalid.Detail)
	case errors.As(err, &full):
		return refusal.New(full.Code, "%s", full.Message)
	case errors.As(err, &notTaken):
		return refusal.New("not_taken", "not accepted: %s", notTaken.Why)
	case errors.Is(err, ErrNoGateway):
		return refusal.New("no_gateway", "this validator takes no answers of runners").
			Hint("Hand it to another, by node.")
	case errors.As(err, &reports):
		return refusal.New("too_many_reports", "%s of runner %s wait at this validator", reports.Why, reports.Runner).
			Hint("Send it again when the next block is final, or to another validator, by node.")
	case errors.Is(err, ErrBusy):
		return refusal.New("busy", "%v", err)
	}
	return err
}
