package push

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
)

func TestVectorsOfJobIDs(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Submitter     types.Address
		Nonce, Height vectors.Number
		JobID         types.Hash `json:"job_id"`
	}](t, "cip11/j1-ids.json") {
		if got := JobID(c.Submitter, uint64(c.Nonce), types.Height(c.Height)); got != c.JobID {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestVectorsOfCommitments(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		JobID      types.Hash `json:"job_id"`
		Result     types.Bytes
		Signature  types.Signature
		Commitment types.Hash
		Drawn      vectors.Number
		Said       types.Signature `json:"commit_signed"`
		Runner     types.Address
	}](t, "cip11/j5-commitments.json") {
		f := &JobResult{JobID: c.JobID, ResultData: c.Result}
		if got := runner.Sign(f.Digest(chainID)); got != c.Signature {
			t.Errorf("%s is signed with %s", c.JobID, got)
		}
		if got := Commitment(c.Result, c.Signature); got != c.Commitment {
			t.Errorf("%s is committed to by %s", c.JobID, got)
		}
		digest := CommitmentDigest(chainID, c.JobID, types.Height(c.Drawn), c.Commitment)
		if signer, ok := crypto.NewVerifier(false).Recover(digest, c.Said); !ok || signer != c.Runner {
			t.Errorf("%s: the commitment is signed by %s; want %s", c.JobID, signer, c.Runner)
		}
	}
}

func TestVectorsOfFrames(t *testing.T) {
	scheme, seen := crypto.NewVerifier(false), map[Type]bool{}
	for i, c := range vectors.Cases[struct {
		Frame     string
		Type      vectors.Number
		Bytes     types.Bytes
		Loose     types.Bytes
		Digest    *types.Hash
		Signature *types.Signature
		Signer    types.Address
		Challenge types.Hash
		Peer      types.PublicKey
	}](t, "cip11/12-frames.json") {
		raw, err := cut(c.Bytes)
		if err != nil || raw.Type != Type(c.Type) || raw.Type.String() != c.Frame {
			t.Fatalf("case %d: %s, %v", i, raw.Type, err)
		}
		seen[raw.Type] = true
		for _, payload := range [][]byte{raw.Payload, c.Loose} {
			f, err := Decode(Raw{raw.Type, payload})
			if err != nil {
				t.Errorf("case %d: %v", i, err)
				continue
			}
			if again, err := Encode(f); err != nil || !bytes.Equal(again, c.Bytes) {
				t.Errorf("case %d: written as %x, %v", i, again, err)
			}
			if c.Digest == nil {
				continue
			}
			digest := digestOf(f, c.Challenge, c.Peer)
			if digest != *c.Digest {
				t.Errorf("case %d: %s signs %s", i, c.Frame, digest)
			}
			if !signedBy(scheme, digest, *c.Signature, c.Signer) {
				t.Errorf("case %d: it is not signed by %s", i, c.Signer)
			}
		}
	}
	if len(seen) != 12 {
		t.Errorf("the vectors have %d of 12 frames", len(seen))
	}
}

// digestOf is what is signed of a frame that is.
func digestOf(f Frame, challenge types.Hash, peer types.PublicKey) types.Hash {
	switch f := f.(type) {
	case *HelloAck:
		return f.Digest(chainID, challenge, peer)
	case *HeartbeatPong:
		return f.Digest(chainID, peer)
	case interface{ Digest(uint64) types.Hash }:
		return f.Digest(chainID)
	}
	return types.Hash{}
}

func TestVectorsOfBrokenFrames(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Frame, Note string
		Type        vectors.Number
		Payload     types.Bytes
		Reason      Reason
	}](t, "cip11/12-broken.json") {
		f, err := Decode(Raw{Type(c.Type), c.Payload})
		var fault *Fault
		switch {
		case c.Reason == "" && err != nil:
			t.Errorf("%s, %s: %v", c.Frame, c.Note, err)
		case c.Reason != "" && (!errors.As(err, &fault) || fault.Reason != c.Reason):
			t.Errorf("%s, %s: %v, %v; want %s", c.Frame, c.Note, f, err, c.Reason)
		case c.Reason != "" && len(err.Error()) > 200:
			t.Errorf("%s, %s: a fault of %d bytes", c.Frame, c.Note, len(err.Error()))
		}
	}
}

func TestVectorsOfJobSpecs(t *testing.T) {
	for i, c := range vectors.Cases[struct {
		Spec  types.Bytes
		Hash  types.Hash
		Wrong string
	}](t, "cip11/12-jobspecs.json") {
		var s JobSpec
		if err := codec.Unmarshal(c.Spec, 1<<16, &s); err != nil || s.Hash() != c.Hash {
			t.Errorf("case %d: %s, %v", i, s.Hash(), err)
			continue
		}
		err := s.Check()
		var wrong *SpecError
		if errors.As(err, &wrong) && wrong.Field != c.Wrong || (err == nil) != (c.Wrong == "") {
			t.Errorf("case %d: %v, want %q", i, err, c.Wrong)
		}
	}
}
