// Package crypto makes and judges signatures (decision C10): secp256k1 keys,
// addresses, and the two schemes a node may be given.
//
// A Scheme makes signers and recovers the signer of a digest. Verifier is the real
// one: 65 bytes r ‖ s ‖ v with low s and v 0 or 1, checked by recovery, with a
// bounded memory of signatures checked or made in this process. KeyedHash is for
// the simulator: a tag that needs the simulation's secret. Both give one key the
// same address and public key, so runs with them differ only in the bytes of
// signatures.
//
// Signatures cover the digest that package types computes; this package does not
// know messages. It uses locks, and only to guard the memory: results never depend
// on it.
package crypto

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fp"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Signer holds one key: what env.Signer asks for.
type Signer interface {
	Address() types.Address
	PublicKey() types.PublicKey
	Sign(digest types.Hash) types.Signature
}

// Scheme is a way to sign and to recover; *Verifier and *KeyedHash are its two
// implementations. It is safe for concurrent use.
type Scheme interface {
	// Signer returns the signer of key under this scheme.
	Signer(key *Key) Signer
	// Recover returns the address that signed digest; ok is false for an invalid
	// signature.
	Recover(digest types.Hash, sig types.Signature) (signer types.Address, ok bool)
}

// Key is a secp256k1 key with its address. It signs for real.
type Key struct {
	secret  fr.Element
	public  types.PublicKey
	address types.Address
}

// ErrSecret reports that 32 bytes are not a secp256k1 secret.
var ErrSecret = errors.New("crypto: a secret key must be a number from 1 to the order of secp256k1 less 1")

// NewKey returns the key of a secret: a big-endian number from 1 to the curve's
// order less 1.
func NewKey(secret [32]byte) (*Key, error) {
	key := &Key{}
	if err := key.secret.SetBytesCanonical(secret[:]); err != nil || key.secret.IsZero() {
		return nil, ErrSecret
	}
	point := multiplyBase(&key.secret)
	affine := normalizePoint(&point)
	key.public, key.address = compressPoint(&affine), addressOfPoint(&affine)
	knownAddresses.storeEntry(&key.public, key.address, addressGeneration)
	return key, nil
}

// DeriveKey returns the key of a devnet's account, validator or runner: a function
// of only the network's seed and the name, such as "alice" or "v0". Such keys are
// public knowledge.
func DeriveKey(seed uint64, name string) *Key {
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], seed)
	secret := types.Keccak([]byte("cowboy/devnet-key/1"), number[:], []byte(name))
	for {
		if key, err := NewKey(secret); err == nil {
			return key
		}
		secret = types.Keccak(secret[:]) // one digest in 2^128 is not a key
	}
}

// Address is the key's account (decision C10).
func (k *Key) Address() types.Address { return k.address }

// PublicKey is the compressed key.
func (k *Key) PublicKey() types.PublicKey { return k.public }

// Secret is what NewKey takes.
func (k *Key) Secret() [32]byte { return k.secret.Bytes() }

// String is the address, so that no log ever shows the secret.
func (k *Key) String() string { return k.address.String() }

// GoString keeps the secret out of %#v as well.
func (k *Key) GoString() string { return "crypto.Key(" + k.address.String() + ")" }

// Sign returns r ‖ s ‖ v with low s; the nonce is RFC 6979's, so one digest has
// one signature.
func (k *Key) Sign(digest types.Hash) (sig types.Signature) {
	secret := k.secret.Bytes()
	var e fr.Element
	e.SetBytes(digest[:]) // modulo the order
	for tries := uint32(0); ; tries++ {
		if r, s, isOdd, ok := k.signWith(drawNonce(&secret, digest, tries), &e); ok {
			rBytes, sBytes := r.Bytes(), s.Bytes()
			copy(sig[:32], rBytes[:])
			copy(sig[32:64], sBytes[:])
			if isOdd {
				sig[64] = 1
			}
			return sig
		}
	}
}

// drawNonce returns RFC 6979's nonce of a digest, after so many that did not serve.
func drawNonce(secret *[32]byte, digest types.Hash, tries uint32) (nonce fr.Element) {
	bytes := secp256k1.NonceRFC6979(secret[:], digest[:], nil, nil, tries).Bytes()
	nonce.SetBytes(bytes[:])
	return nonce
}

// signWith signs e with a nonce; ok is false where r or s would be zero, which nobody has seen.
func (k *Key) signWith(nonce fr.Element, e *fr.Element) (r, s fr.Element, isOdd, ok bool) {
	product := multiplyBase(&nonce)
	point := normalizePoint(&product)
	x := point.X.Bytes()
	if r.SetBytesCanonical(x[:]) != nil {
		// r reached the curve's order: no digest that does this is known, and
		// finding one costs 2^127 tries.
		panic(fmt.Sprintf("crypto: a signature by %s has no v of 0 or 1", k.address))
	}
	s.Mul(&k.secret, &r).Add(&s, e)
	nonce.Inverse(&nonce)
	s.Mul(&s, &nonce)
	isOdd = isOddElement(&point.Y)
	if s.LexicographicallyLargest() { // above half of the order
		s.Neg(&s)
		isOdd = !isOdd
	}
	return r, s, isOdd, !r.IsZero() && !s.IsZero()
}

// AddressOf returns the address of a compressed key: the last 20 bytes of
// keccak256 of the uncompressed one without its first byte. An error means that the
// bytes are not a point of the curve. Errors are not remembered, so that garbage cannot
// fill the memory.
func AddressOf(public types.PublicKey) (types.Address, error) {
	if address, known := knownAddresses.lookUp(&public, addressGeneration); known {
		return address, nil
	}
	address, err := computeAddress(public)
	if err == nil {
		knownAddresses.storeEntry(&public, address, addressGeneration)
	}
	return address, err
}

// computeAddress is AddressOf, without memory.
func computeAddress(public types.PublicKey) (types.Address, error) {
	var x fp.Element
	if public[0] != 2 && public[0] != 3 {
		return types.Address{}, fmt.Errorf("crypto: %s is not a public key: it begins with neither 02 nor 03", public)
	}
	if x.SetBytesCanonical(public[1:]) != nil {
		return types.Address{}, fmt.Errorf("crypto: %s is not a public key: x is not below the order of the field", public)
	}
	point, ok := decompressPoint(&x, public[0] == 3)
	if !ok {
		return types.Address{}, fmt.Errorf("crypto: %s is not a public key: no point of the curve has this x", public)
	}
	return addressOfPoint(&point), nil
}
