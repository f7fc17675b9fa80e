package validators

import (
	"maps"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/mempool"
)

// told is a pool with the reports to its owners.
func told() (*pool, map[types.Hash]string) {
	why := map[types.Hash]string{}
	return newPool(func() types.Time { return 0 }, func(hash types.Hash, reason string) { why[hash] = reason }), why
}

// put adds the n-th transaction of a sender with a nonce and a bid.
func put(t *testing.T, p *pool, now types.Height, sender, n byte, nonce types.Nonce, bid uint64) types.Hash {
	t.Helper()
	e := mempool.Entry[*ledger.Checked]{Hash: types.Hash{sender, n}, Sender: types.Address{sender}, Nonce: nonce, Size: 100,
		MaxFeePerCycle: types.WeiOf(bid), MaxPriorityFeePerCycle: types.WeiOf(bid), Value: &ledger.Checked{}}
	gone, err := p.Add(now, e, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.displace(gone, &e)
	return e.Hash
}

// The owner of a replaced transaction is told once the nonce is used, and never where
// the block has the transaction that was replaced.
func TestAReplacedTransactionEndsWithItsNonce(t *testing.T) {
	p, why := told()
	first, second := put(t, p, 1, 1, 1, 0, 10), put(t, p, 1, 1, 2, 0, 20)
	if len(why) != 0 {
		t.Fatalf("told before the nonce is used: %v", why)
	}
	p.used([]mempool.Account{{Address: types.Address{1}, Nonce: 1}}, map[types.Hash]bool{second: true})
	if want := map[types.Hash]string{first: whyUsed}; !maps.Equal(why, want) || len(p.replaced) != 0 {
		t.Errorf("told %v, want %v; %d are remembered", why, want, len(p.replaced))
	}

	p, why = told()
	first, second = put(t, p, 1, 1, 1, 0, 10), put(t, p, 1, 1, 2, 0, 20)
	p.used([]mempool.Account{{Address: types.Address{1}, Nonce: 1}}, map[types.Hash]bool{first: true})
	if want := map[types.Hash]string{second: whyUsed}; !maps.Equal(why, want) {
		t.Errorf("told %v, want %v", why, want)
	}
}

// Replacing without end costs a validator a bounded memory, and the oldest are told.
func TestReplacedTransactionsAreBounded(t *testing.T) {
	p, why := told()
	one := mempool.Entry[*ledger.Checked]{Sender: types.Address{1}}
	for n := range maxReplaced + 3 {
		p.displace([]mempool.Entry[*ledger.Checked]{{Hash: types.Hash{byte(n), byte(n >> 8)}, Sender: one.Sender}}, &one)
	}
	if len(p.replaced) != maxReplaced || len(why) != 3 || why[types.Hash{2}] != whyReplaced {
		t.Errorf("%d are remembered, %d were told", len(p.replaced), len(why))
	}
}

// Displaced transactions, and those that no block took, are reported.
func TestAPoolTellsWhatItGivesUp(t *testing.T) {
	p, why := told()
	kept := mempool.Entry[*ledger.Checked]{Sender: types.Address{2}}
	p.displace([]mempool.Entry[*ledger.Checked]{{Hash: types.Hash{7}, Sender: types.Address{1}}}, &kept)
	if why[types.Hash{7}] != whyFull {
		t.Errorf("told %v", why)
	}
	old := put(t, p, 1, 1, 1, 0, 10)
	e := &execution{pool: p}
	aged := types.Header{Height: 1 + types.Height(mempool.DefaultLimits.AgeBlocks)}
	e.confirm(&ledger.Result{State: genesisState(), Block: &types.Block{Header: aged}})
	if why[old] != "" {
		t.Errorf("thousands of blocks in no time are no age: %v", why)
	}
	p.now = func() types.Time { return types.Time(0).Add(mempool.DefaultLimits.AgeTime) }
	e.confirm(&ledger.Result{State: genesisState(), Block: &types.Block{Header: aged}})
	if why[old] != whyOld {
		t.Errorf("told %v", why)
	}
}
