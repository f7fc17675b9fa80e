package crypto

import (
	"crypto/subtle"

	"github.com/cowboyinc/devnet/internal/types"
)

// KeyedHash is the simulator's scheme. The world holds a secret; a signature is
// keccak256(secret ‖ address ‖ digest) in place of r, the signer's address in
// the last 20 bytes of s, and all else 0. A node is given its own signer only,
// from which the secret cannot be had, so even a Byzantine node signs for
// nobody else.
type KeyedHash struct {
	secret types.Hash
}

// NewKeyedHash returns the scheme of a world with this secret.
func NewKeyedHash(secret types.Hash) *KeyedHash { return &KeyedHash{secret} }

// Where a keyed hash puts the signer's address.
const keyedAddress = 64 - len(types.Address{})

// Signer returns a signer with the key's real address and public key.
func (h *KeyedHash) Signer(key *Key) Signer { return &keyedSigner{key, h} }

// Recover returns the address in the signature where the tag is right.
func (h *KeyedHash) Recover(digest types.Hash, sig types.Signature) (types.Address, bool) {
	signer := types.Address(sig[keyedAddress:64])
	want := h.sign(signer, digest)
	if subtle.ConstantTimeCompare(want[:], sig[:]) != 1 {
		return types.Address{}, false
	}
	return signer, true
}

func (h *KeyedHash) sign(signer types.Address, digest types.Hash) (sig types.Signature) {
	tag := types.Keccak(h.secret[:], signer[:], digest[:])
	copy(sig[:], tag[:])
	copy(sig[keyedAddress:], signer[:])
	return sig
}

type keyedSigner struct {
	key    *Key
	scheme *KeyedHash
}

func (s *keyedSigner) Address() types.Address     { return s.key.address }
func (s *keyedSigner) PublicKey() types.PublicKey { return s.key.public }

func (s *keyedSigner) Sign(digest types.Hash) types.Signature {
	return s.scheme.sign(s.key.address, digest)
}
