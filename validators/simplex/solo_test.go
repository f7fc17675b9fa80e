package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// solo is v0 of n validators, the others played by the test.
type solo struct {
	t   *testing.T
	m   *Machine
	now types.Time
	cfg Config
	all Output // of all steps
	out Output // of the last

	epochBlocks uint64 // a border follows each multiple of this height
}

func newSolo(t *testing.T, n int, change func(*Config)) *solo {
	s := &solo{t: t, epochBlocks: 64, cfg: Config{ChainID: testChain, Signer: testKey{testAddress(0)},
		Timing: Timing{BlockTime: time.Second, LinkDelay: 250 * time.Millisecond},
		Set:    testSet(0, n), Root: testGenesis(time.Second), Presence: attesting(7)}}
	if change != nil {
		change(&s.cfg)
	}
	s.restart(nil)
	return s
}

func (s *solo) restart(records [][]byte) {
	m, err := New(s.cfg, records)
	if err != nil {
		s.t.Fatal(err)
	}
	s.m = m
	s.step(Start{})
}

func (s *solo) step(e Event) Output {
	s.out = s.m.Step(s.now, e)
	s.all.Persist = append(s.all.Persist, s.out.Persist...)
	s.all.Send = append(s.all.Send, s.out.Send...)
	s.all.Ask = append(s.all.Ask, s.out.Ask...)
	s.all.Report = append(s.all.Report, s.out.Report...)
	return s.out
}

// receive checks a message of another validator and steps with it.
func (s *solo) receive(from int, message Message) Output {
	s.t.Helper()
	v, err := Check(testChain, testRecoverer{}, s.m.Sets(), message)
	if err != nil {
		s.t.Fatalf("%s is not valid: %v", describe(message), err)
	}
	return s.step(Received{From: testAddress(from), Message: v})
}

// wait lets time pass, with ticks at the deadlines on the way.
func (s *solo) wait(d time.Duration) {
	end := s.now.Add(d)
	for s.m.Deadline() <= end {
		s.now = max(s.now, s.m.Deadline())
		s.step(Tick{})
	}
	s.now = end
}

// execute answers the last Execute.
func (s *solo) execute(valid bool) Output {
	s.t.Helper()
	for i := len(s.all.Ask) - 1; i >= 0; i-- {
		if a, ok := s.all.Ask[i].(Execute); ok {
			return s.step(Executed{Hash: a.Hash, Valid: valid, Runners: 8})
		}
	}
	s.t.Fatal("no execution was asked for")
	return Output{}
}

func (s *solo) votes(kind types.VoteKind, view types.View) (found []*types.Vote) {
	for _, send := range s.all.Send {
		if v, ok := send.Message.(*types.Vote); ok && v.Kind == kind && v.View == view && v.Validator == testAddress(0) {
			found = append(found, v)
		}
	}
	return found
}

func (s *solo) voted(kind types.VoteKind, view types.View) bool { return len(s.votes(kind, view)) > 0 }

func (s *solo) vote(kind types.VoteKind, view types.View, b *types.Block, by int) *types.Vote {
	v := &types.Vote{Kind: kind, Epoch: s.m.set.Epoch, View: view, Validator: testAddress(by)}
	if b != nil {
		v.Height, v.Block = b.Header.Height, b.Hash()
	}
	if kind == types.Notarize {
		v.Bitmap = bitmapOf(byte(by))
	}
	v.Signature = testKey{v.Validator}.Sign(v.Digest(testChain))
	return v
}

func (s *solo) certificate(kind types.VoteKind, view types.View, b *types.Block, by ...int) *types.Certificate {
	var c *types.Certificate
	for _, i := range by {
		v := s.vote(kind, view, b, i)
		if c == nil {
			c = &types.Certificate{Kind: kind, Epoch: v.Epoch, View: view, Height: v.Height, Block: v.Block}
		}
		c.Votes = append(c.Votes, types.CertificateVote{Validator: v.Validator, Bitmap: v.Bitmap, Signature: v.Signature})
	}
	return c
}

// child makes a block of a view's leader; the parent is genesis where nil.
func (s *solo) child(parent *types.Block, view types.View) *types.Block {
	b := &types.Block{Header: types.Header{ChainID: testChain, Height: 1, View: view, Epoch: s.m.set.Epoch, SetEpoch: s.m.set.Epoch,
		Parent:   testGenesis(time.Second).Hash,
		Proposer: s.m.set.Leader(view), Transactions: noTransactions, Passed: types.PassedHash(nil), Timestamp: s.now.Millis()}}
	if parent != nil {
		b.Header.Height, b.Header.Parent = parent.Header.Height+1, parent.Hash()
		b.Header.Timestamp = max(b.Header.Timestamp, parent.Header.Timestamp+1)
		b.Parent = s.certificate(types.Notarize, parent.Header.View, parent, 1, 2, 3)
	}
	if uint64(b.Header.Height)%s.epochBlocks == 0 {
		next := testSet(s.m.set.Epoch+1, len(s.m.set.Members))
		b.Header.NextSet = next.Hash()
	}
	return b
}

func (s *solo) propose(view types.View, b *types.Block) Output {
	s.t.Helper()
	leader := int(uint64(view) % uint64(len(s.m.set.Members)))
	p := &types.Proposal{View: view, Block: b}
	p.Signature = testKey{testAddress(leader)}.Sign(p.Digest())
	return s.receive(leader, p)
}

// settled has view 1 propose a block that is executed and notarized by others.
func (s *solo) settled() *types.Block {
	s.t.Helper()
	b := s.child(nil, 1)
	s.propose(1, b)
	s.execute(true)
	s.receive(1, s.certificate(types.Notarize, 1, b, 1, 2, 3))
	return b
}

func (s *solo) lastBuild() *Build {
	for i := len(s.all.Ask) - 1; i >= 0; i-- {
		if b, ok := s.all.Ask[i].(Build); ok {
			return &b
		}
	}
	return nil
}

// attesting is a validator that attests always the same of eight runners.
func attesting(bits byte) func(types.Time, int, selection.Places) []byte {
	return func(types.Time, int, selection.Places) []byte { return bitmapOf(bits) }
}

// bitmapOf is a presence bitmap of eight runners.
func bitmapOf(bits byte) []byte { return []byte{0, 0, 0, 8, bits} }
