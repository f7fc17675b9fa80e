package pyhost

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// told is a context of CIP-1 §7.2, as the chain sends it.
var told = codec.Marshal(map[string]any{
	"trigger_block_height": 90, "current_block_height": 100, "basefee_cycle": 1000, "basefee_cell": 3, "basefee_lane_timer": types.MaxWei,
	"last_block_cycle_usage": 7, "previous_block_p50_priority_tip_per_cycle": 5, "owner_actor_balance": types.WeiOf(1 << 63).Mul(4),
})

// ask calls get_gas_bid as the chain does.
func (w *world) ask(t *testing.T, at types.Address, context []byte) (program.Outcome, types.Cycles) {
	t.Helper()
	return w.askAs(t, types.GovernanceAddress, at, context)
}

func (w *world) askAs(t *testing.T, from, at types.Address, context []byte) (program.Outcome, types.Cycles) {
	t.Helper()
	m := program.Message{Kind: program.Read, Sender: from, Self: at, Handler: program.BidHandler, Payload: context, Owner: owner}
	out, used, err := w.handle(m, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	return out, used
}

// CIP-1 §7, decision T14: an author writes get_gas_bid(context) and returns
// TxFeeParams, in both styles; the chain reads deterministic CBOR.
func TestGasBidsInBothStyles(t *testing.T) {
	w := openWorld(t)
	bare := w.deploy(1, `
from cowboy_sdk import TxFeeParams
def get_gas_bid(context):
    late = context.current_block_height - context.trigger_block_height
    return TxFeeParams(max_fee_per_cycle=2 * context.basefee_cycle, max_priority_fee_per_cycle=late)
`)
	class := w.deploy(2, `
from cowboy_sdk import actor, TxFeeParams, GBAContext
@actor
class Bidder:
    def get_gas_bid(self, context: GBAContext) -> TxFeeParams:
        return TxFeeParams(2000, 10)
`)
	want := codec.Marshal(map[string]any{"max_fee_per_cycle": 2000, "max_priority_fee_per_cycle": 10})
	for name, at := range map[string]types.Address{"bare": bare, "class": class} {
		out, used := w.ask(t, at, told)
		if out.Status != types.StatusOK || string(out.Output) != string(want) {
			t.Errorf("%s: %s %v %x, want %x", name, out.Status, out.Fault, out.Output, want)
		}
		if floor := types.Cycles(len(told) + len(want)); used < floor {
			t.Errorf("%s: %d cycles, but serialising alone is %d", name, used, floor)
		}
	}
	// Under the SDK only the chain may call a handler without a decorator.
	if out, _ := w.askAs(t, alice, class, told); out.Status != types.StatusReverted || out.Fault.Code != "not_callable" {
		t.Errorf("alice: %v", out)
	}
}

// The context has each field of §7.2 as an int, and an answer each of §7.1 up to
// 2^256-1, in the order of deterministic CBOR.
func TestGasBidsOfEverySize(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, `
from cowboy_sdk import TxFeeParams
def get_gas_bid(c):
    print(c.trigger_block_height, c.current_block_height, c.basefee_cycle, c.basefee_cell, c.basefee_lane_timer == 2**256 - 1,
          c.last_block_cycle_usage, c.previous_block_p50_priority_tip_per_cycle, c.owner_actor_balance == 2**65)
    print(TxFeeParams(1, max_fee_per_cell=2))
    return TxFeeParams(c.basefee_lane_timer, 2**64, max_fee_per_cell=2**64 - 1, max_priority_fee_per_cell=0)
`)
	out, _ := w.ask(t, at, told)
	want := codec.Marshal(map[string]any{"max_fee_per_cycle": types.MaxWei, "max_priority_fee_per_cycle": types.WeiOf(1 << 32).Mul(1 << 32),
		"max_fee_per_cell": types.WeiOf(1<<64 - 1), "max_priority_fee_per_cell": 0})
	if out.Status != types.StatusOK || string(out.Output) != string(want) {
		t.Errorf("%s %v %x, want %x", out.Status, out.Fault, out.Output, want)
	}
	if len(w.logs) != 2 || w.logs[0] != "90 100 1000 3 True 7 5 True" || w.logs[1] != "TxFeeParams(max_fee_per_cycle=1, max_fee_per_cell=2)" {
		t.Errorf("%q", w.logs)
	}
}

// Under the first revision an agent is told less (decision T23): the liquidator of
// the fixtures serves both.
func TestTheLiquidatorBidsUnderTheFirstRevisionToo(t *testing.T) {
	w := openWorld(t)
	code, err := os.ReadFile("../../../fixtures/actors/liquidator.py")
	if err != nil {
		t.Fatal(err)
	}
	revision := codec.Marshal(map[string]any{"trigger_block_height": 97, "current_block_height": 100, "basefee_cycle": 50, "basefee_cell": 3,
		"last_block_cycle_usage": 7, "owner_actor_balance": 9})
	// 10, and 10 for each block of lateness
	want := codec.Marshal(map[string]any{"max_fee_per_cycle": 2*50 + 40, "max_priority_fee_per_cycle": 40})
	if out, _ := w.ask(t, w.deploy(1, string(code)), revision); out.Status != types.StatusOK || string(out.Output) != string(want) {
		t.Errorf("%s %v %x, want %x", out.Status, out.Fault, out.Output, want)
	}
}

