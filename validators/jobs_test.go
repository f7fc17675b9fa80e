package validators_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators"
)

// Decision J19: where blocks wait for work, an open job is something to do once a
// second, until it has ended; then nothing is.
func TestJ19AnOpenJobMakesABlockASecondUnderAuto(t *testing.T) {
	b := newBench(t, 4, 1, params.Overrides{"chain.block_time_auto": "true"})
	counter := b.deployed()
	quiet := func() types.Height {
		t.Helper()
		before := b.Tip()
		if err := b.RunFor(30 * time.Second); err != nil {
			t.Fatal(err)
		}
		return b.Tip() - before
	}
	quiet()
	if n := quiet(); n != 0 {
		t.Fatalf("%d blocks without work", n)
	}
	from := b.Tip() + 1
	b.submit(1, counter)
	b.blocks(3) // which include those of the submission
	before := b.Tip()
	b.blocks(5)
	if n := b.Tip() - before; n < 4 || n > 5 {
		t.Errorf("%d blocks in five seconds of a job that waits", n)
	}
	b.everywhere("r0")
	if err := b.RunFor(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if got := b.changes(from); !slices.Contains(got, types.JobChangeCalledBack) || slices.Contains(got, types.JobChangeFailed) {
		t.Fatalf("the job went %v", got)
	}
	quiet()
	if n := quiet(); n != 0 {
		t.Errorf("%d blocks behind the job's end", n)
	}
}

// Decision J11: a result that was brought without a connection goes the way of any
// other, and is judged alike: in sunset too (CIP-11 §14, phase 3).
func TestJ11AResultThatIsBroughtByHTTP(t *testing.T) {
	for _, phase := range []string{"shadow", "sunset"} {
		t.Run(phase, func(t *testing.T) { testBroughtResult(t, phase) })
	}
}

func testBroughtResult(t *testing.T, phase string) {
	b := newBench(t, 4, 1, params.Overrides{"cip11.push": phase})
	counter := b.deployed()
	for _, h := range b.everywhere("r0") {
		h.result = "" // what it is pushed it brings without a connection
	}
	b.blocks(3)
	from := b.Tip() + 1
	b.submit(1, counter)
	b.blocks(2)
	runner := b.runners["r0"]
	var answers []error
	bring := func(change func(*push.JobResult)) {
		t.Helper()
		f := &push.JobResult{JobID: b.jobID(from), ResultData: []byte("done")}
		f.RunnerSigned = runner.Sign(f.Digest(8011))
		change(f)
		b.Validator("v1").BringResult(runner.Address(), f, func(err error) { answers = append(answers, err) })
		b.settle()
	}
	bring(func(f *push.JobResult) { f.RunnerSigned[0]++ })
	bring(func(f *push.JobResult) { f.JobID[0]++; f.RunnerSigned = runner.Sign(f.Digest(8011)) })
	bring(func(*push.JobResult) {})
	bring(func(*push.JobResult) {})
	for i, err := range answers {
		if refused := (*validators.NotTakenError)(nil); errors.As(err, &refused) == (i == 2) {
			t.Errorf("answer %d: %v", i, err)
		}
	}
	b.blocks(4)
	if got := b.changes(from); len(answers) != 4 || !slices.Contains(got, types.JobChangeCompleted) {
		t.Fatalf("%d answers, and the job went %v", len(answers), got)
	}
}

// J11, J21: a refusal that was brought without a connection goes the way of one that came
// over a stream: the job ends refused, with the reason, and the runner keeps its reputation.
func TestJ21ARefusalThatIsBroughtByHTTP(t *testing.T) {
	b := newBench(t, 4, 1, params.Overrides{"cip11.push": "shadow"})
	counter := b.deployed()
	b.blocks(3)
	from := b.Tip() + 1
	b.submit(1, counter)
	b.blocks(2)
	runner, state, id := b.runners["r0"], b.Validator("v1").Head().State, b.jobID(from)
	why, text := push.Unsupported, "no such executor"
	said := push.Refusal{JobID: id, Drawn: state.Job(id).Since, Spec: types.Keccak(state.JobSpec(id)), Reason: why, Text: text}
	var answers []error
	bring := func(change func(*push.JobAck)) {
		t.Helper()
		signed := runner.Sign(said.Digest(8011))
		f := &push.JobAck{JobID: id, Status: push.AckStatus{Reject: &why}, Reason: &text, RefusalSigned: &signed}
		change(f)
		b.Validator("v1").BringRefusal(runner.Address(), f, func(err error) { answers = append(answers, err) })
		b.settle()
	}
	bring(func(f *push.JobAck) { f.RefusalSigned[0]++ })
	bring(func(f *push.JobAck) { f.JobID[0]++ })
	bring(func(*push.JobAck) {})
	for i, err := range answers {
		if refused := (*validators.NotTakenError)(nil); errors.As(err, &refused) == (i == 2) {
			t.Errorf("answer %d: %v", i, err)
		}
	}
	b.blocks(3)
	got := b.changes(from)
	after := b.Validator("v1").Head().State.Runner(runner.Address())
	if len(answers) != 3 || !slices.Contains(got, types.JobChangeRefused) || !slices.Contains(got, types.JobChangeFailed) ||
		after.Reputation != state.Runner(runner.Address()).Reputation {
		t.Fatalf("%d answers, the job went %v, the runner is %+v", len(answers), got, after)
	}
}

// jobID is the job that was submitted from a height on.
func (b *bench) jobID(from types.Height) types.Hash {
	b.Helper()
	for _, r := range b.final {
		if r.Block.Header.Height >= from && len(r.Jobs) > 0 {
			return r.Jobs[0].ID
		}
	}
	b.Fatal("no job was submitted")
	return types.Hash{}
}

// A validator that is stopped says Goodbye; one that crashed says nothing, and its
// runner is still present by the votes of the others. When it runs again, runners
// are let in again.
func TestAValidatorsEndAndItsRunners(t *testing.T) {
	b := newBench(t, 4, 1, nil)
	counter := b.deployed()
	hands := b.everywhere("r0")
	b.blocks(3)
	at := map[string]*hand{}
	for _, name := range b.Names() {
		for _, h := range hands {
			if h.to == b.Key(name).PublicKey() {
				at[name] = h
			}
		}
	}
	var crashed, stopped string
	for _, name := range b.Names() {
		switch {
		case at[name] == nil:
		case crashed == "":
			crashed = name
		case stopped == "":
			stopped = name
		}
	}
	if _, err := b.Do(fault.Order{Verb: fault.Crash, Node: crashed}); err != nil {
		t.Fatal(err)
	}
	b.blocks(4)
	if h := at[crashed]; h.reason != "" || len(b.present()) != 1 {
		t.Errorf("a crash said %q; present are %v", h.reason, b.present())
	}
	if err := b.Boot(crashed); err != nil {
		t.Fatal(err)
	}
	b.blocks(3)
	if err := errors.Join(b.Stop(stopped), b.Boot(stopped)); err != nil {
		t.Fatal(err)
	}
	b.blocks(3)
	if h := at[stopped]; h.reason != string(push.Shutdown) || heardOf[*push.Goodbye](h) != 1 {
		t.Errorf("a validator that stops says %q", h.reason)
	}
	for _, name := range []string{crashed, stopped} {
		h := b.connect("r0", name)
		b.blocks(2)
		if h.down || len(b.Validator(name).Connections()) != 1 {
			t.Errorf("%s lets its runner not in again: %q", name, h.reason)
		}
	}
	b.served(counter)
}

// Decision J18: a validator brings the pings of its runners on chain, one of each
// runner when it is due, whichever validator of the subset comes first.
func TestJ18PingsComeOnChainOnceInTheirTime(t *testing.T) {
	const every, blocks = 10, 60
	b := newBench(t, 4, 2, params.Overrides{"cip11.heartbeat_tx_blocks": "10"})
	b.everywhere("r0")
	b.everywhere("r1")
	b.blocks(2)
	from := b.Tip()
	b.blocks(blocks)
	beats := 0
	for _, r := range b.final {
		for i := range r.Receipts {
			if r.Block.Header.Height > from && r.Receipts[i].Handler == "heartbeat" {
				beats++
			}
		}
	}
	if beats > 2*blocks/every || beats < 2*blocks/(every+6) {
		t.Errorf("%d heartbeats of two runners in %d blocks", beats, blocks)
	}
	for name, s := range b.runners {
		if r := b.Validator("v0").Head().State.Runner(s.Address()); b.Tip()-r.LastHeartbeat > every+8 {
			t.Errorf("%s: the last heartbeat dates from block %d, at %d", name, r.LastHeartbeat, b.Tip())
		}
	}
}
