package box

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/worlds/audit"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
)

func refusedAs(t *testing.T, err error, code, words string) {
	t.Helper()
	var refused *refusal.Error
	if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(refused.Message, words) {
		t.Errorf("refused with %v, want %s: %s", err, code, words)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A network with a bound keeps so many blocks and no larger files, says what it
// no longer has, refuses whoever would need it, goes on after a restart, and is
// audited from where it begins.
func TestABoundedHistory(t *testing.T) {
	const bound = history.MinHistory
	dir := t.TempDir() + "/home"
	config := Config{Plan: setup.Plan{BlockTime: 5 * time.Millisecond, Seed: testSeed(), History: bound}, Home: dir, Log: logger()}
	n, err := Up(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	files := home.NodeFiles(dir, "v2")
	await(t, n, bound+60)
	early := sizeOf(t, files.State)
	await(t, n, 4*bound)
	if late := sizeOf(t, files.State); late > 2*early {
		t.Errorf("the file of state grew from %d to %d bytes while the blocks stayed %d", early, late, bound)
	}
	if votes := sizeOf(t, files.Votes); votes > 1<<20 {
		t.Errorf("after %d blocks the log of votes has %d bytes, although the store has the blocks", 4*bound, votes)
	}
	view, err := n.Reader("")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := view.Kept()
	if tip := n.Best().finalHeight(); err != nil || kept.Blocks != bound || kept.From < 2*bound || tip-kept.From < bound-2 {
		t.Errorf("of %d blocks it keeps those from %d on by %d, %v", tip, kept.From, kept.Blocks, err)
	}
	_, err = view.Block(1)
	refusedAs(t, err, answers.CodeNotKept, "height 1 is no longer kept: this network keeps 256 blocks (--history)")
	if genesis, err := view.Block(0); err != nil || genesis == nil {
		t.Errorf("genesis: %v", err)
	}
	_, err = n.Join(t.Context(), "")
	refusedAs(t, err, "history_bounded", "genesis")
	if err := do(n, fault.Crash, "v3"); err != nil {
		t.Fatal(err)
	}
	refusedAs(t, do(n, fault.Wipe, "v3"), "history_bounded", "v3 cannot be wiped")
	await(t, n, n.Best().finalHeight()+40)
	if err := do(n, fault.Restart, "v3"); err != nil {
		t.Fatal(err)
	}
	awaitNode(t, n.findNode("v3"), n.Best().finalHeight()+10)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	auditedFromTheBound(t, dir)

	if err := os.Remove(files.State); err != nil {
		t.Fatal(err)
	}
	other := home.NodeFiles(dir, "v0").State
	staysDown(t, dir, "v2", "height 0", "this network keeps 256 blocks (--history)", "copy "+other+" to "+files.State)
	state, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files.State, state, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, state[:len(state)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	refusedHome(t, dir, "v0", "is damaged", "copy "+home.NodeFiles(dir, "v1").State+" to "+other)
	if err := os.WriteFile(other, state, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := goesOn(t, dir); n.files.whyNotFromGenesis() == "" {
		t.Error("without --history it has forgotten that blocks are gone")
	}
}

// auditedFromTheBound audits a home of which blocks were dropped, and again with
// a block taken out of its middle.
func auditedFromTheBound(t *testing.T, dir string) {
	t.Helper()
	report, err := audit.Home(dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range report.Nodes {
		if node.From < 2 || node.Blocks != 0 || node.Votes == 0 || len(node.Problems) > 0 {
			t.Errorf("check says of %s: %+v", node.Name, node)
		}
	}
	path := home.NodeFiles(dir, "v1").State
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(w env.Write) {
		db, err := bolt.Open(path, store.Process)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Commit([]env.Write{w}), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	middle := binary.BigEndian.AppendUint64(nil, uint64(report.Nodes[1].Height-100))
	for words, write := range map[string]env.Write{
		"the block does not follow on":              {Bucket: "blocks", Key: middle},
		"the stored state is not that of the block": {Bucket: "state", Key: []byte("another"), Value: []byte{1}},
	} {
		commit(write)
		report, err := audit.Home(dir, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, node := range report.Nodes {
			if told := strings.Join(node.Problems, "\n"); (i == 1) != strings.Contains(told, words) {
				t.Errorf("%s: check says %q, wanted %q of v1 alone", node.Name, told, words)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A bound that leaves no room to catch up is refused.
func TestABoundBelowTheLeastIsRefused(t *testing.T) {
	if n, err := Up(context.Background(), Config{Plan: setup.Plan{History: history.MinHistory - 1}, Ephemeral: true}); err == nil {
		n.Close()
		t.Error("it is brought up")
	}
}

// The receipt of an advance counts also the blocks that were dropped on the way.
func TestAnAdvanceBeyondTheBoundCountsAllBlocks(t *testing.T) {
	const blocks = history.MinHistory + 200
	n := up(t, Config{Plan: setup.Plan{BlockTime: 5 * time.Millisecond, History: history.MinHistory}, Ephemeral: true})
	receipt := travel(t, n, history.Target{Make: blocks})
	if receipt.Blocks != blocks || receipt.Skipped != 0 || receipt.To != receipt.From+blocks {
		t.Errorf("of %d blocks: %+v", blocks, receipt)
	}
}

// A validator that lags behind what the others keep says so, and cannot be
// started into it.
func TestAValidatorBehindTheBoundSaysSo(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{BlockTime: 5 * time.Millisecond, History: history.MinHistory}, Ephemeral: true})
	awaitNode(t, n.findNode("v3"), 3)
	if err := do(n, fault.Freeze, "v3"); err != nil {
		t.Fatal(err)
	}
	await(t, n, n.findNode("v3").finalHeight()+history.MinHistory+60)
	if why := n.files.cutOff(n.findNode("v3").finalHeight()); !strings.Contains(why, "cannot catch up") {
		t.Errorf("it says %q", why)
	}
	if why := n.files.cutOff(n.Best().finalHeight() - types.Height(10)); why != "" {
		t.Errorf("of one that is within the bound it says %q", why)
	}
	if err := do(n, fault.Crash, "v3"); err != nil {
		t.Fatal(err)
	}
	if err := do(n, fault.Restart, "v3"); err == nil || !strings.Contains(err.Error(), "v3: its state is at height") {
		t.Errorf("it is started: %v", err)
	}
}
