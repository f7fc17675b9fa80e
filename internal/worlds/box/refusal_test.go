package box

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// A transaction that no block may hold has its own error code, and changes
// nothing: neither state nor mempool.
func TestBadTransactionsAreRefused(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Auto: true}, Ephemeral: true})
	alice := newPayer(n, "alice")
	landed := alice.transfer(types.Address{1}, 5)
	land(t, n, landed)
	before := content(n)

	good := func() *types.Transaction {
		w := newPayer(n, "alice")
		return w.transfer(types.Address{1}, 5)
	}
	signed := func(key string, change func(*types.Transaction)) []byte {
		tx := good()
		change(tx)
		sig := n.Key(key).Sign(tx.SigningDigest())
		tx.Signature = &sig
		return tx.Encode()
	}
	forged := good()
	forged.Value = types.WeiOf(6) // after it was signed: recovers to nobody with an account
	highS := good()
	highS.Signature[32] |= 0x80
	loose := append([]byte{0x9f}, good().Encode()[1:]...) // an array of indefinite length
	for _, c := range []struct {
		name, code string
		raw        []byte
	}{
		{"malformed", "malformed", []byte("hello")},
		{"not canonical", "malformed", append(loose, 0xff)},
		{"with a tail", "malformed", append(good().Encode(), 0)},
		{"oversized", "too_large", make([]byte, types.MaxTransactionBytes+1)},
		{"changed after signing", "bad_signature", forged.Encode()},
		{"high s", "bad_signature", highS.Encode()},
		{"by somebody unknown", "bad_signature", func() []byte {
			tx := good()
			sig := crypto.DeriveKey(99, "nobody").Sign(tx.SigningDigest())
			tx.Signature = &sig
			return tx.Encode()
		}()},
		{"replayed", "nonce_too_low", landed.Encode()},
		{"for another chain", "wrong_chain", signed("alice", func(tx *types.Transaction) { tx.ChainID = 1 })},
		{"with a nonce out of reach", "nonce_gap", signed("alice", func(tx *types.Transaction) { tx.Nonce += 1 << 40 })},
		{"unaffordable", "insufficient_funds", signed("alice", func(tx *types.Transaction) { tx.Value = types.MaxWei })},
		{"below the base fee", "fee_too_low", signed("alice", func(tx *types.Transaction) { tx.MaxFeePerCycle = types.Wei{} })},
		{"above the block's limit", "limit_too_high", signed("alice", func(tx *types.Transaction) { tx.CyclesLimit = 1 << 60 })},
		{"of an unknown kind", "unknown_kind", signed("alice",
			func(tx *types.Transaction) { tx.Payload = codec.Marshal(map[string]string{"kind": "burn"}) })},
		{"an instruction without the system key", "not_system", signed("alice", func(tx *types.Transaction) {
			tx.To, tx.Value = nil, types.Wei{}
			tx.Payload = codec.Marshal(types.System{Kind: types.KindSystem, Opcode: 48, Args: codec.Marshal(map[string]types.Hash{"timer_id": {}})})
		})},
	} {
		_, err := n.Submit(context.Background(), c.raw)
		var refused *refusal.Error
		if !errors.As(err, &refused) || refused.Code != c.code {
			t.Errorf("%s: %v, want the code %s", c.name, err, c.code)
		}
	}
	if !maps.Equal(before, content(n)) {
		t.Error("the state has changed")
	}
	asked := n.Best().Validator()
	_, err := network.Ask(context.Background(), n.scheduler, func(answer func(types.Nonce)) {
		asked.NextNonce(types.Address{}, 0, answer) // it answers after all earlier events
	})
	if held := asked.Status().Pool; err != nil || held != 0 {
		t.Errorf("the mempool holds %d: %v", held, err)
	}
}

// content is the state of the best validator, but for how far the calendar of
// timers is maintained, which follows the height.
func content(n *Network) map[string]string {
	all := map[string]string{}
	n.Best().Validator().Head().State.Scan(nil, nil, func(key, value []byte) bool {
		if string(key) != "t/m" {
			all[string(key)] = string(value)
		}
		return true
	})
	return all
}

// A wait ends that begins when the validators of the transaction's block have stopped, and the
// one that runs is behind that block.
func TestAWaitBeginsWhileOnlyALaggardRuns(t *testing.T) {
	n := up(t, quick())
	done(t, do(n, fault.Freeze, "v3"))
	tx := newPayer(n, "alice").transfer(types.Address{1}, 1)
	land(t, n, tx)
	for _, name := range []string{"v0", "v1", "v2"} {
		done(t, do(n, fault.Crash, name))
	}
	done(t, do(n, fault.Thaw, "v3"))
	ended := make(chan error, 1)
	go func() {
		_, err := n.Wait(within(t), tx.Hash())
		ended <- err
	}()
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := n.Wait(short, tx.Hash()); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("v3 has the block already, or %v", err)
	}
	for _, name := range []string{"v0", "v1", "v2"} {
		done(t, do(n, fault.Restart, name))
	}
	done(t, <-ended)
}

// Who waits for a transaction that another one of its sender replaced is told so with
// the block that has the other one.
func TestAReplacedTransactionIsToldOf(t *testing.T) {
	n := up(t, Config{Plan: setup.Plan{Validators: 1, Auto: true}, Ephemeral: true})
	alice := newPayer(n, "alice")
	first := alice.transfer(types.Address{1}, 1)
	old := alice.transfer(types.Address{1}, 2)
	better := *old
	better.MaxFeePerCycle, better.MaxPriorityFeePerCycle = old.MaxFeePerCycle.Mul(2), old.MaxPriorityFeePerCycle.Mul(2).Add(types.WeiOf(1))
	alice.signed(&better)
	for _, tx := range []*types.Transaction{old, &better} {
		if _, err := n.Submit(t.Context(), tx.Encode()); err != nil {
			t.Fatal(err)
		}
	}
	wait := n.Await(old.Hash())
	defer wait.GiveUp()
	land(t, n, first)
	end, err := wait.Wait(within(t), network.Forever)
	done(t, err)
	if end.Receipt != nil || end.Dropped == "" {
		t.Errorf("the replaced transaction ended with %+v", end)
	}
	// A wait that begins after the drop ends as well.
	var refused *refusal.Error
	if _, err := n.Wait(within(t), old.Hash()); !errors.As(err, &refused) || refused.Code != refusal.CodeDropped {
		t.Errorf("a later wait for the replaced transaction ended with %v, want %s", err, refusal.CodeDropped)
	}
}
