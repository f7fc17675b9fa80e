package sim

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

// judging is a host that refuses all code with one code. Two machines with different codes
// are as two Pythons that end a program differently.
type judging struct{ code string }

func (j judging) Open(program.Purpose) (program.Session, error) { return judgingSession(j), nil }

type judgingSession judging

func (judgingSession) Bound(program.Bounds) {}
func (judgingSession) Close()               {}

func (s judgingSession) Inspect(program.Code) (program.Description, error) {
	return program.Description{}, &program.Refusal{Code: s.code, Reason: "it refuses all"}
}

func (judgingSession) Handle(program.Context, program.Code, program.Message) (program.Outcome, error) {
	return program.Outcome{}, &program.HostError{Failure: program.Crashed, During: "a test"}
}

// parted is a network of four validators of which some execute a deploy otherwise.
func parted(t *testing.T, log *bytes.Buffer, seed uint64, odd ...string) *Network {
	return aNetwork(t, NetworkConfig{
		World: Config{Seed: seed, Log: slog.New(slog.NewTextHandler(log, nil))}, Validators: 4, Apart: true, Programs: judging{},
		Pythons: map[string]string{"v0": "3.11.7", "v1": "3.11.7", "v2": "3.11.9", "v3": "3.11.2"},
		Wrap: func(name string, node env.Validator) env.Validator {
			code := "one"
			if slices.Contains(odd, name) {
				code = "other"
			}
			node.Programs = judging{code}
			return node
		}})
}

// accused are the words with which a validator calls a peer a liar.
const accused = "a peer sent blocks as finalized that are not"

// Decision C2: a validator that executes otherwise than three others blames itself. It neither
// proposes nor votes, reports why, and accuses no peer. The others continue.
func TestC2AValidatorThatExecutesOtherwiseBlamesItself(t *testing.T) {
	for seed := range uint64(3) {
		var log bytes.Buffer
		n := parted(t, &log, seed+1, "v3")
		letRun(t, n.World, 3*time.Second)
		deploy, _ := n.Deploy("alice", []byte("2Δ"), types.Wei{})
		n.Submit("v0", deploy, nil)
		letRun(t, n.World, 60*time.Second)
		alone, others := n.Validator("v3"), n.Validator("v0")
		status := alone.Status()
		if status.Diverged == nil || status.Unfit == "" || !strings.Contains(status.Diverged.Items, "other") {
			t.Fatalf("seed %d: v3 says %+v", seed, status.Diverged)
		}
		const pythons = "with Python 3.11.2 here and 3.11.7 (2), 3.11.9 (1) there"
		if words := status.Diverged.String(); !strings.Contains(words, pythons) || !strings.Contains(log.String(), "3.11.9 (1)") {
			t.Errorf("seed %d: an operator reads %q", seed, words)
		}
		if height := alone.Head().Block.Header.Height; height != status.Diverged.Height-1 {
			t.Errorf("seed %d: v3 is at height %d, and differs at %d", seed, height, status.Diverged.Height)
		}
		if height := others.Head().Block.Header.Height; height < status.Diverged.Height+10 {
			t.Errorf("seed %d: the others are at height %d, after %d", seed, height, status.Diverged.Height)
		}
		if strings.Contains(log.String(), accused) {
			t.Errorf("seed %d: a peer is accused", seed)
		}
	}
}

// Decision C2: two validators that end a deploy otherwise than two others leave it out. Blocks
// continue, and the deploy is dropped by name, uncharged.
func TestC2HalvesThatDisagreeLeaveTheItemOut(t *testing.T) {
	for seed := range uint64(3) {
		var log bytes.Buffer
		n := parted(t, &log, seed+1, "v2", "v3")
		letRun(t, n.World, 3*time.Second)
		deploy, _ := n.Deploy("alice", []byte("2Δ"), types.Wei{})
		n.Submit("v0", deploy, nil)
		letRun(t, n.World, 90*time.Second)
		began := n.Validator("v0").Head().Block.Header.Height
		letRun(t, n.World, 150*time.Second)
		for _, name := range []string{"v0", "v1", "v2", "v3"} {
			v := n.Validator(name)
			if status := v.Status(); status.Diverged != nil || status.Pool != 0 {
				t.Errorf("seed %d: %s says %v, with %d transactions in its pool", seed, name, status.Diverged, status.Pool)
			}
			if height := v.Head().Block.Header.Height; height < began+60 {
				t.Errorf("seed %d: %s is at height %d, after %d", seed, name, height, began)
			}
			if account := v.Head().State.Account(n.Key("alice").Address()); account.Nonce != 0 {
				t.Errorf("seed %d: alice paid at %s: nonce %d", seed, name, account.Nonce)
			}
		}
		if strings.Contains(log.String(), accused) || !strings.Contains(log.String(), "disputed") {
			t.Errorf("seed %d: accused, or not named", seed)
		}
	}
}
