package catchup

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// After more members over the epochs than are remembered, the newest can be asked
// still, and those who left are forgotten.
func TestFormerPeersMakeRoomForNewOnes(t *testing.T) {
	numbered := func(i int) types.Address { return types.Address{1, byte(i >> 8), byte(i)} }
	set := func(from int) types.ValidatorSet {
		s := types.ValidatorSet{Epoch: types.Epoch(from)}
		for i := range 4 {
			s.Members = append(s.Members, types.Validator{Address: numbered(from + i)})
		}
		return s
	}
	m := New(Config{Self: numbered(1 << 15), Timeout: 1e9, Root: Root{Block: &types.Block{}, Set: set(0)}})
	for from := 1; from <= 2*MaxPeers; from++ {
		root := Root{Block: &types.Block{Header: types.Header{Height: types.Height(from)}}, Set: set(from)}
		m.Step(0, Finalized{root})
		if len(m.peers) > MaxPeers {
			t.Fatalf("%d peers", len(m.peers))
		}
	}
	m.Step(0, Behind{Peer: numbered(2*MaxPeers + 3), Height: 1 << 20})
	if !m.Active() || m.fetching == nil || m.fetching.peer != numbered(2*MaxPeers+3) {
		t.Errorf("the newest member is not asked: %+v", m.fetching)
	}
}

// Active reports whether blocks are being fetched.
func (m *Machine) Active() bool { return m.active }

// Root returns the finalized block that the machine continues from.
func (m *Machine) Root() Root { return m.root }

// While a range is applied the next one is asked for as soon as a peer that has it is no longer
// left out. While a range is verified nothing is asked for: it may be a lie.
func TestTheNextRangeIsAskedForWhenAPeerIsBack(t *testing.T) {
	w := newWorld(2*testEpochBlocks, 0)
	root := w.chain.root(0)
	verified, err := Check(Serve(&RangeRequest{From: 1, To: 20}, w.chain), &root, checkTestCertificate)
	if err != nil {
		t.Fatal(err)
	}
	back := w.now.Add(3 * time.Second)
	m := w.machine
	p := m.findOrAddPeer(testAddress(1))
	m.active, p.claim, p.until = true, 2*testEpochBlocks, back
	m.working = &work{verified: &verified}
	if at := m.Deadline(); at != back {
		t.Errorf("while a range is applied it is due at %v, want %v", at, back)
	}
	m.working = &work{}
	if at := m.Deadline(); at != types.Never {
		t.Errorf("while a range is verified it is due at %v", at)
	}
}
