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

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

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
	secret  *secp256k1.PrivateKey
	public  types.PublicKey
	address types.Address
}

// ErrSecret reports that 32 bytes are not a secp256k1 secret.
var ErrSecret = errors.New("crypto: a secret key must be a number from 1 to the order of secp256k1 less 1")

// NewKey returns the key of a secret: a big-endian number from 1 to the curve's
// order less 1.
func NewKey(secret [32]byte) (*Key, error) {
	var scalar secp256k1.ModNScalar
	if overflow := scalar.SetBytes(&secret); overflow != 0 || scalar.IsZero() {
		return nil, ErrSecret
	}
	key := &Key{secret: secp256k1.NewPrivateKey(&scalar)}
	public := key.secret.PubKey()
	copy(key.public[:], public.SerializeCompressed())
	key.address = addressOf(public)
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
func (k *Key) Secret() [32]byte { return [32]byte(k.secret.Serialize()) }

// String is the address, so that no log ever shows the secret.
func (k *Key) String() string { return k.address.String() }

// GoString keeps the secret out of %#v as well.
func (k *Key) GoString() string { return "crypto.Key(" + k.address.String() + ")" }

// Sign returns r ‖ s ‖ v with low s; the nonce is RFC 6979's, so one digest has
// one signature.
func (k *Key) Sign(digest types.Hash) (sig types.Signature) {
	compact := ecdsa.SignCompact(k.secret, digest[:], true) // 27 + v + 4 ‖ r ‖ s
	v := compact[0] - 27 - 4
	if v > 1 {
		// r reached the curve's order: no digest that does this is known, and
		// finding one costs 2^127 tries.
		panic(fmt.Sprintf("crypto: the signature of %s by %s has no v of 0 or 1", digest, k.address))
	}
	copy(sig[:64], compact[1:])
	sig[64] = v
	return sig
}

// AddressOf returns the address of a compressed key: the last 20 bytes of
// keccak256 of the uncompressed one without its first byte. An error means that the
// bytes are not a point of the curve.
func AddressOf(public types.PublicKey) (types.Address, error) {
	point, err := secp256k1.ParsePubKey(public[:])
	if err != nil {
		return types.Address{}, fmt.Errorf("crypto: %s is not a public key: %w", public, err)
	}
	return addressOf(point), nil
}

func addressOf(point *secp256k1.PublicKey) types.Address {
	digest := types.Keccak(point.SerializeUncompressed()[1:])
	return types.Address(digest[12:])
}
