package simplex

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// recordKind tells what a record holds.
type recordKind uint8

const (
	bodyKind recordKind = 1 + iota
	voteKind
	certificateKind
	proposalKind
	beginKind
)

// maxRecordBytes bounds a record: a block and its framing.
const maxRecordBytes = types.MaxBlockBytes + 1024

// record is one entry of the log. Its head says what it concerns, so that
// Compact need not read its content.
type record struct {
	_       struct{} `cbor:",toarray"`
	Kind    recordKind
	Epoch   types.Epoch
	View    types.View
	Height  types.Height
	Block   types.Hash
	Content codec.RawMessage
}

func (r record) encode() []byte { return codec.Marshal(&r) }

// sentProposal is what a leader needs to propose the same again.
type sentProposal struct {
	_         struct{} `cbor:",toarray"`
	Signature types.Signature
}

func bodyRecord(b *types.Block, hash types.Hash) record {
	return record{Kind: bodyKind, Epoch: b.Header.SetEpoch, View: b.Header.View, Height: b.Header.Height, Block: hash,
		Content: codec.Marshal(b)}
}

func voteRecord(v *types.Vote) record {
	return record{Kind: voteKind, Epoch: v.Epoch, View: v.View, Height: v.Height, Block: v.Block, Content: codec.Marshal(v)}
}

func certificateRecord(c *types.Certificate) record {
	return record{Kind: certificateKind, Epoch: c.Epoch, View: c.View, Height: c.Height, Block: c.Block, Content: codec.Marshal(c)}
}

func proposalRecord(p *types.Proposal, hash types.Hash) record {
	h := &p.Block.Header
	return record{Kind: proposalKind, Epoch: h.SetEpoch, View: p.View, Height: h.Height, Block: hash,
		Content: codec.Marshal(&sentProposal{Signature: p.Signature})}
}

// needed reports whether a machine that stands on root can still need the
// record: votes, certificates and bodies above it, and its own certificates.
func (r *record) needed(root *types.Header, hash types.Hash) bool {
	switch {
	case r.Kind == certificateKind && r.Block == hash:
		return true
	case r.Kind == bodyKind:
		return r.Height > root.Height
	case r.Kind == beginKind:
		return true
	}
	return r.Epoch > root.SetEpoch || !root.Border() && r.Epoch == root.SetEpoch && r.View > root.View
}

// Compact returns those records that a machine started on root, a block that
// the store holds durably, would still need, in their order. It fails at a
// record that cannot be read.
func Compact(records [][]byte, root Root) ([][]byte, error) {
	h := &root.Block.Header
	kept := make([][]byte, 0, len(records))
	for i, data := range records {
		r, err := decodeRecord(i, data)
		if err != nil {
			return nil, err
		}
		if r.needed(h, root.Hash) {
			kept = append(kept, data)
		}
	}
	return kept, nil
}

func decodeRecord(i int, data []byte) (r record, err error) {
	if err := codec.UnmarshalLoose(data, maxRecordBytes, &r); err != nil {
		return r, fmt.Errorf("simplex: record %d of the log: %w", i, err)
	}
	return r, nil
}

// replay takes the records of an earlier run.
func (m *Machine) replay(records [][]byte) error {
	h := &m.root.Block.Header
	for i, data := range records {
		r, err := decodeRecord(i, data)
		if err != nil {
			return err
		}
		if !r.needed(h, m.root.Hash) {
			continue
		}
		if r.Kind == beginKind {
			m.begun, m.sitsOut = true, types.Millis(r.View)
			m.me = m.place()
			continue
		}
		if r.Epoch > m.set.Epoch {
			m.later = append(m.later, r)
			continue
		}
		if err := m.restore(&r); err != nil {
			return fmt.Errorf("simplex: record %d of the log: %w", i, err)
		}
	}
	return nil
}

// resume takes the records of an earlier run that concern a set that decides
// only from now on. They were read once, so that an error is a bug.
func (m *Machine) resume() {
	later := m.later
	m.later = nil
	for i := range later {
		if later[i].Epoch > m.set.Epoch {
			m.later = append(m.later, later[i])
		} else if later[i].Epoch == m.set.Epoch {
			if err := m.restore(&later[i]); err != nil {
				panic(err)
			}
		}
	}
}

func (m *Machine) restore(r *record) error {
	switch r.Kind {
	case bodyKind:
		var b types.Block
		if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &b); err != nil {
			return err
		}
		if n := m.attach(&b, r.Block, m.self); n != nil {
			n.persisted = true
		}
	case voteKind:
		var v types.Vote
		if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &v); err != nil {
			return err
		}
		m.restoreVote(&v)
	case certificateKind:
		var c types.Certificate
		if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &c); err != nil {
			return err
		}
		m.restoreCertificate(&c)
	case proposalKind:
		var p sentProposal
		if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &p); err != nil {
			return err
		}
		if n, at := m.bodies.nodes[r.Block], m.open(r.View); n != nil && at != nil {
			at.proposal, at.hash = &types.Proposal{View: r.View, Block: n.block, Signature: p.Signature}, r.Block
		}
	default:
		return fmt.Errorf("kind %d is unknown", r.Kind)
	}
	return nil
}

// restoreVote takes a vote of its own. One that sits out as far as its first record
// says may have come back since, and voted.
func (m *Machine) restoreVote(v *types.Vote) {
	r, me := m.open(v.View), m.set.Index(m.self)
	if r == nil || me < 0 || plant.Planted == plant.VotesTwice {
		return
	}
	r.own[slot(v.Kind)] = v
	r.ballot(v.Kind).add(v, me, len(m.set.Members))
}

func (m *Machine) restoreCertificate(c *types.Certificate) {
	if c.Block == m.root.Hash {
		if c.Kind == types.Notarize && m.root.Notarization == nil {
			m.root.Notarization = c
		} else if c.Kind == types.Finalize && m.root.Finalization == nil {
			m.root.Finalization = c
		}
		return
	}
	r := m.open(c.View)
	if r == nil {
		return
	}
	if held := r.certificate(c.Kind); *held == nil {
		*held = c
	}
	if c.Kind != types.Nullify {
		m.newest = max(m.newest, c.View)
		if n := m.bodies.nodes[c.Block]; n != nil {
			n.notarized = true
		}
	}
	if c.Kind == types.Finalize && (m.final == nil || c.Height > m.final.Height) {
		m.final, m.finalFrom = c, m.self
	}
}
