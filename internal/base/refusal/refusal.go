// Package refusal has the error of a request that is refused. The HTTP API answers it with a
// status by its code.
package refusal

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Error says what was refused and why.
type Error struct {
	Code    string // what programs read
	Message string // what was wrong, and where
	Remedy  string // what to do or to type; "" if nothing helps
	Field   string // the argument at fault; "" if it is not a single one
	ByChain bool   // the chain refused it by its state: the request itself was in order
}

// New refuses a request by a code.
func New(code, message string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(message, args...)}
}

// Hint returns e with a remedy.
func (e *Error) Hint(remedy string, args ...any) *Error {
	with := *e
	with.Remedy = fmt.Sprintf(remedy, args...)
	return &with
}

// At returns e with the argument at fault.
func (e *Error) At(field string) *Error {
	with := *e
	with.Field = field
	return &with
}

func (e *Error) Error() string { return e.Message }

// OfReceipt is why the chain refused an order, or nil.
func OfReceipt(receipt *types.Receipt) error {
	if receipt.Status == types.StatusOK {
		return nil
	}
	e := &Error{Code: string(receipt.Status), Message: "the chain refused the instruction", ByChain: true}
	if receipt.Error != nil {
		e.Code, e.Message = receipt.Error.Code, receipt.Error.Message
	}
	return e
}
