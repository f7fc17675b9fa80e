package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// J11: a runner that only polls does a job of two with another that does the same.
// Only the validator commits to their results and then reveals them. It takes no
// report that another key signed, and no heartbeat that is too soon.
func TestRunnersThatPollDoAJobOnARealNetwork(t *testing.T) {
	l := newLive(t, 2, func(c *box.Config) {
		c.BlockTime, c.Params = 100*time.Millisecond, map[string]string{"cip11.push": "shadow"}
	})
	signer := func(name string) crypto.Signer { return crypto.NewVerifier(false).Signer(crypto.DeriveKey(9, name)) }
	stake := types.WeiOf(20_000).Mul(types.CBY)
	runners := map[types.Address]crypto.Signer{}
	for _, name := range []string{"one", "two"} {
		key := signer(name)
		runners[key.Address()] = key
		signed := l.signedFor(key, "carol")
		if _, err := l.client.JoinRunner(l.ctx, model.RunnerRequest{From: "carol", PublicKey: key.PublicKey().String(), Signed: &signed,
			Stake: &stake, Capability: []string{"custom"}}); err != nil {
			t.Fatal(err)
		}
	}
	two := uint64(2)
	j, err := l.client.SubmitJob(l.ctx, model.JobRequest{From: "bob", Kind: "custom", Executor: "echo", Params: "hello", Runners: &two,
		Mode: "deterministic"})
	if err != nil || len(j.Committee) != 2 {
		t.Fatalf("%+v, %v", j, err)
	}
	for address, key := range runners {
		todo, err := l.client.PolledJobs(l.ctx, address.String())
		if err != nil || len(todo) != 1 || todo[0].JobID != j.ID || todo[0].DeadlineBlock != j.Deadline ||
			string(todo[0].JobSpec) != string(j.Spec) {
			t.Fatalf("%+v, %v", todo, err)
		}
		result := &push.JobResult{JobID: j.ID, ResultData: []byte("done")}
		forged := model.ResultRequest{JobID: j.ID, ResultData: result.ResultData, RunnerSigned: signer("mallory").Sign(result.Digest(8011))}
		_, err = l.client.BringResult(l.ctx, address.String(), forged)
		l.refused(err, "not_taken", "")
		forged.RunnerSigned = key.Sign(result.Digest(8011))
		_, err = l.client.BringResult(l.ctx, address.String(), forged)
		l.refused(err, "not_taken", "")
		signed := key.Sign(push.CommitmentDigest(8011, j.ID, todo[0].BlockHeight, push.Commitment(result.ResultData, forged.RunnerSigned)))
		forged.CommitSigned = &signed
		if _, err := l.client.BringResult(l.ctx, address.String(), forged); err != nil {
			t.Fatal(err)
		}
	}
	if j, err = l.client.OnNode("").Job(l.ctx, j.ID.String()); err != nil {
		t.Fatal(err)
	}
	for j.CompletedAt == nil {
		if _, err := l.client.Send(l.ctx, model.SendRequest{From: "dave", To: "alice"}); err != nil { // a block more
			t.Fatal(err)
		}
		if j, err = l.client.Job(l.ctx, j.ID.String()); err != nil {
			t.Fatal(err)
		}
	}
	if j.Status != "Completed" || string(*j.Result) != "done" || runners[*j.Winner] == (crypto.Signer)(nil) {
		t.Errorf("%+v", j)
	}
	ping := &push.HeartbeatPing{BlockHeight: j.SubmittedAt + 1<<40, Nonce: 1}
	key := runners[*j.Winner]
	request := model.HeartbeatRequest{BlockHeight: ping.BlockHeight, Nonce: 1, Signed: signer("mallory").Sign(ping.Digest(8011))}
	_, err = l.client.BringHeartbeat(l.ctx, j.Winner.String(), request)
	l.refused(err, "malformed", "")
	ping.BlockHeight = j.SubmittedAt
	request = model.HeartbeatRequest{BlockHeight: ping.BlockHeight, Nonce: 1, Signed: key.Sign(ping.Digest(8011))}
	_, err = l.client.BringHeartbeat(l.ctx, j.Winner.String(), request)
	l.refused(err, "refused_report", "")
}

