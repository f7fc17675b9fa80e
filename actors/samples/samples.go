// Package samples has a few programs in Go, for tests, benchmarks and the
// simulator: the behaviour of an actor without a host of Python. The code of one is
// "go:" and its name. They charge no steps unless stated, so a chain takes them
// only if genesis allows cheats.
//
//	counter    increment adds one to n and returns it; get returns it; fail raises after
//	           adding; reset deletes n
//	heartbeat  start(interval_be8) schedules a timer; each fire counts beats and schedules
//	           the next; stop cancels it; extend(height_be8) extends it
//	spender    spend(cycles_be8) charges cycles; store(bytes_be8) writes a value of that size;
//	           fill writes until it runs out; panic panics; pay(address ‖ wei_be8) transfers
//	relay      call, try and send do as the Order in the payload says; try returns the
//	           code of the fault it caught
//	storm      make(Storm as JSON) schedules many timers alike; each fire spends what the
//	           order says; set_gas_bidder(address) names who prices them, or nobody
//	bidder     get_gas_bid tips by lateness, step(wei_be8) a block
//
// Amounts and counts are eight bytes, big-endian.
package samples

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Sample is one program: its handlers by name.
type Sample map[string]func(program.Context, []byte) ([]byte, error)

// All are the samples by name.
var All = map[string]Sample{
	"counter":   counter,
	"tens":      tens,
	"heartbeat": heartbeat,
	"spender":   spender,
	"relay":     relay,
	"storm":     storm,
	"bidder":    bidder,
}

// Code returns the code of a sample.
func Code(name string) []byte { return []byte(actors.SamplePrefix + name) }

// Host runs samples. Its zero value is ready.
type Host struct{}

// Open implements program.Host.
func (Host) Open(program.Purpose) (program.Session, error) { return &session{}, nil }

// session runs samples in place, each in no time worth bounding: a bound keeps
// the next from beginning.
type session struct{ bounds program.Bounds }

// Bound implements program.Session.
func (s *session) Bound(by program.Bounds) { s.bounds = by }

// Close implements program.Session.
func (*session) Close() {}

// Inspect implements program.Session.
func (*session) Inspect(code program.Code) (program.Description, error) {
	sample, ok := findSample(code)
	if !ok {
		return program.Description{}, &program.Refusal{Reason: "there is no Go sample of that name"}
	}
	var d program.Description
	for name := range sample { // order: sorted below
		d.Handlers = append(d.Handlers, program.Handler{Name: name})
	}
	slices.SortFunc(d.Handlers, func(a, b program.Handler) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return d, nil
}

// Handle implements program.Session.
func (s *session) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	if left := s.bounds.Left; left != nil && left() <= 0 {
		return program.Outcome{}, &program.HostError{Failure: program.Stopped, During: "handler " + msg.Handler, Err: program.ErrNotBegun}
	}
	sample, ok := findSample(code)
	if !ok {
		return newFailedOutcome(types.StatusFailed, "unknown_sample", "there is no Go sample of that name"), nil
	}
	handler := sample[msg.Handler]
	if handler == nil {
		if msg.Kind == program.Init {
			return program.Outcome{Status: types.StatusOK}, nil
		}
		return newFailedOutcome(types.StatusNoHandler, "no_handler", "the sample has no handler "+msg.Handler), nil
	}
	output, err := handler(ctx, msg.Payload)
	var refused *program.Fault
	switch {
	case err == nil:
		return program.Outcome{Status: types.StatusOK, Output: output}, nil
	case errors.As(err, &refused):
		return newFailedOutcome(refused.Status, refused.Code, refused.Message), nil
	}
	return newFailedOutcome(types.StatusReverted, "raised", err.Error()), nil
}

func findSample(code program.Code) (Sample, bool) {
	if !isSample(code) {
		return nil, false
	}
	sample, ok := All[string(code.Source[len(actors.SamplePrefix):])]
	return sample, ok
}

func isSample(code program.Code) bool {
	const prefix = actors.SamplePrefix
	return len(code.Source) >= len(prefix) && string(code.Source[:len(prefix)]) == prefix
}

func newFailedOutcome(status types.Status, code, message string) program.Outcome {
	return program.Outcome{Status: status, Fault: &types.Fault{Code: code, Message: message}}
}

// readNumber reads eight bytes big-endian; anything else reads as 0.
func readNumber(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// Number is what the samples read as a number.
func Number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
