package crypto

import (
	"crypto/subtle"
	"encoding/binary"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// KeyedHash is the simulator's scheme. The world holds a secret; a signature is
// keccak256(secret ‖ address ‖ digest) in place of r, the signer's address in
// the last 20 bytes of s, and all else 0. A node gets only its own signer, which
// does not reveal the secret, so even a Byzantine node cannot sign for another.
//
// It is safe for concurrent use.
type KeyedHash struct {
	secret types.Hash
	mu     sync.Mutex
	recent []tag // a power of two
	missed int   // tags that were checked and not remembered, since recent grew
}

// leastTags is how many tags are remembered: those of a few views of a hundred
// validators. Each has one place, and gives it up to the next for it. Where many did so
// before they were checked, more are in use: the pulse of ten thousand runners is a
// hundred thousand signatures a block. So the places double, up to mostTags.
const (
	leastTags = 2048
	mostTags  = 1 << 18
)

// tag is what a signer's signature of a digest holds. The zero tag belongs to no
// signer.
type tag struct {
	digest types.Hash
	signer types.Address
	tag    types.Hash
}

// NewKeyedHash returns the scheme of a world with this secret.
func NewKeyedHash(secret types.Hash) *KeyedHash {
	return &KeyedHash{secret: secret, recent: make([]tag, leastTags)}
}

// Where a keyed hash puts the signer's address.
const keyedAddress = 64 - len(types.Address{})

// Signer returns a signer with the key's real address and public key.
func (h *KeyedHash) Signer(key *Key) Signer { return &keyedSigner{key, h} }

// Recover returns the address in the signature where the tag is right.
func (h *KeyedHash) Recover(digest types.Hash, sig types.Signature) (types.Address, bool) {
	signer := types.Address(sig[keyedAddress:64])
	want := h.signTag(signer, digest, true)
	if subtle.ConstantTimeCompare(want[:], sig[:]) != 1 {
		return types.Address{}, false
	}
	return signer, true
}

func (h *KeyedHash) signTag(signer types.Address, digest types.Hash, checking bool) (sig types.Signature) {
	tag := h.tagOf(signer, digest, checking)
	copy(sig[:], tag[:])
	copy(sig[keyedAddress:], signer[:])
	return sig
}

// tagOf returns keccak256(secret ‖ signer ‖ digest), remembered where it can be:
// each signature is made once and checked many times.
func (h *KeyedHash) tagOf(signer types.Address, digest types.Hash, checking bool) types.Hash {
	place := binary.LittleEndian.Uint64(digest[:]) ^ binary.LittleEndian.Uint64(signer[:])
	h.mu.Lock()
	defer h.mu.Unlock()
	known := &h.recent[place%uint64(len(h.recent))]
	if known.tag.IsZero() || known.digest != digest || known.signer != signer {
		if checking {
			h.missed++
		}
		if h.missed > len(h.recent) && len(h.recent) < mostTags {
			h.recent, h.missed = make([]tag, 2*len(h.recent)), 0
			known = &h.recent[place%uint64(len(h.recent))]
		}
		*known = tag{digest, signer, types.Keccak(h.secret[:], signer[:], digest[:])}
	}
	return known.tag
}

type keyedSigner struct {
	key    *Key
	scheme *KeyedHash
}

func (s *keyedSigner) Address() types.Address     { return s.key.address }
func (s *keyedSigner) PublicKey() types.PublicKey { return s.key.public }

func (s *keyedSigner) Sign(digest types.Hash) types.Signature {
	return s.scheme.signTag(s.key.address, digest, false)
}
