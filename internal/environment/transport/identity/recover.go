package identity

import (
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// verifier remembers nothing: each certificate is made for one start of a node.
var verifier = crypto.NewVerifier(false)

// signedBy reports whether the holder of key made the signature (decision C10).
func signedBy(key types.PublicKey, digest types.Hash, sig types.Signature) bool {
	address, err := crypto.AddressOf(key)
	if err != nil {
		return false
	}
	signer, ok := verifier.Recover(digest, sig)
	return ok && signer == address
}
