package crypto

import (
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Verifier recovers real signatures. All nodes of a process may share one: what
// one of them checked or signed, none checks again.
type Verifier struct {
	memory *memory // nil: it remembers nothing
}

// NewVerifier returns a verifier; remember false turns its memory off, which
// changes only its speed.
func NewVerifier(remember bool) *Verifier {
	if !remember {
		return &Verifier{}
	}
	return &Verifier{memory: newMemory()}
}

// Recover returns the address that signed digest. It refuses s above half the
// order, v above 1, r or s of 0 or beyond the order, and an r that is not on the
// curve (decision C10). Refusals are not remembered, so that garbage cannot fill
// the memory.
func (v *Verifier) Recover(digest types.Hash, sig types.Signature) (types.Address, bool) {
	if v.memory == nil {
		return recoverSigner(digest, sig)
	}
	what := checkedSignature{digest, sig}
	if signer, known := v.memory.lookUp(&what); known {
		return signer, true
	}
	signer, ok := recoverSigner(digest, sig)
	if ok {
		v.memory.storeSignature(&what, signer)
	}
	return signer, ok
}

// Signer returns a signer whose signatures this verifier knows already.
func (v *Verifier) Signer(key *Key) Signer {
	if v.memory == nil {
		return key
	}
	return &rememberedSigner{Key: key, memory: v.memory}
}

type rememberedSigner struct {
	*Key
	memory *memory
}

func (s *rememberedSigner) Sign(digest types.Hash) types.Signature {
	sig := s.Key.Sign(digest)
	s.memory.storeSignature(&checkedSignature{digest, sig}, s.Key.address)
	return sig
}

// recoverSigner checks the form that RecoverCompact is lax about, then
// recovers.
func recoverSigner(digest types.Hash, sig types.Signature) (types.Address, bool) {
	var s secp256k1.ModNScalar
	if s.SetByteSlice(sig[32:64]) || s.IsOverHalfOrder() || sig[64] > 1 {
		return types.Address{}, false
	}
	var compact [65]byte // v ‖ r ‖ s
	compact[0] = 27 + 4 + sig[64]
	copy(compact[1:], sig[:64])
	public, _, err := ecdsa.RecoverCompact(compact[:], digest[:])
	if err != nil {
		return types.Address{}, false
	}
	return addressOf(public), true
}
