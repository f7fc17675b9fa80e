package ledger

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Invalid is the reason why a block or a transaction breaks the rules: the fault of
// its maker, permanent as far as this state goes.
type Invalid struct {
	Code    string          // one of the Code constants
	Section string          // the section of a spec, or the decision
	Detail  string          // what is wrong and what would be right
	Own     []types.Receipt // of a block that ends otherwise here: what its items ended with
}

func (e *Invalid) Error() string { return fmt.Sprintf("%s: %s (%s)", e.Code, e.Detail, e.Section) }

// OfExecution reports whether a block is as its header says up to what executing it gave: the
// results differ, and not the body (decision C2).
func (e *Invalid) OfExecution(block *types.Block) bool {
	switch e.Code {
	case CodeBadReceipts, CodeBadUse, CodeBadState, CodeBadNextSet:
		return block.Header.Passed == types.PassedHash(block.Passed)
	}
	return false
}

func newInvalid(code, section, format string, args ...any) *Invalid {
	return &Invalid{Code: code, Section: section, Detail: fmt.Sprintf(format, args...)}
}

// The codes of transactions that no block may hold, in the order they are
// looked for.
const (
	CodeTooLarge          = "too_large"
	CodeMalformed         = "malformed"
	CodeWrongChain        = "wrong_chain"
	CodeUnknownKind       = "unknown_kind"
	CodeUnknownOpcode     = "unknown_opcode"
	CodeBadSignature      = "bad_signature"
	CodeNotSystem         = "not_system"
	CodeNotValidator      = "not_validator"
	CodeRefusedReport     = "refused_report"
	CodeEarlyReport       = "early_report" // a runner transaction that a later block may hold
	CodeNonceTooLow       = "nonce_too_low"
	CodeNonceTooHigh      = "nonce_too_high"
	CodeLimitTooHigh      = "limit_too_high"
	CodeLimitTooLow       = "limit_too_low"
	CodeFeeTooLow         = "fee_too_low"
	CodeInsufficientFunds = "insufficient_funds"
	CodeNoRoom            = "no_room" // it does not fit into the rest of this block
)

// The codes of blocks, in the order they are looked for.
const (
	CodeBadChain        = "block_of_another_chain"
	CodeBadParent       = "wrong_parent"
	CodeBadHeight       = "wrong_height"
	CodeBadSkip         = "skips_what_is_due"
	CodeBadEpoch        = "wrong_epoch"
	CodeBadNextSet      = "wrong_next_set"
	CodeBadView         = "view_not_after_parents"
	CodeBadProposer     = "wrong_proposer"
	CodeBadTimestamp    = "timestamp_not_after_parents"
	CodeBadCertificate  = "certificate_of_another_block"
	CodeBadPassed       = "wrong_passed_over"
	CodeBadTransactions = "wrong_transactions_hash"
	CodeBadPresence     = "wrong_presence"
	CodeBadSubsetEpoch  = "wrong_subset_epoch"
	CodeBadRandomness   = "wrong_randomness"
	CodeBadBaseFee      = "wrong_base_fee"
	CodeBadReceipts     = "wrong_receipts_root"
	CodeBadUse          = "wrong_use"
	CodeBadState        = "wrong_state_root"
)

// EnvironmentError reports that this node cannot determine an execution's effect:
// its host of programs failed, or did not end it in time. The fault is this node's
// own, and a validator does not vote on such a block.
type EnvironmentError struct {
	What     string       // what was executed
	Item     types.Hash   // its hash: of a transaction, a timer or a message
	Attempts int          // how often in this block, each with a fresh host
	Limit    types.Cycles // of each attempt
	Starved  bool         // this machine was too slow for it, as often as it may be; then Late, too
	Late     bool         // it used too much time; if false, it failed for another reason
	Err      error        // how the last attempt ended
}

func (e *EnvironmentError) Error() string {
	switch {
	case e.Late:
		return fmt.Sprintf("%s: late: %v", e.What, e.Err)
	case e.Attempts > 1:
		return fmt.Sprintf("%s: the host of programs failed %d times: %v", e.What, e.Attempts, e.Err)
	}
	return fmt.Sprintf("%s: the host of programs failed: %v", e.What, e.Err)
}

// Ended says why a transaction was given up for good, for its sender.
func (e *EnvironmentError) Ended() string {
	if e.Starved {
		return "this machine was too slow for it: send it again once the machine has less to do"
	}
	if e.Late {
		return "it was late: its program hangs, or is slower than its cycles say"
	}
	return fmt.Sprintf("%s, in %s", e.Brief(), timesWord(e.Attempts))
}

func timesWord(attempts int) string {
	if attempts == 1 {
		return "one attempt"
	}
	return fmt.Sprintf("%d attempts", attempts)
}

// Brief says over what and how it failed, without what the host wrote: for those
// who are not to see its insides.
func (e *EnvironmentError) Brief() string {
	if contract := (*actors.ContractError)(nil); errors.As(e.Err, &contract) {
		return "the contract " + contract.Contract.String() + " panicked over " + e.What
	}
	how := "failed"
	if host := (*program.HostError)(nil); errors.As(e.Err, &host) {
		how = "was " + host.Failure.String()
		if host.Failure == program.Crashed {
			how = "crashed"
		}
	}
	return "the host of programs " + how + " over " + e.What
}

func (e *EnvironmentError) Unwrap() error { return e.Err }
