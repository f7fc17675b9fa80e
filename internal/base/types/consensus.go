package types

import (
	"encoding/binary"
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/codec"
)

// Validator is one member of a validator set.
type Validator struct {
	_         struct{}  `cbor:",toarray"`
	Address   Address   `json:"address"`
	PublicKey PublicKey `json:"public_key"`
	Endpoint  string    `json:"quic_address"` // host:port of its QUIC listener, "" in the simulator
}

// ValidatorSet is the validators that decide from an epoch on, sorted by address
// (decision C1).
type ValidatorSet struct {
	_       struct{} `cbor:",toarray"`
	Epoch   Epoch    // the first in which it decides
	Members []Validator
}

// Hash is the keccak256 of the set's canonical bytes: what the header of the
// block before a border commits to.
func (s *ValidatorSet) Hash() Hash { return Keccak(codec.Marshal(s)) }

// MaxFaulty is f = floor((n-1)/3), the Byzantine validators that n tolerate.
func (s *ValidatorSet) MaxFaulty() int { return (len(s.Members) - 1) / 3 }

// Quorum is n - f, the votes of a certificate.
func (s *ValidatorSet) Quorum() int { return len(s.Members) - s.MaxFaulty() }

// Leader is the proposer of a view, round robin in the order of addresses.
func (s *ValidatorSet) Leader(v View) Address {
	return s.Members[uint64(v)%uint64(len(s.Members))].Address
}

// Index returns the position of a member, or -1.
func (s *ValidatorSet) Index(a Address) int {
	for i := range s.Members {
		if s.Members[i].Address == a {
			return i
		}
	}
	return -1
}

// VoteKind is one of the three votes of Simplex.
type VoteKind uint8

// The votes of a view: for a block, for none, and for the block's finality.
const (
	Notarize VoteKind = 1 + iota
	Nullify
	Finalize
)

func (k VoteKind) String() string {
	switch k {
	case Notarize:
		return "notarize"
	case Nullify:
		return "nullify"
	case Finalize:
		return "finalize"
	}
	return "unknown vote"
}

// Vote is one validator's vote. Height and Block are zero in a nullify vote;
// only a notarize vote has a bitmap, and signs its hash (decision C3).
type Vote struct {
	_         struct{} `cbor:",toarray"`
	Kind      VoteKind
	Epoch     Epoch // of the set that votes: the first in which it decides
	View      View
	Height    Height
	Block     Hash
	Bitmap    []byte // nil in votes that are not notarize
	Validator Address
	Signature Signature
}

// Digest is what a validator signs.
func (v *Vote) Digest(chainID uint64) Hash {
	var content [1 + 8 + 8 + 8 + 32 + 32]byte
	content[0] = byte(v.Kind)
	binary.BigEndian.PutUint64(content[1:], uint64(v.Epoch))
	binary.BigEndian.PutUint64(content[9:], uint64(v.View))
	binary.BigEndian.PutUint64(content[17:], uint64(v.Height))
	copy(content[25:], v.Block[:])
	if v.Kind == Notarize {
		bitmap := noBitmap
		if len(v.Bitmap) > 0 {
			bitmap = Keccak(v.Bitmap)
		}
		copy(content[57:], bitmap[:])
	}
	return Digest("cowboy/vote/1", chainID, content[:])
}

// noBitmap is the hash of a bitmap without bits.
var noBitmap = Keccak()

// Certificate is a quorum of equal votes of one kind in one view.
type Certificate struct {
	_      struct{} `cbor:",toarray"`
	Kind   VoteKind
	Epoch  Epoch
	View   View
	Height Height
	Block  Hash
	Votes  []CertificateVote // by validator address, without duplicates
}

// CertificateVote is what differs between the votes of a certificate.
type CertificateVote struct {
	_         struct{} `cbor:",toarray"`
	Validator Address
	Bitmap    []byte
	Signature Signature
}

// Vote returns the i-th vote, whole.
func (c *Certificate) Vote(i int) Vote {
	v := c.Votes[i]
	return Vote{Kind: c.Kind, Epoch: c.Epoch, View: c.View, Height: c.Height, Block: c.Block,
		Bitmap: v.Bitmap, Validator: v.Validator, Signature: v.Signature}
}

