package api

import (
	"net/http"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
)

// NotKept refuses a height whose block was dropped.
func NotKept(k history.Kept, h types.Height) *Error {
	return Refuse(http.StatusNotFound, CodeNotKept, "height %d is no longer kept: this network keeps %d blocks (--history)", h, k.Blocks).
		Hint("The first block that is kept has height %d.", k.From).At("id")
}

// isNotKept reports whether an error is that refusal.
func isNotKept(err error) bool {
	refused := Answer(err)
	return refused != nil && refused.Body.Code == CodeNotKept
}

// orPruned adds to a refusal of something unknown that it may be pruned: a hash
// does not show that.
func orPruned(v Reader, refused *Error) error {
	kept, err := v.Kept()
	if err != nil {
		return err
	}
	if kept.From <= 1 {
		return refused
	}
	hint := refused.Body.Hint
	if hint != "" {
		hint += " "
	}
	return refused.Hint("%sBlocks before height %d are no longer kept (--history %d), nor what was in them.", hint, kept.From, kept.Blocks)
}
