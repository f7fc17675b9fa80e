package simplex

import (
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// recordKind is the kind of a record.
type recordKind uint8

const (
	bodyKind recordKind = 1 + iota
	voteKind
	certificateKind
	proposalKind
	beginKind
	vouchKind
	unprovenKind
	strangerKind
	firstLogKind
)

// maxRecordBytes bounds a record: a block and its framing.
const maxRecordBytes = types.MaxBlockBytes + 1024

// entry is one record of the log, with the content that who writes or reads it has.
// Its head says what it concerns, so that Compact need not read its content.
type entry[C any] struct {
	_       struct{} `cbor:",toarray"`
	Kind    recordKind
	Epoch   types.Epoch
	View    types.View
	Height  types.Height
	Block   types.Hash
	Content C
}

// record is an entry as it is read: its content is decoded by its kind.
type record = entry[codec.RawMessage]

// unread is a content that is not looked into, nor copied.
type unread struct{}

// UnmarshalCBOR implements cbor.Unmarshaler.
func (*unread) UnmarshalCBOR([]byte) error { return nil }

// sentProposal is what a leader needs to propose the same again.
type sentProposal struct {
	_         struct{} `cbor:",toarray"`
	Signature types.Signature
}

func bodyRecord(b *types.Block, hash types.Hash) []byte {
	return codec.Marshal(&entry[*types.Block]{Kind: bodyKind, Epoch: b.Header.SetEpoch, View: b.Header.View, Height: b.Header.Height,
		Block: hash, Content: b})
}

func voteRecord(v *types.Vote) []byte {
	return codec.Marshal(&entry[*types.Vote]{Kind: voteKind, Epoch: v.Epoch, View: v.View, Height: v.Height, Block: v.Block, Content: v})
}

func certificateRecord(c *types.Certificate) []byte {
	return codec.Marshal(&entry[*types.Certificate]{Kind: certificateKind, Epoch: c.Epoch, View: c.View, Height: c.Height, Block: c.Block,
		Content: c})
}

func proposalRecord(p *types.Proposal, hash types.Hash) []byte {
	h := &p.Block.Header
	return codec.Marshal(&entry[sentProposal]{Kind: proposalKind, Epoch: h.SetEpoch, View: p.View, Height: h.Height, Block: hash,
		Content: sentProposal{Signature: p.Signature}})
}

// beginRecord says until when its machine sits out, and on which root it began. A record
// without a root was written by a former version. It is all head.
func beginRecord(until types.Millis, root types.Hash) []byte {
	return codec.Marshal(&entry[*struct{}]{Kind: beginKind, View: types.View(until), Block: root})
}

// vouchRecord says up to which view its machine may have voted before its log was lost.
// It is all head.
func vouchRecord(f floor) []byte {
	return codec.Marshal(&entry[*struct{}]{Kind: vouchKind, Epoch: f.epoch, View: f.view})
}

// unprovenRecord says that a log begins empty on a root, in a life, and that the others
// have not said yet whether its validator forgot votes. A begin record ends that.
func unprovenRecord(root types.Hash, life types.Life) []byte {
	return codec.Marshal(&entry[types.Life]{Kind: unprovenKind, Block: root, Content: life})
}

// firstLog is the first log that was heard of a key.
type firstLog struct {
	_       struct{} `cbor:",toarray"`
	Address types.Address
	Log     types.Life
}

func firstLogRecord(of types.Address, log types.Life) []byte {
	return codec.Marshal(&entry[firstLog]{Kind: firstLogKind, Content: firstLog{Address: of, Log: log}})
}

// strangerRecord says at which height of its root a validator saw a vote of its key that it
// did not cast. A begin record ends that. It is all head.
func strangerRecord(height types.Height) []byte {
	return codec.Marshal(&entry[*struct{}]{Kind: strangerKind, Height: height})
}

// isNeeded reports whether a machine at root can still need the record: votes,
// certificates and bodies above it, and its own certificates.
func (r *entry[C]) isNeeded(root *types.Header, hash types.Hash) bool {
	switch {
	case r.Kind == certificateKind && r.Block == hash:
		return true
	case r.Kind == bodyKind:
		return r.Height > root.Height
	case r.Kind == beginKind, r.Kind == unprovenKind, r.Kind == strangerKind, r.Kind == firstLogKind:
		return true
	case r.Kind == vouchKind:
		return r.Epoch >= root.SetEpoch
	}
	return r.Epoch > root.SetEpoch || !root.Border() && r.Epoch == root.SetEpoch && r.View > root.View
}

// Compact returns those records that a machine started on root, a block that the store
// holds durably, would still need, in their order. If several process runs began with a
// lost log, the last one counts. It fails at a record that cannot be read.
func Compact(records [][]byte, root Root) ([][]byte, error) {
	h := &root.Block.Header
	kept := make([][]byte, 0, len(records))
	lives := 0    // places in kept, the first ones, of records about the life that counts
	stranger := 0 // the place of the last record of a stranger's vote among them; 0: none
	for i, data := range records {
		r, err := decodeEntry[unread](i, data)
		if err != nil {
			return nil, err
		}
		switch {
		case !r.isNeeded(h, root.Hash):
		case r.Kind == beginKind:
			kept, lives, stranger = append([][]byte{data}, kept[lives:]...), 1, 0
		case r.Kind == strangerKind && stranger > 0:
			kept[stranger-1] = data
		case r.Kind == strangerKind:
			kept, lives = slices.Insert(kept, lives, data), lives+1
			stranger = lives
		case r.Kind == vouchKind, r.Kind == unprovenKind:
			kept, lives = slices.Insert(kept, lives, data), lives+1
		default:
			kept = append(kept, data)
		}
	}
	return kept, nil
}

func decodeRecord(i int, data []byte) (record, error) { return decodeEntry[codec.RawMessage](i, data) }

func decodeEntry[C any](i int, data []byte) (r entry[C], err error) {
	if err := codec.UnmarshalLoose(data, maxRecordBytes, &r); err != nil {
		return r, fmt.Errorf("simplex: record %d of the log: %w", i, err)
	}
	return r, nil
}