// Header is what a block's hash covers. The figures after Randomness are the
// result of executing the block; who votes for it has checked them.
type Header struct {
	_                struct{} `cbor:",toarray"`
	ChainID          uint64
	Height           Height
	Skipped          uint64 // heights skipped before this one (decision C8)
	View             View   // of the first proposal
	Epoch            Epoch
	SetEpoch         Epoch // of the set that decides on the block: the first in which it does
	Parent           Hash
	Proposer         Address
	Timestamp        Millis
	Transactions     Hash // keccak256 of the transactions' hashes
	Passed           Hash // keccak256 of the items that the proposer skipped (decision C18)
	Presence         Hash // keccak256 of P(parent) (decision C3)
	SubsetEpoch      uint64
	Randomness       Hash // R(Height) (decision C9)
	StateRoot        Hash // after the block
	ReceiptsRoot     Hash // keccak256 of the receipts' encodings, without messages of errors (decision C20)
	CyclesUsed       Cycles
	CellsUsed        Cells
	TimerCyclesUsed  Cycles
	BaseFeeCycle     Wei // in force in this block
	BaseFeeCell      Wei
	BaseFeeLaneTimer Wei
	NextSet          Hash // of the set that decides from the next block on; zero where it does not change
}

// Border reports whether the set of validators changes after the block: it is an
// epoch's last, and a validator joins or leaves (decision C6).
func (h *Header) Border() bool { return !h.NextSet.IsZero() }

// Precedes reports whether a set is the one that decides on the block after.
func (h *Header) Precedes(set *ValidatorSet) bool {
	if h.Border() {
		return set.Epoch > h.SetEpoch && set.Hash() == h.NextSet
	}
	return set.Epoch == h.SetEpoch
}

// Block is a header and what it speaks of. The certificates are covered by no
// hash: leaders may hold different votes for one parent.
type Block struct {
	_            struct{} `cbor:",toarray"`
	Header       Header
	Parent       *Certificate // notarization of the parent; nil if that is genesis
	Finalization *Certificate // of the parent, in the first block after a border (decision C6)
	Transactions []Transaction
	Passed       *Passed // items that its proposer skipped; nil if there are none (decision C18)
}

// MaxBlockBytes bounds an encoded block: cells limit it to a million bytes of
// payload; votes and framing come on top.
const MaxBlockBytes = 4 << 20

// Hash is the keccak256 of the header's canonical bytes.
func (b *Block) Hash() Hash { return b.Header.Hash() }

// Hash is the keccak256 of the header's canonical bytes.
func (h *Header) Hash() Hash { return Keccak(codec.Marshal(h)) }

// TransactionsHash is the header's commitment to the transactions.
func TransactionsHash(txs []Transaction) Hash {
	hashes := make([]byte, 0, 32*len(txs))
	for i := range txs {
		h := txs[i].Hash()
		hashes = append(hashes, h[:]...)
	}
	return Keccak(hashes)
}

// CheckBody returns an error if the body differs from the header's commitments. No
// header covers the certificates; their verifier judges them.
func (b *Block) CheckBody() error {
	if TransactionsHash(b.Transactions) != b.Header.Transactions {
		return fmt.Errorf("block %d does not hold the transactions of its header", b.Header.Height)
	}
	if b.Passed.TooLong() || PassedHash(b.Passed) != b.Header.Passed {
		return fmt.Errorf("block %d: its list of skipped items does not match its header", b.Header.Height)
	}
	return nil
}

// Proposal is a leader's block for a view, signed over view and block hash.
// The block before a border is proposed again in later views until it is final,
// so View may exceed the block's own (decision C6).
type Proposal struct {
	_         struct{} `cbor:",toarray"`
	View      View
	Block     *Block
	Signature Signature // of the view's leader
}

// Digest is what the leader signs.
func (p *Proposal) Digest() Hash { return p.DigestOf(p.Block.Hash()) }

// DigestOf is Digest for a caller that has the block's hash.
func (p *Proposal) DigestOf(hash Hash) Hash {
	var content [40]byte
	binary.BigEndian.PutUint64(content[:], uint64(p.View))
	copy(content[8:], hash[:])
	return Digest("cowboy/proposal/1", p.Block.Header.ChainID, content[:])
}
