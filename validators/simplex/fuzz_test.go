package simplex

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// hostileStream turns bytes into events for v0 of four, of which v1 is faulty
// and signs what it likes; the rest is honest, and its messages come as they are
// or not at all, in any order and to any time.
type hostileStream struct {
	t      *testing.T
	w      *world
	bytes  []byte
	honest []delivery
	asks   []Ask
}

func (s *hostileStream) next() byte {
	if len(s.bytes) == 0 {
		return 0
	}
	b := s.bytes[0]
	s.bytes = s.bytes[1:]
	return b
}

func (s *hostileStream) hash() types.Hash {
	b := s.next()
	if m := s.w.nodes[0].machine; b%4 == 0 {
		return m.root.Hash
	}
	for _, d := range s.honest {
		if p, ok := d.raw.(*types.Proposal); ok && b%4 == 1 {
			return p.Block.Hash()
		}
	}
	return types.Hash{b}
}

// body returns the header's statement on the empty body under it, mostly the truth.
func (s *hostileStream) body() types.Hash {
	if s.next()%8 == 7 {
		return types.Hash{1}
	}
	return noTransactions
}

// forge makes a message signed by v1, or one that needs no signature.
func (s *hostileStream) forge() Message {
	m := s.w.nodes[0].machine
	view := types.View(s.next()) + m.view - min(m.view, 8)
	if s.next() == 255 {
		view = ^types.View(0) - types.View(s.next())
	}
	epoch := m.set.Epoch + types.Epoch(s.next()%3) - 1
	switch s.next() % 7 {
	case 0, 1, 2:
		v := types.Vote{Kind: types.VoteKind(s.next() % 5), Epoch: epoch, View: view}
		if v.Kind != types.Nullify {
			v.Height, v.Block = types.Height(s.next()), s.hash()
		}
		if v.Kind == types.Notarize {
			v.Bitmap = bitmapOf(s.next())
		}
		return s.w.resign(v, 1)
	case 3:
		h := types.Header{ChainID: testChain, Epoch: epoch, View: view, Proposer: testAddress(1), Parent: s.hash(), Transactions: s.body(),
			Passed: types.PassedHash(nil),
			Height: types.Height(s.next()), Skipped: uint64(s.next() % 2), Timestamp: types.Millis(s.next()) << (s.next() % 56)}
		b := &types.Block{Header: h}
		for _, d := range s.honest {
			if c, ok := d.raw.(*types.Certificate); ok && s.next()%2 == 0 {
				b.Parent = c
			}
		}
		p := &types.Proposal{View: view + types.View(s.next()%2), Block: b}
		p.Signature = s.w.nodes[1].key.Sign(p.Digest())
		return p
	case 4:
		return &BlockRequest{Hash: s.hash()}
	case 5:
		return &CertificateRequest{Epoch: epoch, From: view, To: view + types.View(s.next())<<(s.next()%60), Block: types.Hash{s.next() % 2}}
	}
	if s.next()%4 == 0 {
		return &ViewRequest{Nonce: uint64(s.next())}
	}
	return &BlockAnswer{Block: &types.Block{Header: types.Header{ChainID: testChain, Parent: s.hash(), Transactions: s.body(),
		Passed: types.PassedHash(nil), Height: types.Height(s.next())}}}
}

func (s *hostileStream) event() Event {
	n := s.w.nodes[0]
	switch kind := s.next() % 8; kind {
	case 0, 1, 2:
		verified, err := Check(testChain, testRecoverer{}, n.machine.Sets(), s.forge())
		if err != nil {
			return Tick{}
		}
		return Received{From: testAddress(1), Message: verified}
	case 3, 4:
		if len(s.honest) == 0 {
			return Tick{}
		}
		d := s.honest[int(s.next())%len(s.honest)]
		verified, err := Check(testChain, testRecoverer{}, n.machine.Sets(), d.raw)
		if err != nil {
			return Tick{}
		}
		return Received{From: s.w.nodes[d.from].key.address, Message: verified}
	case 5:
		s.w.now = s.w.now.Add(time.Duration(s.next()) * 10 * time.Millisecond)
		return Tick{}
	case 6:
		if len(s.asks) == 0 {
			return Built{View: n.machine.view}
		}
		switch a := s.asks[len(s.asks)-1].(type) {
		case Build:
			return Built{Epoch: a.Epoch, View: a.View, Block: s.w.build(n, a)}
		case Execute:
			return Executed{Hash: a.Hash, Valid: s.next()%4 != 0, Runners: 8}
		}
	}
	return Work{Pending: s.next()%2 == 0}
}

// Whatever v1 sends, and in whatever order the rest comes: no panic, bounded
// memory, and no vote that contradicts another.
func FuzzStep(f *testing.F) {
	f.Add([]byte{0, 9, 1, 0, 0, 1, 2, 1, 3, 0, 3, 1, 6, 0, 3, 2, 5, 200, 5, 200, 3, 4})
	f.Add([]byte{3, 0, 3, 1, 3, 2, 3, 3, 3, 4, 3, 5, 3, 6, 3, 7, 6, 1, 3, 8, 3, 9, 3, 10, 5, 255, 0, 0, 0, 3, 3, 3})
	honest := honestMessages()
	f.Fuzz(func(t *testing.T, script []byte) {
		w := newWorld(1, 4, func(w *world) { w.epochBlocks = 3; w.cfg.Timing.BlockTime = 0; w.cfg.Timing.Auto = len(script)%2 == 1 })
		s := &hostileStream{t: t, w: w, bytes: script, honest: honest}
		n := w.nodes[0]
		n.machine.Step(0, Start{})
		for len(s.bytes) > 0 {
			out := n.machine.Step(w.now, s.event())
			s.asks = append(s.asks, out.Ask...)
			for _, send := range out.Send {
				w.witness(n, send.Message)
			}
			if w.violation != "" {
				t.Fatal(w.violation)
			}
			n.machine.Deadline()
			checkBounds(t, n.machine)
		}
	})
}

// honestMessages is what v2 and v3 send in two seconds of a sound network.
func honestMessages() []delivery {
	var all []delivery
	w := newWorld(1, 4, func(w *world) {
		w.epochBlocks, w.cfg.Timing.BlockTime = 3, 0
		w.tamper = func(from int, s Send) []Send {
			if from > 1 && len(all) < 200 {
				all = append(all, delivery{from: from, raw: s.Message})
			}
			return []Send{s}
		}
	})
	w.run(2*time.Second, nil)
	return all
}

func checkBounds(t *testing.T, m *Machine) {
	t.Helper()
	proposals, votes := 0, 0
	for _, r := range m.rounds {
		if r.proposal != nil {
			proposals++
		}
		for i := range r.ballots {
			if len(r.ballots[i].tallies) > len(m.set.Members) {
				t.Fatalf("%d tallies", len(r.ballots[i].tallies))
			}
			votes += len(r.ballots[i].tallies)
		}
	}
	if len(m.bodies.nodes) > MaxOpenBlocks || len(m.fetcher.wants) > MaxWanted || len(m.rounds) > MaxOpenViews ||
		len(m.bodies.recent) > MaxRecentBlocks {
		t.Fatalf("%d nodes, %d wants, %d rounds, %d recent", len(m.bodies.nodes), len(m.fetcher.wants), len(m.rounds), len(m.bodies.recent))
	}
	if proposals > MaxPastViews+MaxFutureProposals+2 {
		t.Fatalf("%d proposals are kept", proposals)
	}
}
