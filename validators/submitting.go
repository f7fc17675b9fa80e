package validators

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
	"github.com/cowboyinc/devnet/validators/gateway"
)

// reportOf returns a submission of the gateway as a signed runner transaction.
//
// Spec: decision J15.
func (v *Validator) reportOf(s gateway.Submission) []byte {
	switch s := s.(type) {
	case gateway.Heartbeat:
		return v.signReport(system.OpHeartbeat, system.Heartbeat{Runner: s.Runner, BlockHeight: s.Ping.BlockHeight, Nonce: s.Ping.Nonce,
			Signed: s.Ping.Signed})
	case gateway.Commit:
		return v.signReport(system.OpCommit, system.Commit{JobID: s.Assignment.Job, Drawn: s.Assignment.Drawn, Runner: s.Runner,
			Commitment: s.Commitment, CommitSigned: s.Signed})
	case gateway.Refuse:
		r := &s.Refusal
		return v.signReport(system.OpRefuse, system.Refusal{JobID: r.JobID, Drawn: r.Drawn, Spec: r.Spec, Runner: s.Runner, Reason: r.Reason,
			Text: r.Text, RefusalSigned: s.Signed})
	case gateway.Reveal:
		op := system.OpReveal
		if s.Alone {
			op = system.OpResult
		}
		return v.signReport(op, system.Reveal{JobID: s.Assignment.Job, Runner: s.Runner, Result: s.Result.ResultData,
			RunnerSigned: s.Result.RunnerSigned})
	}
	panic(fmt.Sprintf("validators: the gateway submits a %T", s))
}

// signReport is a signed runner transaction.
func (v *Validator) signReport(op string, args any) []byte {
	tx := &types.Transaction{ChainID: v.genesis.ChainID,
		Payload: codec.Marshal(&types.Report{Kind: types.KindRunner, Op: op, Args: codec.Marshal(args)})}
	signature := v.node.Signer.Sign(tx.SigningDigest())
	tx.Signature = &signature
	return tx.Encode()
}

// BringHeartbeat hands in the ping of a runner that polls (decision J11), as a runner
// transaction of this validator. answer is called once, on a loop of the validator,
// with its hash or with why it was not taken.
func (v *Validator) BringHeartbeat(runner types.Address, ping *push.HeartbeatPing, answer func(types.Hash, error)) {
	v.Submit(v.reportOf(gateway.Heartbeat{Runner: runner, Ping: *ping}), answer)
}

// ErrNoGateway refuses a result or a refusal at a validator without connections.
var ErrNoGateway = errors.New("no_gateway: this validator has no connections with runners; hand it to another")

// NotTakenError is why the gateway did not take a result or a refusal.
type NotTakenError struct{ Why string }

func (e *NotTakenError) Error() string { return "not_taken: " + e.Why }

// BringResult hands in the result of a runner that polls: it goes the way of one that
// came over a connection, its commitment first (decisions J11, J15). answer is called
// once, on a loop of the validator, with nil or with why it was not taken.
func (v *Validator) BringResult(runner types.Address, result *push.JobResult, answer func(error)) {
	v.bringSubmission(polled{runner: runner, result: result}, answer)
}

// BringRefusal hands in the refusal of a runner that polls: an ack with status Reject and
// refusal_signed. It goes the way of one that came over a connection (decisions J11, J21).
// answer is called once, on a loop of the validator, with nil or with why it was not taken.
func (v *Validator) BringRefusal(runner types.Address, ack *push.JobAck, answer func(error)) {
	v.bringSubmission(polled{runner: runner, ack: ack}, answer)
}

func (v *Validator) bringSubmission(what polled, answer func(error)) {
	what.request = v.requests.enterRequest(func(a any) { err, _ := a.(error); answer(err) })
	switch {
	case v.node.Connections == nil:
		v.requests.answerRequest(what.request, ErrNoGateway)
	case what.request == 0:
		answer(ErrBusy)
	case !v.gateway.Offer(what):
		v.requests.answerRequest(what.request, ErrBusy)
	}
}

// Answer answers what a runner asks without a connection, as the paths of the HTTP API
// for runners that poll do (decision J11). answer is called at most once, on any
// goroutine; a validator that stops answers nothing.
func (v *Validator) Answer(runner types.Address, q polling.Question, answer func(polling.Answer)) {
	head := v.Head()
	registered := head.State.Listed(runner)
	refuse := func(why string) { answer(polling.Answer{ID: q.ID, Refused: why}) }
	brought := func(err error) {
		if err != nil {
			refuse(err.Error())
			return
		}
		answer(polling.Answer{ID: q.ID})
	}
	switch {
	case registered == nil:
		refuse("the runner is not registered")
	case q.Result != nil:
		v.BringResult(runner, q.Result, brought)
	case q.Refusal != nil:
		v.BringRefusal(runner, q.Refusal, brought)
	case registered.Health == selection.Deregistered:
		refuse("the runner was deregistered")
	case q.Heartbeat != nil:
		v.BringHeartbeat(runner, q.Heartbeat, func(_ types.Hash, err error) { brought(err) })
	case selection.PhaseOf(head.State.Params()) == selection.Sunset:
		refuse("polling_ended: cip11.push is sunset")
	default:
		a := polling.Answer{ID: q.ID}
		page, next := head.State.Page(runner, q.After)
		a.Next = next
		for _, j := range page {
			id := polling.AssignmentID{Job: j.ID, Drawn: j.DrawnOf(runner)}
			a.Jobs = append(a.Jobs, polling.Job{ID: id, Spec: head.State.Spec(j.ID), Deadline: j.Deadline()})
		}
		answer(a)
	}
}
