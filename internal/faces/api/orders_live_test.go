package api_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// refused wants an answer that is an error, by its code and its field.
func (l *live) refused(err error, code, field string) {
	l.Helper()
	var answer *client.Error
	if !errors.As(err, &answer) || answer.Code != code || answer.Field != field {
		l.Errorf("%v (%+v), want %s at %s", err, answer, code, field)
	}
}

func TestAJobIsSubmittedAndCancelledByItsSubmitter(t *testing.T) {
	l := newLive(t, 1)
	before := l.balance("bob")
	blocks, price, tip := uint64(5_000), types.WeiOf(7), types.WeiOf(5)
	j, err := l.client.SubmitJob(l.ctx, model.JobRequest{From: "bob", Kind: "custom", Executor: "echo", Params: "hello",
		TimeoutBlocks: &blocks, MaxPrice: &price, Tip: &tip})
	if err != nil || j.Status != "Pending" || j.Kind != "custom" || j.Escrow != types.WeiOf(12) || j.TimeoutBlocks != 5_000 {
		t.Fatalf("%+v, %v", j, err)
	}
	if bob, err := l.client.Account(l.ctx, "bob"); err != nil || bob.Address != j.Submitter {
		t.Errorf("%+v, %v", bob, err)
	}
	c, err := l.client.CancelJob(l.ctx, j.ID.String()[:12])
	if err != nil || c.ID != j.ID || c.Status != "Failed" || c.Error == nil || c.Error.Code != "cancelled" {
		t.Fatalf("%+v, %v", c, err)
	}
	fees := types.Wei{}
	for h := j.SubmittedAt; h <= *c.CompletedAt; h++ {
		receipts, err := client.Collect(l.client.BlockReceipts(l.ctx, strconv.FormatUint(uint64(h), 10), client.Page{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range receipts {
			fees = fees.Add(r.Fee)
		}
	}
	if after := l.balance("bob"); before.Sub(after) != fees {
		t.Errorf("bob had %s, has %s, and paid fees of %s: the escrow did not return", before, after, fees)
	}
	_, err = l.client.CancelJob(l.ctx, j.ID.String())
	l.refused(err, "job_ended", "id")
	_, err = l.client.CancelJob(l.ctx, types.Hash{1}.String())
	l.refused(err, "unknown_job", "id")
	_, err = l.client.SubmitJob(l.ctx, model.JobRequest{Kind: "custom", Executor: "echo", Mode: "majority_vote"})
	l.refused(err, "invalid_job", "runners")
	_, err = l.client.SubmitJob(l.ctx, model.JobRequest{Kind: "custom", Executor: "echo", Callback: "nobody.on"})
	l.refused(err, "unknown_name", "callback")
	_, err = l.client.SubmitJob(l.ctx, model.JobRequest{From: "mallory", Kind: "custom", Executor: "echo"})
	l.refused(err, "unknown_signer", "from")
	much := types.WeiOf(2_000_000).Mul(types.CBY)
	_, err = l.client.SubmitJob(l.ctx, model.JobRequest{Kind: "custom", Executor: "echo", MaxPrice: &much})
	l.refused(err, "insufficient_funds", "")
}

func (l *live) balance(name string) types.Wei {
	l.Helper()
	a, err := l.client.Account(l.ctx, name)
	if err != nil {
		l.Fatal(err)
	}
	return a.Balance
}

// signedFor is a runner's signature of its registration by a devnet account.
func (l *live) signedFor(runner crypto.Signer, account string) types.Signature {
	l.Helper()
	owner, err := l.client.Account(l.ctx, account)
	if err != nil {
		l.Fatal(err)
	}
	ready, err := l.client.Ready(l.ctx)
	if err != nil {
		l.Fatal(err)
	}
	return runner.Sign(types.RegistrationDigest(ready.ChainID, owner.Address, runner.PublicKey()))
}

func TestARunnerIsRegisteredAndLedByItsOwner(t *testing.T) {
	l := newLive(t, 1)
	key := crypto.DeriveKey(9, "stranger")
	little, stake := types.WeiOf(9_999).Mul(types.CBY), types.WeiOf(15_000).Mul(types.CBY)
	signed := l.signedFor(crypto.NewVerifier(false).Signer(key), "carol")
	request := model.RunnerRequest{From: "carol", PublicKey: key.PublicKey().String(), Signed: &signed, Stake: &little,
		Capability: []string{"http", "domain:a.b"}, Entitlement: []string{"eu"}, Rate: map[string]types.Wei{"compute_second": types.WeiOf(3)}}
	_, err := l.client.JoinRunner(l.ctx, request)
	l.refused(err, "stake_too_low", "")
	request.Stake, request.From = &stake, "dave"
	_, err = l.client.JoinRunner(l.ctx, request)
	l.refused(err, "bad_signature", "")
	request.From = "carol"
	r, err := l.client.JoinRunner(l.ctx, request)
	if err != nil || r.Address != key.Address() || r.PublicKey != key.PublicKey() || r.Stake != stake || r.Health != model.RunnerHealthy ||
		r.MaxConcurrentJobs != 4 || len(r.Capabilities) != 2 || r.Entitlements[0] != "eu" || r.RateCard.ComputeSecond != types.WeiOf(3) {
		t.Fatalf("%+v, %v", r, err)
	}
	if carol, err := l.client.Account(l.ctx, "carol"); err != nil || carol.Address != r.Owner {
		t.Errorf("%+v, %v", carol, err)
	}
	_, err = l.client.JoinRunner(l.ctx, request)
	l.refused(err, "already_registered", "")
	if r, err = l.client.PauseRunner(l.ctx, r.Address.String()[:14]); err != nil || r.Health != model.RunnerPaused {
		t.Fatalf("%+v, %v", r, err)
	}
	_, err = l.client.PauseRunner(l.ctx, r.Address.String())
	l.refused(err, "no_change", "")
	if r, err = l.client.ResumeRunner(l.ctx, r.Address.String()); err != nil || r.Health != model.RunnerHealthy {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = l.client.UpdateRunner(l.ctx, model.RunnerAmendment{Runner: r.Address.String(), Model: []string{"big"},
		MaxConcurrent: new(uint64(99)), Rate: map[string]types.Wei{"memory_mb": types.WeiOf(7)}})
	if err != nil || r.RateCard.ComputeSecond != types.WeiOf(3) || r.RateCard.MemoryMB != types.WeiOf(7) || r.MaxConcurrentJobs != 99 ||
		!slices.Equal(r.Capabilities, []string{"domain:a.b", "http", "model:big"}) || !slices.Equal(r.Entitlements, []string{"eu"}) {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = l.client.AddStake(l.ctx, model.RunnerAddition{Runner: r.Address.String(), Amount: types.WeiOf(5)})
	if stake = stake.Add(types.WeiOf(5)); err != nil || r.Stake != stake {
		t.Fatalf("%+v, %v", r, err)
	}
	_, err = l.client.AddStake(l.ctx, model.RunnerAddition{Runner: r.Address.String()})
	l.refused(err, "no_change", "")
	_, err = l.client.AddStake(l.ctx, model.RunnerAddition{Runner: "nobody", Amount: stake})
	l.refused(err, "unknown_runner", "runner")
	_, err = l.client.UpdateRunner(l.ctx, model.RunnerAmendment{Runner: "nobody"})
	l.refused(err, "unknown_runner", "runner")
	_, err = l.client.UpdateRunner(l.ctx, model.RunnerAmendment{Runner: r.Address.String(), Capability: []string{"fly"}})
	l.refused(err, "invalid_runner", "capability")
	if r, err = l.client.LeaveRunner(l.ctx, r.Address.String()); err != nil || r.Health != model.RunnerDeregistered || r.Stake != stake ||
		r.StakeReturns <= 128 {
		t.Fatalf("%+v, %v", r, err)
	}
	_, err = l.client.ResumeRunner(l.ctx, r.Address.String())
	l.refused(err, "deregistered", "")
	_, err = l.client.LeaveRunner(l.ctx, "0x00000000000000000000000000000000000000aa")
	l.refused(err, "unknown_runner", "runner")
	_, err = l.client.LeaveRunner(l.ctx, "nobody")
	l.refused(err, "unknown_runner", "runner")
	_, err = l.client.JoinRunner(l.ctx, model.RunnerRequest{PublicKey: "0x02"})
	l.refused(err, "invalid_runner", "public_key")
}

// story returns the reports on a job's progress.
func (l *live) story(id string) (told string) {
	s, err := l.client.JobStory(l.ctx, id, 0, 100)
	if err != nil {
		l.Fatal(err)
	}
	for _, e := range s.Story {
		if e.What == model.JobProgressed && e.Detail != nil {
			told += fmt.Sprint(*e.Fraction, " ", *e.Detail, "\n")
		}
	}
	return told
}

func TestAJobByHandIsDoneByTheDevnetsRunners(t *testing.T) {
	l := newLive(t, 4, func(c *box.Config) { c.Runners = 2 })
	blocks, committee := uint64(3_000), uint64(2)
	j, err := l.client.SubmitJob(l.ctx, model.JobRequest{Kind: "custom", Executor: api.Manual, Runners: &committee, Mode: "deterministic",
		TimeoutBlocks: &blocks, DataFormat: "text"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.client.AnswerJob(l.ctx, model.AnswerRequest{ID: j.ID.String(), Result: "0xff"})
	l.refused(err, "bad_result", "result")
	for _, percent := range []uint8{40, 40, 101} {
		_, err = l.client.ProgressJob(l.ctx, model.ProgressRequest{ID: j.ID.String(), Percent: percent, Detail: "half\nof it"})
		if percent == 40 && err == nil {
			l.until(func() bool { return strings.Contains(l.story(j.ID.String()), "40 half of it") })
		} else if err == nil {
			t.Errorf("%d was taken after 40", percent)
		}
	}
	if _, err = l.client.AnswerJob(l.ctx, model.AnswerRequest{ID: j.ID.String(), Result: "by hand"}); err != nil {
		t.Fatal(err)
	}
	l.until(func() bool {
		j, err = l.client.Job(l.ctx, j.ID.String())
		return err != nil || j.CompletedAt != nil
	})
	if err != nil || j.Status != "Completed" || string(*j.Result) != "by hand" || len(j.Committee) != 2 {
		t.Fatalf("%+v, %v", j, err)
	}
	_, err = l.client.AnswerJob(l.ctx, model.AnswerRequest{ID: j.ID.String(), Result: "late"})
	l.refused(err, "job_ended", "id")
	other, err := l.client.SubmitJob(l.ctx, model.JobRequest{Kind: "custom", Executor: "nobody's", TimeoutBlocks: &blocks})
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.client.AnswerJob(l.ctx, model.AnswerRequest{ID: other.ID.String(), Result: "late"})
	l.refused(err, "not_manual", "id")
}

// until waits, block by block, until something holds.
func (l *live) until(holds func() bool) {
	l.Helper()
	enough := errors.New("enough")
	err := l.client.Events(l.ctx, client.Follow{Kinds: []string{model.EventBlock}}, func(client.Event) error {
		if holds() {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		l.Fatalf("it did not come: %v", err)
	}
}

func TestOneMoreRunnerOfTheDevnetJoinsAndLeaves(t *testing.T) {
	l := newLive(t, 4, func(c *box.Config) { c.Runners = 1 })
	stake := types.WeiOf(12_000).Mul(types.CBY)
	r, err := l.client.JoinRunner(l.ctx, model.RunnerRequest{From: "dave", Stake: &stake, Entitlement: []string{"gold"},
		Model: []string{"big"}, Rate: map[string]types.Wei{"compute_second": types.WeiOf(3)}})
	if err != nil || r.Name != "r1" || r.Index != 1 || r.Stake != stake || !slices.Equal(r.Entitlements, []string{"gold"}) ||
		!slices.Contains(r.Capabilities, "model:big") || r.RateCard.ComputeSecond != types.WeiOf(3) {
		t.Fatalf("%+v, %v", r, err)
	}
	l.until(func() bool {
		r, err = l.client.Runner(l.ctx, "r1")
		return err != nil || r.Present
	})
	if err != nil || len(r.Connected) == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, code := range map[string]string{"r0": "already_runner", "r9": "invalid_name"} {
		_, err = l.client.JoinRunner(l.ctx, model.RunnerRequest{Name: name})
		l.refused(err, code, "name")
	}
	_, err = l.client.JoinRunner(l.ctx, model.RunnerRequest{Capability: []string{"http"}})
	l.refused(err, "invalid_runner", "capability")
	_, err = l.client.JoinRunner(l.ctx, model.RunnerRequest{MaxConcurrent: new(uint64(17))})
	l.refused(err, "invalid_runner", "max_concurrent")
	_, err = l.client.UpdateRunner(l.ctx, model.RunnerAmendment{Runner: "r0", MaxConcurrent: new(uint64(17))})
	l.refused(err, "invalid_runner", "max_concurrent")
	if r, err = l.client.UpdateRunner(l.ctx, model.RunnerAmendment{Runner: "r1", Entitlement: []string{}}); err != nil ||
		len(r.Entitlements) != 0 || r.MaxConcurrentJobs != 16 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = l.client.PauseRunner(l.ctx, "r0"); err != nil || r.Health != model.RunnerPaused || r.Owner != r.Address {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err = l.client.LeaveRunner(l.ctx, "r1"); err != nil || r.Health != model.RunnerDeregistered {
		t.Fatalf("%+v, %v", r, err)
	}
	former := r.Address
	l.until(func() bool {
		r, err = l.client.Runner(l.ctx, former.String())
		return err != nil || len(r.Connected) == 0
	})
	again, err := l.client.JoinRunner(l.ctx, model.RunnerRequest{Name: "r1"})
	if err != nil || again.Name != "r1" || again.Address == former || again.Index != 2 {
		t.Fatalf("%+v, %v", again, err)
	}
	l.until(func() bool {
		again, err = l.client.Runner(l.ctx, "r1")
		return err != nil || again.Present
	})
	if err != nil {
		t.Fatal(err)
	}
}