// What an agent does wrong is its own failure: the chain falls back to the
// protocol's agent (decision T15).
func TestGasBidsThatFail(t *testing.T) {
	w := openWorld(t)
	for body, want := range map[string]string{
		"return TxFeeParams(-1)":                      "ValueError: max_fee_per_cycle lies outside",
		"return TxFeeParams(2**256)":                  "ValueError",
		"return TxFeeParams('1')":                     "TypeError: max_fee_per_cycle is an int, in wei, not str",
		"return TxFeeParams(True)":                    "TypeError",
		"return 5":                                    "TypeError: a handler returns bytes",
		"c.basefee_cycle = 1":                         "AttributeError",
		"return c.balance":                            "AttributeError",
		"x = TxFeeParams(1); x.max_fee_per_cycle = 2": "AttributeError",
	} {
		at := w.deploy(1, "from cowboy_sdk import TxFeeParams\ndef get_gas_bid(c):\n    "+body+"\n")
		if out, _ := w.ask(t, at, told); out.Status != types.StatusReverted || !strings.Contains(out.Fault.Message, want) {
			t.Errorf("%s: %s %v", body, out.Status, out.Fault)
		}
	}
	printing := w.deploy(1, "def get_gas_bid(c):\n    print('late by', c.current_block_height - c.trigger_block_height)\n    raise "+
		"ValueError\n")
	if out, _ := w.ask(t, printing, told); out.Status != types.StatusReverted || len(w.logs) != 1 || w.logs[0] != "late by 10" {
		t.Errorf("%s, and its author reads %q", out.Status, w.logs)
	}
	looping := w.deploy(1, "def get_gas_bid(c):\n    while True: pass\n")
	if out, used := w.ask(t, looping, told); out.Status != types.StatusOutOfCycles || used != 20_000 {
		t.Errorf("%s after %d cycles", out.Status, used)
	}
	raw := w.deploy(1, "def get_gas_bid(): return b'raw'\n")
	if out, _ := w.ask(t, raw, told); string(out.Output) != "raw" {
		t.Errorf("%v", out)
	}
}

// A context that is not deterministic CBOR of numbers is refused before the
// author's code sees it.
func TestGasBidContextsAreDeterministicCBOR(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, "def get_gas_bid(c): return b'seen'\n")
	for _, bad := range []string{
		"", "a1", "80", "a16161", "a1616180", "bf616101ff", "a161611801", "a2616101616102", "a2616201616102",
		"a1010101", "a161611901", "a10101", "a161ff01", "a1616100" + "00", "a16161c24101", "a16161c249000000000000000001",
		"a16161c2582101" + strings.Repeat("00", 32), "b841", "a16161f6", "a1616120",
	} {
		raw, err := hex.DecodeString(bad)
		if err != nil {
			t.Fatal(err)
		}
		if out, _ := w.askAs(t, alice, at, raw); out.Status != types.StatusReverted || out.Fault.Code != "malformed" ||
			!strings.Contains(out.Fault.Message, "takes its context from the chain") {
			t.Errorf("%s: %s %v", bad, out.Status, out.Fault)
		}
	}
	for _, good := range []string{"a0", "a1616100", "a1616141ff", "a161616162", "a16161c249010000000000000000", "a26161016162" + "1903e8"} {
		raw, _ := hex.DecodeString(good)
		if out, _ := w.askAs(t, alice, at, raw); string(out.Output) != "seen" {
			t.Errorf("%s: %s %v", good, out.Status, out.Fault)
		}
	}
}

// CIP-1 §7.3 and decisions T14, T26: the hint, the watched key and the bidder
// reach the chain.
func TestHintsWatchesAndBidders(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, `
import pvm_host
from enum import Enum
from cowboy_sdk import schedule_timer, PriorityTier
class Mine(Enum):
    FAST = "fast"
def f(p):
    schedule_timer(110, b"", priority_tier_hint=PriorityTier.URGENT, watch=(p, b"price"))
    schedule_timer(110, b"", priority_tier_hint=Mine.FAST, watch="own")
    pvm_host.schedule_timer(110, b"", priority_tier_hint="economy", watch=b"")
    schedule_timer(110, b"")
    for tier in (PriorityTier.ECONOMY, PriorityTier.STANDARD, PriorityTier.FAST, PriorityTier.URGENT):
        schedule_timer(110, b"", priority_tier_hint=tier)
    pvm_host.set_gas_bidder(p)
    pvm_host.set_gas_bidder(None)
    return str((PriorityTier.STANDARD.value, PriorityTier.ECONOMY)).encode()
`)
	expect(t, first(w.call(t, at, "f", string(alice[:]))), types.StatusOK, "('standard', PriorityTier.ECONOMY)")
	for i, want := range []struct {
		tier  string
		watch *types.Watch
	}{
		{"urgent", &types.Watch{Actor: alice, Key: types.Bytes("price")}},
		{"fast", &types.Watch{Actor: at, Key: types.Bytes("own")}},
		{"economy", &types.Watch{Actor: at, Key: types.Bytes{}}},
		{"", nil},
		{"economy", nil}, {"standard", nil}, {"fast", nil}, {"urgent", nil},
	} {
		got := w.timers[i]
		if got.PriorityTier != want.tier || (got.Watch == nil) != (want.watch == nil) ||
			got.Watch != nil && (got.Watch.Actor != want.watch.Actor || string(got.Watch.Key) != string(want.watch.Key)) {
			t.Errorf("timer %d: %+v", i, got)
		}
	}
	if trace := strings.Join(w.trace, "\n"); !strings.Contains(trace, "bidder "+alice.String()) || !strings.Contains(trace, "bidder <nil>") {
		t.Error(trace)
	}
	for _, bad := range []string{"priority_tier_hint=3", "watch=(p,)", "watch=(b'x', b'k')", "watch=5"} {
		at := w.deploy(2, "import pvm_host\ndef f(p): pvm_host.schedule_timer(110, b'', "+bad+")\n")
		if out, _ := w.call(t, at, "f", string(alice[:])); out.Status != types.StatusReverted {
			t.Errorf("%s: %s", bad, out.Status)
		}
	}
}
