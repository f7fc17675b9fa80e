package simplex

import "github.com/cowboyinc/devnet/internal/base/types"

// Message is what a machine sends: *types.Proposal, *types.Vote,
// *types.Certificate, *BlockRequest, *BlockAnswer, *CertificateRequest, *ViewRequest,
// *ViewAnswer, *LifeRequest or *LifeAnswer.
type Message any

// BlockRequest asks for the body of a block.
type BlockRequest struct {
	_    struct{} `cbor:",toarray"`
	Hash types.Hash
}

// BlockAnswer carries the body that was asked for.
type BlockAnswer struct {
	_     struct{} `cbor:",toarray"`
	Block *types.Block
}

// CertificateRequest asks for the certificates of the views From to To of an
// epoch, of which at most MaxCertificatesPerAnswer are sent, and for the
// notarization of Block unless that is zero.
type CertificateRequest struct {
	_     struct{} `cbor:",toarray"`
	Epoch types.Epoch
	From  types.View
	To    types.View
	Block types.Hash
}

// ViewRequest asks a validator for the view that it is in. Nonce tells the answers to
// one life of the sender from those to another.
type ViewRequest struct {
	_     struct{} `cbor:",toarray"`
	Nonce uint64
}

// ViewAnswer is the view that a validator is in: the one after Certificate's, which is
// of Epoch. Without a certificate it is the epoch's first.
type ViewAnswer struct {
	_           struct{} `cbor:",toarray"`
	Nonce       uint64
	Epoch       types.Epoch
	Certificate *types.Certificate
}

// LifeRequest says which life its sender has, and asks what LifeAnswer says.
type LifeRequest struct {
	_    struct{} `cbor:",toarray"`
	Life types.Life
	Log  types.Life // in which the sender's log began, while it is unproven; zero afterwards
	// Python is the version of the sender's, for people: what executes otherwise names both. "": unknown.
	Python string
}

// LifeAnswer answers the request of the life For. Older says that another life of that
// key, which was heard before, answers still.
type LifeAnswer struct {
	_     struct{} `cbor:",toarray"`
	For   types.Life
	Own   types.Life // the answerer's
	First types.Life // LifeRequest.Log of that key that the answerer ever heard first; zero if it heard a vote before
	Older bool
	// Python is LifeRequest.Python of the answerer.
	Python string
}

// MaxPythonBytes bounds what a validator says of its Python, as 3.11.7.
const MaxPythonBytes = 32

// checkPython says whether a peer's word for its Python may be shown to people.
func checkPython(version string) error {
	if len(version) > MaxPythonBytes {
		return newInvalid("bad_python", "a version of Python of %d bytes, at most %d", len(version), MaxPythonBytes)
	}
	for i := range len(version) {
		if version[i] <= ' ' || version[i] > '~' {
			return newInvalid("bad_python", "a version of Python with the byte %#x", version[i])
		}
	}
	return nil
}

// Verified is a message that may reach the machine. Only the Check functions make its
// values, except the four requests, LifeAnswer and Past, which need no checks.
type Verified interface{ isVerified() }

// VerifiedVote is a vote of a member, signed by it.
type VerifiedVote struct{ vote *types.Vote }

// VerifiedCertificate is a quorum of votes by distinct members.
type VerifiedCertificate struct{ certificate *types.Certificate }

// VerifiedProposal is signed by its view's leader; its block's body is the one
// that the header commits to, with certificates that are verified. Its hash is computed once, here.
type VerifiedProposal struct {
	proposal *types.Proposal
	hash     types.Hash
}

// VerifiedBlock is the body that its header commits to, with certificates that
// are verified.
type VerifiedBlock struct {
	block *types.Block
	hash  types.Hash
}

// VerifiedView is an answer whose certificate is verified.
type VerifiedView struct{ answer *ViewAnswer }

// Vote returns the vote, not to be changed.
func (v VerifiedVote) Vote() *types.Vote { return v.vote }

// Certificate returns the certificate, not to be changed.
func (v VerifiedCertificate) Certificate() *types.Certificate { return v.certificate }

// Proposal returns the proposal, not to be changed.
func (v VerifiedProposal) Proposal() *types.Proposal { return v.proposal }

// Hash is the hash of the proposed block.
func (v VerifiedProposal) Hash() types.Hash { return v.hash }

// Block returns the block, not to be changed.
func (v VerifiedBlock) Block() *types.Block { return v.block }

// Hash is the hash of the block.
func (v VerifiedBlock) Hash() types.Hash { return v.hash }

func (VerifiedVote) isVerified()        {}
func (VerifiedCertificate) isVerified() {}
func (VerifiedProposal) isVerified()    {}
func (VerifiedBlock) isVerified()       {}
func (VerifiedView) isVerified()        {}
func (*LifeRequest) isVerified()        {}
func (*LifeAnswer) isVerified()         {}
func (*BlockRequest) isVerified()       {}
func (*ViewRequest) isVerified()        {}
func (*CertificateRequest) isVerified() {}
