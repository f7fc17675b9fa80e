package observe

import (
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
)

// MaxVoteBytes bounds what VoteIn tries to read as a vote.
const MaxVoteBytes = 16 << 10

// IsVote reports whether a frame says that it is a vote.
func IsVote(frame []byte) bool {
	tag, _ := mesh.Read(frame)
	return tag == mesh.Vote
}

// VoteIn reads a frame that a validator sent as its own vote, or returns nil if it
// is not a vote, or not signed by the sender. It is what it signed that counts
// against it, in whatever encoding.
func VoteIn(frame []byte, from types.Address, chainID uint64, recover func(types.Hash, types.Signature) (types.Address, bool)) *types.Vote {
	var vote types.Vote
	tag, message := mesh.Read(frame)
	if tag != mesh.Vote || len(frame) > MaxVoteBytes || codec.UnmarshalLoose(message, MaxVoteBytes, &vote) != nil || vote.Validator != from {
		return nil
	}
	if signer, ok := recover(vote.Digest(chainID), vote.Signature); !ok || signer != from {
		return nil
	}
	return &vote
}

// ProposalIn reads a frame as a proposal, or returns nil if it is not one.
func ProposalIn(frame []byte) *types.Proposal {
	var p types.Proposal
	tag, message := mesh.Read(frame)
	if tag != mesh.Proposal || codec.Unmarshal(message, types.MaxBlockBytes+1024, &p) != nil || p.Block == nil {
		return nil
	}
	return &p
}