// J24: a registered runner floods all validators with heartbeats, of this height and of
// heights to come. It keeps no other job from its end. It is told to wait, and never that
// the devnet is at fault.
func TestJ24ARunnersFloodKeepsNoOthersJobBack(t *testing.T) {
	l := newLive(t, 4, func(c *box.Config) {
		c.Runners, c.BlockTime, c.Params = 3, 200*time.Millisecond, map[string]string{"cip11.heartbeat_tx_blocks": "1"}
	})
	flooder := crypto.NewVerifier(false).Signer(crypto.DeriveKey(9, "flooder"))
	signed := l.signedFor(flooder, "carol")
	if _, err := l.client.JoinRunner(l.ctx, model.RunnerRequest{From: "carol", PublicKey: flooder.PublicKey().String(),
		Signed: &signed}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(l.ctx)
	var posts, faults atomic.Int64
	var others sync.Map // codes of refusals
	var flood sync.WaitGroup
	for v := range 4 {
		on := l.client.OnNode(fmt.Sprintf("v%d", v))
		flood.Go(func() {
			for nonce := uint64(1); ctx.Err() == nil; nonce++ {
				height, err := on.Height(ctx)
				if err != nil {
					continue
				}
				ping := &push.HeartbeatPing{BlockHeight: height + types.Height(nonce%4), Nonce: nonce}
				if nonce%4 == 3 {
					ping.BlockHeight = 1 << 40
				}
				_, err = on.BringHeartbeat(ctx, flooder.Address().String(), model.HeartbeatRequest{BlockHeight: ping.BlockHeight, Nonce: nonce,
					Signed: flooder.Sign(ping.Digest(8011))})
				var refused *client.Error
				if posts.Add(1); errors.As(err, &refused) {
					others.Store(refused.Code, true)
					if refused.Status >= 500 {
						faults.Add(1)
					}
				}
			}
		})
	}
	two := uint64(2)
	for range 3 {
		j, err := l.client.SubmitJob(l.ctx, model.JobRequest{From: "bob", Kind: "custom", Executor: "echo", Params: "hello", Runners: &two,
			Mode: "deterministic"})
		for err == nil && j.CompletedAt == nil {
			j, err = l.client.Job(l.ctx, j.ID.String())
		}
		if err != nil || j.Status != "Completed" || j.Attempts != 1 {
			t.Errorf("the job of a bystander: %s in attempt %d, %v", j.Status, j.Attempts, err)
		}
	}
	stop()
	flood.Wait()
	if faults.Load() > 0 || posts.Load() < 50 {
		t.Errorf("of %d posts %d are told that the devnet is at fault", posts.Load(), faults.Load())
	}
	if _, told := others.Load("too_many_reports"); !told {
		t.Error("no post was told to wait")
	}
}

// J21: a runner that only polls refuses a job over HTTP. Its submitter reads the reason, the
// runner keeps its reputation and is offered the job no more, and another is drawn for it.
func TestJ21ARunnerThatPollsRefusesOnARealNetwork(t *testing.T) {
	l := newLive(t, 2, func(c *box.Config) {
		c.BlockTime, c.Params = 100*time.Millisecond, map[string]string{"cip11.push": "shadow"}
	})
	signer := func(name string) crypto.Signer { return crypto.NewVerifier(false).Signer(crypto.DeriveKey(9, name)) }
	stake := types.WeiOf(20_000).Mul(types.CBY)
	runners := map[types.Address]crypto.Signer{}
	for _, name := range []string{"one", "two"} {
		key := signer(name)
		runners[key.Address()] = key
		signed := l.signedFor(key, "carol")
		if _, err := l.client.JoinRunner(l.ctx, model.RunnerRequest{From: "carol", PublicKey: key.PublicKey().String(), Signed: &signed,
			Stake: &stake, Capability: []string{"custom"}}); err != nil {
			t.Fatal(err)
		}
	}
	one, timeout := uint64(1), uint64(100)
	j, err := l.client.SubmitJob(l.ctx, model.JobRequest{From: "bob", Kind: "custom", Executor: "sha265", Params: "hello", Runners: &one,
		Mode: "none", TimeoutBlocks: &timeout})
	if err != nil || len(j.Committee) != 1 {
		t.Fatalf("%+v, %v", j, err)
	}
	refused := map[types.Address]bool{}
	refuse := func(runner types.Address) {
		t.Helper()
		if refused[runner] {
			return
		}
		refused[runner] = true
		todo, err := l.client.PolledJobs(l.ctx, runner.String())
		if err != nil || len(todo) != 1 {
			t.Fatalf("%s is offered %+v, %v", runner, todo, err)
		}
		text := "no such executor: sha265"
		said := push.Refusal{JobID: j.ID, Drawn: todo[0].BlockHeight, Spec: types.Keccak(todo[0].JobSpec), Reason: push.Unsupported, Text: text}
		asked := model.RefusalRequest{JobID: j.ID, Reject: string(push.Unsupported), Reason: &text,
			RefusalSigned: signer("mallory").Sign(said.Digest(8011))}
		_, err = l.client.BringRefusal(l.ctx, runner.String(), asked)
		l.refused(err, "not_taken", "")
		asked.RefusalSigned = runners[runner].Sign(said.Digest(8011))
		if _, err := l.client.BringRefusal(l.ctx, runner.String(), asked); err != nil {
			t.Fatal(err)
		}
	}
	first := j.Committee[0]
	for j.Status != "Failed" {
		if len(j.Committee) == 1 {
			refuse(j.Committee[0])
		}
		if _, err := l.client.Send(l.ctx, model.SendRequest{From: "dave", To: "alice"}); err != nil { // a block more
			t.Fatal(err)
		}
		todo, err := l.client.PolledJobs(l.ctx, first.String())
		if err == nil && len(todo) > 0 && len(j.Committee) == 1 && j.Committee[0] != first {
			t.Fatalf("who refused is offered %+v", todo)
		}
		if j, err = l.client.Job(l.ctx, j.ID.String()); err != nil {
			t.Fatal(err)
		}
	}
	if j.Error.Code != "refused" || !strings.Contains(j.Error.Message, "Unsupported: no such executor: sha265") {
		t.Errorf("%+v", j.Error)
	}
	for address := range runners {
		if r, err := l.client.Runner(l.ctx, address.String()); err != nil || r.Reputation != 75 || r.Refusals != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
