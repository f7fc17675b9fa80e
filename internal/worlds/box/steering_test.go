package box

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/audit"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// code is the code of a refusal, "" where there was none.
func code(err error) string {
	var refused *refusal.Error
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func travel(t testing.TB, n *Network, target history.Target) *history.Advance {
	t.Helper()
	receipt, err := n.Advance(within(t), target)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// Time travel over real QUIC: it ends at the height asked for while the network
// is paused, timers fire at their heights, and a restart finds its clock again.
func TestAdvanceLive(t *testing.T) {
	home := t.TempDir()
	config := Config{Plan: setup.Plan{BlockTime: time.Second, Params: map[string]string{"chain.epoch_blocks": "500",
		"chain.link_delay_ms": "50"}}, Home: home}
	n := up(t, config)
	alice := newPayer(n, "alice")
	heart := deploySample(t, alice, "heartbeat", "heart", 900_000_000_000)
	land(t, n, alice.execute(heart, "start", samples.Number(100)))
	if err := errors.Join(n.Pause(), n.Pause()); err != nil {
		t.Fatal(err)
	}
	before := n.Best().Validator().Head().Block.Header.Timestamp
	receipt := travel(t, n, history.Target{Blocks: 5000})
	if receipt.Fired < 49 || receipt.Fired > 50 || receipt.Latest() != 0 || receipt.Blocks > 75 || receipt.Blocks+receipt.Skipped != 5000 {
		t.Errorf("%d fired, the latest %d late, %d blocks, %d skipped", receipt.Fired, receipt.Latest(), receipt.Blocks, receipt.Skipped)
	}
	if receipt.Clock != 5000*time.Second || n.clock.Offset() != receipt.Clock {
		t.Errorf("the clock was moved by %v, is %v ahead", receipt.Clock, n.clock.Offset())
	}
	tip := n.Best().Validator().Head().Block.Header
	if took := (tip.Timestamp - before); tip.Height != receipt.To || took < 4_990_000 || took > 5_010_000 {
		t.Errorf("at height %d after %d ms", tip.Height, took)
	}
	if next := travel(t, n, history.Target{NextTimer: true}); next.Fired != 1 || next.Timers[0].At != next.To {
		t.Errorf("%+v", next)
	}
	if _, err := n.Leave(within(t), "v0"); code(err) != "paused" {
		t.Error(err)
	}
	if err := errors.Join(n.Resume(), n.Resume()); err != nil {
		t.Fatal(err)
	}
	await(t, n, tip.Height+2)
	ahead := n.clock.Offset()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := up(t, Config{Home: home})
	if again.clock.Offset() != ahead {
		t.Errorf("after a restart the clock is %v ahead, not %v", again.clock.Offset(), ahead)
	}
	await(t, again, again.Best().finalHeight()+3)
	auditAll(t, again, home)
}

// auditAll closes a network and has its home audited.
func auditAll(t *testing.T, n *Network, home string) {
	t.Helper()
	nodes := len(n.List())
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := audit.Home(home, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Nodes) != nodes {
		t.Errorf("%d of %d nodes were audited", len(report.Nodes), nodes)
	}
	for _, node := range report.Nodes {
		if len(node.Problems) > 0 || node.Height == 0 {
			t.Errorf("%s at height %d: %v", node.Name, node.Height, node.Problems)
		}
	}
}

func TestAdvanceIsRefused(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{BlockTime: 100 * time.Millisecond}, Ephemeral: true})
	await(t, n, 2)
	for want, target := range map[string]history.Target{
		history.CodeBadTarget: {}, history.CodeHeightPassed: {To: 1}, history.CodeNoTimer: {NextTimer: true},
		history.CodeTooFar: {Blocks: 1 << 60},
	} {
		if _, err := n.Advance(within(t), target); code(err) != want {
			t.Errorf("%+v: %v", target, err)
		}
	}
	s := up(t, Config{Plan: setup.Plan{BlockTime: 100 * time.Millisecond, Strict: true}, Ephemeral: true})
	_, advance := s.Advance(within(t), history.Target{Blocks: 1})
	_, join := s.Join(within(t), "")
	_, leave := s.Leave(within(t), "v0")
	_, set := s.SetParam(within(t), "cip3.min_basefee", "2", 0)
	for i, err := range []error{advance, join, leave, set, s.Pause(), s.Resume()} {
		if code(err) != "strict" {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// awaitStatus waits, by new blocks, until a node has a status.
func awaitStatus(t testing.TB, n *Network, name, status string, running bool) {
	t.Helper()
	for range 400 {
		node := n.findNode(name)
		if got := node.statusIn(n.Best().Validator().Head().State); got == status && node.Running() == running {
			return
		}
		await(t, n, n.Best().finalHeight()+1)
	}
	t.Fatalf("%s did not become %s", name, status)
}

// C6, live: a validator joins under load and votes, another leaves and stops;
// both are what they are after a restart of the network.
func TestJoinAndLeaveLive(t *testing.T) {
	home := t.TempDir()
	n := up(t, Config{Plan: setup.Plan{BlockTime: 50 * time.Millisecond, Params: map[string]string{"chain.epoch_blocks": "16",
		"chain.link_delay_ms": "50"}}, Home: home})
	alice := newPayer(n, "alice")
	heart := deploySample(t, alice, "heartbeat", "heart", 900_000_000_000)
	land(t, n, alice.execute(heart, "start", samples.Number(1)))
	await(t, n, 20)
	if node, err := n.Join(within(t), ""); err != nil || node.Name != "v4" {
		t.Fatal(node, err)
	}
	awaitStatus(t, n, "v4", history.StatusActive, true)
	if _, err := n.Join(within(t), "v4"); code(err) != "already_validator" {
		t.Error(err)
	}
	if _, err := n.Join(within(t), "V 4"); code(err) != "invalid_name" {
		t.Error(err)
	}
	awaitVote(t, n, "v4")
	if _, err := n.Leave(within(t), "v0"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Leave(within(t), "v0"); code(err) != "already_leaving" && code(err) != "not_a_validator" {
		t.Error(err)
	}
	if _, err := n.Leave(within(t), "v9"); code(err) != "unknown_node" {
		t.Error(err)
	}
	awaitStatus(t, n, "v0", history.StatusLeft, false)
	for _, node := range n.Nodes() {
		if len(node.Missing) > 0 {
			t.Errorf("%s: %v", node.Name, node.Missing)
		}
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again := up(t, Config{Home: home})
	await(t, again, again.Best().finalHeight()+3)
	awaitVote(t, again, "v4")
	awaitStatus(t, again, "v0", history.StatusLeft, false)
	if _, err := again.Join(within(t), "v0"); err != nil {
		t.Fatal(err)
	}
	awaitStatus(t, again, "v0", history.StatusActive, true)
	awaitVote(t, again, "v0")
	auditAll(t, again, home)
}

// A validator that resumes executes old blocks. One in which v4 was in no set does not stop
// v4, which has joined since.
func TestAnOldBlockStopsNoValidator(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{BlockTime: 50 * time.Millisecond, Params: map[string]string{"chain.epoch_blocks": "16",
		"chain.link_delay_ms": "50"}}, Ephemeral: true})
	await(t, n, 2)
	head := n.Best().Validator().Head()
	before := &ledger.Result{Block: head.Block, State: head.State}
	if _, err := n.Join(within(t), "v4"); err != nil {
		t.Fatal(err)
	}
	await(t, n, n.Best().finalHeight()+2) // its membership is in a final block
	n.Final(before)
	awaitVote(t, n, "v4")
}

// awaitVote waits until a block carries a vote of a node.
func awaitVote(t testing.TB, n *Network, name string) {
	t.Helper()
	for range 400 {
		for _, vote := range n.Best().Validator().Head().Block.Parent.Votes {
			if vote.Validator == n.findNode(name).Address {
				return
			}
		}
		await(t, n, n.Best().finalHeight()+1)
	}
	t.Fatalf("%s does not vote", name)
}

func TestSetParamLive(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{BlockTime: 20 * time.Millisecond}, Ephemeral: true})
	await(t, n, 2)
	for want, try := range map[string][2]string{
		"unknown_parameter": {"cip3.nothing", "1"}, "genesis_parameter": {"chain.epoch_blocks", "9"}, "bad_value": {"cip3.min_basefee", "much"},
	} {
		_, err := n.SetParam(within(t), try[0], try[1], 0)
		if code(err) != want {
			t.Errorf("%v: %v", try, err)
		}
	}
	if _, err := n.SetParam(within(t), "cip3.min_basefee", "2", 1); code(err) != "height_passed" {
		t.Error(err)
	}
	at := n.Best().finalHeight() + 100
	change, err := n.SetParam(within(t), "cip3.min_basefee", "7", at)
	if err != nil || change.Height != at {
		t.Fatal(change, err)
	}
	travel(t, n, history.Target{To: at})
	if got := n.Best().Validator().Head().State.Params().MinBaseFee; got != types.WeiOf(7) {
		t.Errorf("min_basefee is %s", got)
	}
}

// BenchmarkAdvance is time travel by 1,000,000 blocks with 1,000 fires on the
// way over real QUIC, four validators, with the default parameters: of a Python
// and of a Go actor. "fires alone" is a fire in each of 1,000 blocks, and nothing
// to skip.
func BenchmarkAdvance(b *testing.B) {
	python, err := os.ReadFile("../../../fixtures/actors/heartbeat.py")
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		python        bool
		every, blocks uint64
	}{
		{"go, leaps", false, 1000, 1_000_000},
		{"go, fires alone", false, 1, 1000},
		{"python, leaps", true, 1000, 1_000_000},
		{"python, fires alone", true, 1, 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				n := up(b, Config{Plan: setup.Plan{BlockTime: time.Second}, Ephemeral: true})
				alice := newPayer(n, "alice")
				actor := samples.Code("heartbeat")
				if c.python {
					actor = bytes.Replace(python, []byte("INTERVAL = 10"), fmt.Appendf(nil, "INTERVAL = %d", c.every), 1)
				}
				deployed := land(b, n, alice.deploy(actor, "heart", 900_000_000_000_000))
				if deployed.Status != types.StatusOK {
					b.Fatalf("%+v", deployed)
				}
				land(b, n, alice.execute(deployed.To, "start", samples.Number(c.every)))
				if err := n.Pause(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
				receipt, err := n.Advance(ctx, history.Target{Blocks: c.blocks})
				cancel()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(receipt.Blocks), "blocks")
				b.ReportMetric(float64(receipt.Fired), "fires")
			}
		})
	}
}
