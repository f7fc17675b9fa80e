package box

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
)

// wastes has a loop without an end.
const wastes = `
from cowboy_sdk import actor, public

@actor
class Wastes:
    @public
    def loop(self, payload):
        i = 0
        while True:
            i += 1

    @public
    def quick(self, payload):
        return payload
`

// siege is what accounts did to a network that each sent one transaction.
type siege struct {
	blocks    float64 // a second
	waits     []time.Duration
	paid      types.Wei
	ended     map[types.Status]int
	lastsAway int // transactions without a receipt
}

func (s *siege) String() string {
	slices.Sort(s.waits)
	n := len(s.waits)
	return fmt.Sprintf("%.1f blocks/s, %d honest calls, p50 %v, p99 %v, max %v; paid %s wei; ended %v, %d not yet", s.blocks, n,
		s.waits[n/2].Round(time.Millisecond), s.waits[n*99/100].Round(time.Millisecond), s.waits[n-1].Round(time.Millisecond), s.paid, s.ended,
		s.lastsAway)
}

// Accounts call a plain loop, and a loop that takes a hundred times the CPU time of its
// cycles as far as the hosts know. No program is known that does.
const (
	fair = time.Duration(0)
	late = 200 * time.Nanosecond
)

// hangAt lets fresh accounts call a loop in as many codes, once each with a limit of 9 M
// cycles. Meanwhile an honest account calls one after the other for a time.
func hangAt(t *testing.T, accounts, codes int, rate, lasts time.Duration) *siege {
	pool := pyhost.New(pyhost.Config{Rate: rate})
	t.Cleanup(pool.Close)
	n := up(t, Config{Ephemeral: true, Validators: 4, BlockTime: 50 * time.Millisecond, Programs: pool})
	w := newPayer(n, "alice")
	deployed := func(comment int) types.Address {
		for { // on a busy machine a deploy may be late by this rate, and is charged
			tx := w.limited(w.deploy(fmt.Appendf(nil, "%s# %d\n", wastes, comment), "wastes", 0), 1_000_000, 100_000)
			receipt := land(t, n, tx)
			if receipt.Status == types.StatusOK {
				return receipt.To
			}
			if receipt.Status != types.StatusHostFailed {
				t.Fatalf("%+v", receipt)
			}
		}
	}
	good := deployed(-1)
	var bad []types.Address
	for i := range codes {
		bad = append(bad, deployed(i))
	}
	var payers []*payer
	for i := range accounts {
		key := n.verifier.Signer(crypto.DeriveKey(99, fmt.Sprint("m", i)))
		land(t, n, w.transfer(key.Address(), 100*types.CBY))
		payers = append(payers, payerOf(n, key))
	}
	ctx, began, first := context.Background(), time.Now(), n.Best().height()
	s := &siege{ended: map[types.Status]int{}}
	var hashes []types.Hash
	for i, p := range payers {
		tx := p.limited(p.execute(bad[i%codes], "loop", nil), 9_000_000, 20_000)
		hash, err := n.Submit(ctx, tx.Encode())
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, hash)
	}
	for time.Since(began) < lasts {
		at := time.Now()
		if receipt := land(t, n, w.execute(good, "quick", nil)); receipt.Status != types.StatusOK {
			t.Fatalf("%+v", receipt)
		}
		s.waits = append(s.waits, time.Since(at))
	}
	s.blocks = float64(n.Best().height()-first) / time.Since(began).Seconds()
	for _, hash := range hashes {
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		receipt, err := n.Wait(short, hash)
		cancel()
		if err != nil {
			s.lastsAway++
			continue
		}
		s.ended[receipt.Status]++
		s.paid = s.paid.Add(receipt.Fee)
	}
	return s
}

// Decision C18 with programs that hang for real: they pay, an honest account's calls are
// executed meanwhile, and each ends as host_failed.
func TestAccountsThatHangPay(t *testing.T) {
	s := hangAt(t, 3, 1, late, 20*time.Second)
	t.Log(s)
	if s.ended[types.StatusHostFailed] == 0 || s.paid.IsZero() || s.ended[types.StatusHostFailed]+s.lastsAway != 3 {
		t.Error("those that hang did not pay")
	}
}

// Promise (ii): a plain loop that nearly fills a block's lane ends at a block time of
// 50 ms, however busy the machine is.
func TestAPlainLoopIsFinal(t *testing.T) {
	s := hangAt(t, 1, 1, fair, 5*time.Second)
	t.Log(s)
	if s.ended[types.StatusOutOfCycles] != 1 {
		t.Error("it has no receipt")
	}
}

// The attack of the review, for as many accounts and codes:
//
//	DEVNET_SOAK=60 go test ./internal/worlds/box -run SoakOfAccounts -v
func TestSoakOfAccounts(t *testing.T) {
	seconds, err := strconv.Atoi(os.Getenv("DEVNET_SOAK"))
	if err != nil || seconds < 1 {
		t.Skip("DEVNET_SOAK=60 besieges a network for as many seconds")
	}
	for _, c := range []struct {
		accounts, codes int
		rate            time.Duration
	}{{0, 1, fair}, {1, 1, fair}, {1, 1, late}, {9, 1, fair}, {9, 1, late}, {50, 1, fair}, {50, 1, late}, {50, 50, late}} {
		t.Run(fmt.Sprintf("%d accounts, %d codes, late %v", c.accounts, c.codes, c.rate == late), func(t *testing.T) {
			t.Log(hangAt(t, c.accounts, c.codes, c.rate, time.Duration(seconds)*time.Second))
		})
	}
}
