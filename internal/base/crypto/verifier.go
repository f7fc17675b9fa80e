package crypto

import (
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"

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

// recoverSigner checks the form of a signature, then recovers its signer.
func recoverSigner(digest types.Hash, sig types.Signature) (types.Address, bool) {
	var r, s, e fr.Element
	if r.SetBytesCanonical(sig[:32]) != nil || s.SetBytesCanonical(sig[32:64]) != nil || r.IsZero() || s.IsZero() ||
		s.LexicographicallyLargest() || sig[64] > 1 {
		return types.Address{}, false
	}
	e.SetBytes(digest[:]) // modulo the order
	public, ok := recoverPoint(&r, &s, &e, sig[64] == 1)
	if !ok {
		return types.Address{}, false
	}
	return addressOfPoint(&public), true
}
