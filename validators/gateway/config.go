package gateway

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Verifier judges signatures (decision C10).
type Verifier interface {
	Recover(digest types.Hash, sig types.Signature) (signer types.Address, ok bool)
}

// Config is the configuration of a machine.
type Config struct {
	ChainID  uint64
	Signer   crypto.Signer // of the validator
	Verifier Verifier
	// Chance makes the nonces that runners sign. No outsider may predict it.
	Chance *rand.Rand
}

func (c *Config) ownKey() types.PublicKey                      { return c.Signer.PublicKey() }
func (c *Config) signDigest(digest types.Hash) types.Signature { return c.Signer.Sign(digest) }

// isSignedBy reports whether the runner of a connection made a signature.
func (c *Config) isSignedBy(p *peer, digest types.Hash, sig types.Signature) bool {
	return c.isSignedByRunner(p.address, digest, sig)
}

// isSignedByRunner reports whether a runner made a signature.
func (c *Config) isSignedByRunner(runner types.Address, digest types.Hash, sig types.Signature) bool {
	signer, ok := c.Verifier.Recover(digest, sig)
	return ok && signer == runner
}

// newNonce returns an unpredictable nonce.
func (c *Config) newNonce() (nonce types.Hash) {
	for i := 0; i < len(nonce); i += 8 {
		binary.BigEndian.PutUint64(nonce[i:], c.Chance.Uint64())
	}
	return nonce
}
