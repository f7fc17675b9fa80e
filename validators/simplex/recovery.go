package simplex

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/plant"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// recovery begins the machine's log, and takes up what it holds of earlier lives.
type recovery struct {
	*collector
	begun    bool     // the log says that this validator has begun
	later    []record // of sets to come
	vouchers vouchers // while it sits out
	claim    claim    // while it asks whether an older life of its key answers others
}

// replayRecords takes the records of an earlier run.
func (m *recovery) replayRecords(records [][]byte) error {
	h := &m.root.Block.Header
	for i, data := range records {
		r, err := decodeRecord(i, data)
		if err != nil {
			return err
		}
		if !r.isNeeded(h, m.root.Hash) {
			continue
		}
		if r.Kind == vouchKind {
			m.floor = floor{known: true, epoch: r.Epoch, view: r.View}
			continue
		}
		if r.Kind == beginKind {
			m.floor = floor{} // of the log that was lost before
			m.begun, m.sitsOut = true, types.Millis(r.View)
			m.unproven, m.log, m.stranger = false, types.Life{}, stranger{}
			m.me = m.ownPlace()
			continue
		}
		if r.Kind == unprovenKind {
			m.unproven = true
			if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &m.log); err != nil {
				return fmt.Errorf("simplex: record %d of the log: %w", i, err)
			}
			continue
		}
		if r.Kind == firstLogKind {
			var first firstLog
			if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &first); err != nil {
				return fmt.Errorf("simplex: record %d of the log: %w", i, err)
			}
			m.keepFirstLog(first.Address, first.Log)
			continue
		}
		if r.Kind == strangerKind {
			m.stranger = stranger{seen: true, height: r.Height}
			m.me = m.ownPlace()
			continue
		}
		if r.Epoch > m.set.Epoch {
			m.later = append(m.later, r)
			continue
		}
		if err := m.restoreRecord(&r); err != nil {
			return fmt.Errorf("simplex: record %d of the log: %w", i, err)
		}
	}
	return nil
}

// resumeRecords takes the records of an earlier run that concern a set that decides
// only from now on. They were read once, so that an error is a bug.
func (m *recovery) resumeRecords() {
	later := m.later
	m.later = nil
	for i := range later {
		if later[i].Epoch > m.set.Epoch {
			m.later = append(m.later, later[i])
		} else if later[i].Epoch == m.set.Epoch {
			if err := m.restoreRecord(&later[i]); err != nil {
				panic(err)
			}
		}
	}
}

func (m *recovery) restoreRecord(r *record) error {
	switch r.Kind {
	case bodyKind:
		var b types.Block
		if err := codec.UnmarshalLoose(r.Content, maxRecordBytes, &b); err != nil {
			return err
		}
		if n := m.attachBody(&b, r.Block, m.self); n != nil {
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
		if n, at := m.bodies.nodes[r.Block], m.openRound(r.View); n != nil && at != nil {
			at.proposal, at.hash = &types.Proposal{View: r.View, Block: n.block, Signature: p.Signature}, r.Block
		}
	default:
		return fmt.Errorf("kind %d is unknown", r.Kind)
	}
	return nil
}

// restoreVote restores one of the validator's own votes. A validator that abstains
// by its first record may have rejoined since, and voted.
func (m *recovery) restoreVote(v *types.Vote) {
	r, me := m.openRound(v.View), m.set.Index(m.self)
	if r == nil || me < 0 || plant.Planted == plant.VotesTwice {
		return
	}
	r.own[slotOf(v.Kind)] = v
	r.ballotOf(v.Kind).addVote(v, me, len(m.set.Members))
}

func (m *recovery) restoreCertificate(c *types.Certificate) {
	if c.Block == m.root.Hash {
		if c.Kind == types.Notarize && m.root.Notarization == nil {
			m.root.Notarization = c
		} else if c.Kind == types.Finalize && (m.root.Finalization == nil || c.View > m.root.Finalization.View) {
			m.root.Finalization = c
		}
		if c.Epoch != m.set.Epoch || c.View <= m.root.Block.Header.View {
			return
		}
	}
	r := m.openRound(c.View)
	if r == nil {
		return
	}
	if held := r.certificateOf(c.Kind); *held == nil {
		*held = c
	}
	if c.Kind != types.Nullify {
		m.newest = max(m.newest, c.View)
		if n := m.bodies.nodes[c.Block]; n != nil {
			n.notarized = true
		}
	}
	if c.Kind == types.Finalize && c.Height > m.rootHeight() && (m.final == nil || c.Height > m.final.Height) {
		m.final, m.finalFrom = c, m.self
	}
}
