package client

import (
	"fmt"
)

// Error is an answer of the network other than success. Its code is stable; message
// and hint are for people.
type Error struct {
	Status int
	ErrorBody
}

func (e *Error) Error() string { return e.Message }

// Unreachable is why there was no answer.
type Unreachable struct {
	Address string
	Cause   error
	Proxy   string // through which it was asked, without its password; "": none
}

func (e *Unreachable) Error() string {
	through := ""
	if e.Proxy != "" {
		through = fmt.Sprintf(" through the proxy %s, which the environment names (NO_PROXY=HOST asks a host directly)", e.Proxy)
	}
	return fmt.Sprintf("no network answers at %s%s: %v", e.Address, through, e.Cause)
}
func (e *Unreachable) Unwrap() error { return e.Cause }

// NotReadyError says that a network did not become ready in time.
type NotReadyError struct {
	URL   string
	Ready Ready // as it answered last; zero where it never did
	Cause error // why it did not answer, or the end of the context
}

func (e *NotReadyError) Error() string {
	text := fmt.Sprintf("the network at %s is not ready: %v", e.URL, e.Cause)
	if e.Ready.Error != nil {
		text += ": " + e.Ready.Error.Message
	}
	return text
}
func (e *NotReadyError) Unwrap() error { return e.Cause }

// ExecutionError is an execution that failed on chain. It was paid for, and changed
// nothing else.
type ExecutionError struct {
	Receipt Receipt
}

func (e *ExecutionError) Error() string {
	r := &e.Receipt
	text := fmt.Sprintf("%s at %s failed in block %d: %s", r.Handler, r.To, r.Height, r.Status)
	if r.Handler == "" {
		text = fmt.Sprintf("the transaction to %s failed in block %d: %s", r.To, r.Height, r.Status)
	}
	if r.Error != nil {
		text += ": " + r.Error.Message
	}
	return text
}

// withReceiptError is a receipt, with an error where it failed.
func withReceiptError(r Receipt, err error) (Receipt, error) {
	if err == nil && r.Status != StatusOK {
		err = &ExecutionError{r}
	}
	return r, err
}

// JobError is a job that ended in failure.
type JobError struct {
	Job Job
}

func (e *JobError) Error() string {
	text := fmt.Sprintf("job %s failed after %d draws", e.Job.ID, e.Job.Attempts)
	if e.Job.Error != nil {
		text += ": " + e.Job.Error.Code + ": " + e.Job.Error.Message
	}
	return text
}

// WithinError is a condition that did not come true in time.
type WithinError struct {
	Blocks uint64 // that it had
	Height Height // where the network is
}

func (e *WithinError) Error() string {
	return fmt.Sprintf("it did not come true within %d blocks; the network is at height %d", e.Blocks, e.Height)
}
