package validators

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/mempool"
	"github.com/cowboyinc/devnet/validators/simplex"
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
	p.noteDisplacement(gone, &e)
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
	p.dropUsedNonces([]mempool.Account{{Address: types.Address{1}, Nonce: 1}}, map[types.Hash]bool{second: true})
	if want := map[types.Hash]string{first: whyUsed}; !maps.Equal(why, want) || len(p.replaced) != 0 {
		t.Errorf("told %v, want %v; %d are remembered", why, want, len(p.replaced))
	}

	p, why = told()
	first, second = put(t, p, 1, 1, 1, 0, 10), put(t, p, 1, 1, 2, 0, 20)
	p.dropUsedNonces([]mempool.Account{{Address: types.Address{1}, Nonce: 1}}, map[types.Hash]bool{first: true})
	if want := map[types.Hash]string{second: whyUsed}; !maps.Equal(why, want) {
		t.Errorf("told %v, want %v", why, want)
	}
}

// Replacing without end costs a validator a bounded memory, and the oldest are told.
func TestReplacedTransactionsAreBounded(t *testing.T) {
	p, why := told()
	one := mempool.Entry[*ledger.Checked]{Sender: types.Address{1}}
	for n := range maxReplaced + 3 {
		p.noteDisplacement([]mempool.Entry[*ledger.Checked]{{Hash: types.Hash{byte(n), byte(n >> 8)}, Sender: one.Sender}}, &one)
	}
	if len(p.replaced) != maxReplaced || len(why) != 3 || why[types.Hash{2}] != whyReplaced {
		t.Errorf("%d are remembered, %d were told", len(p.replaced), len(why))
	}
}

// Displaced transactions, and those that no block took, are reported.
func TestAPoolTellsWhatItGivesUp(t *testing.T) {
	p, why := told()
	kept := mempool.Entry[*ledger.Checked]{Sender: types.Address{2}}
	p.noteDisplacement([]mempool.Entry[*ledger.Checked]{{Hash: types.Hash{7}, Sender: types.Address{1}}}, &kept)
	if why[types.Hash{7}] != whyFull {
		t.Errorf("told %v", why)
	}
	old := put(t, p, 1, 1, 1, 0, 10)
	e := &execution{pool: p}
	aged := types.Header{Height: 1 + types.Height(mempool.DefaultLimits.AgeBlocks)}
	e.confirmBlock(&ledger.Result{State: genesisState(), Block: &types.Block{Header: aged}})
	if why[old] != "" {
		t.Errorf("thousands of blocks in no time are no age: %v", why)
	}
	p.now = func() types.Time { return types.Time(0).Add(mempool.DefaultLimits.AgeTime) }
	e.confirmBlock(&ledger.Result{State: genesisState(), Block: &types.Block{Header: aged}})
	if why[old] != whyOld {
		t.Errorf("told %v", why)
	}
}

// toldMesh keeps the frames that a validator sends.
type toldMesh struct {
	env.Mesh
	sent map[types.Address][][]byte
}

func (m *toldMesh) Send(to types.Address, frame []byte) { m.sent[to] = append(m.sent[to], frame) }

// What came in here is sent on again each four blocks until a block has it, be it one transaction or
// many: links lose frames. What came in at others is theirs to send.
func TestWhatCameInHereIsSentOnAgain(t *testing.T) {
	for _, count := range []int{1, 2} {
		p, _ := told()
		mesh := &toldMesh{sent: map[types.Address][][]byte{}}
		self, other := crypto.DeriveKey(1, "v0"), types.Address{9}
		v := &Validator{node: env.Validator{Base: env.Base{Signer: self}, Mesh: mesh}}
		v.sets.Store(&simplex.Sets{{Members: []types.Validator{{Address: self.Address()}, {Address: other}}}})
		e := &execution{v: v, pool: p}
		var all []types.Hash
		for n := range count + 1 {
			hash := put(t, p, 1, byte(n), 1, types.Nonce(n), 10)
			entry, _ := p.Get(hash)
			entry.Value.Tx = &types.Transaction{Nonce: types.Nonce(n), Payload: []byte{}}
			if n < count {
				p.sent[hash], p.local, all = 1, append(p.local, hash), append(all, hash)
			}
		}
		for height := types.Height(2); height <= 12; height++ {
			e.resendWaiting(height)
		}
		frames := mesh.sent[other]
		if len(frames) != 2 || len(mesh.sent) != 1 { // at 5 and 9
			t.Fatalf("%d transactions are sent in %d frames, to %d validators", count, len(frames), len(mesh.sent))
		}
		for _, frame := range frames {
			message, err := decodeFrame(frame)
			if got, is := message.(*transactions); err != nil || !is || len(got.Raw) != count {
				t.Fatalf("it sends %+v, %v; want %d transactions", message, err, count)
			}
		}
		for _, hash := range all {
			p.Drop(hash)
		}
		e.resendWaiting(20)
		if len(mesh.sent[other]) != 2 || len(p.local) != 0 || len(p.sent) != 0 {
			t.Errorf("what is gone is sent on, or remembered: %v, %v", p.local, p.sent)
		}
	}
}

// The gateway is told of a block that draws runners before it is final, and of no other; nobody is
// told where there is no port for runners.
func TestTheGatewayForeseesBlocksThatDraw(t *testing.T) {
	rt := roles.New(quietLog())
	defer rt.Close()
	var seen []gatewayEvent
	steps := roles.Steps[gatewayEvent]{Each: func(e gatewayEvent) { seen = append(seen, e) }}
	gateway, err := roles.Spawn(rt, "v0/gateway", roles.InPlace, steps)
	if err != nil {
		t.Fatal(err)
	}
	draws := &ledger.Result{Jobs: []types.JobChange{{Kind: types.JobChangeDrawn}}}
	without, with := &execution{v: &Validator{gateway: gateway}}, &execution{v: &Validator{gateway: gateway}}
	with.v.node.Connections = noRunners{}
	with.tellGatewayOfDraws(nil)
	with.tellGatewayOfDraws(&ledger.Result{})
	without.tellGatewayOfDraws(draws)
	if len(seen) != 0 {
		t.Errorf("the gateway is told %+v", seen)
	}
	with.tellGatewayOfDraws(draws)
	if len(seen) != 1 || seen[0] != (foreseen{draws}) {
		t.Errorf("the gateway is told %+v of a block that draws", seen)
	}
}

// Where the role that checked a batch is made again, its batch is refused, once: no answer for it will
// come. Without a batch there is nothing to answer.
func TestABatchThatWasBeingCheckedIsRefusedByTheNextIntake(t *testing.T) {
	rt := roles.New(quietLog())
	defer rt.Close()
	var seen []consensusEvent
	steps := roles.Steps[consensusEvent]{Each: func(e consensusEvent) { seen = append(seen, e) }}
	consensus, err := roles.Spawn(rt, "v0/consensus", roles.InPlace, steps)
	if err != nil {
		t.Fatal(err)
	}
	for _, checking := range []uint64{0, 1, 7} {
		v := &Validator{consensus: consensus, checking: checking}
		seen = nil
		for range 2 {
			if _, err := v.newIntake(); err != nil {
				t.Fatal(err)
			}
		}
		var want []consensusEvent
		if checking > 0 {
			want = []consensusEvent{asCatchupEvent(catchup.Refused{ID: checking})}
		}
		if !slices.EqualFunc(seen, want, func(a, b consensusEvent) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("while %d was being checked: %+v, want %+v", checking, seen, want)
		}
	}
}
