package identity

import (
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"github.com/cowboyinc/devnet/internal/types"
)

// compactBase is what the library's layout v ‖ r ‖ s adds to v for a compressed
// key; ours is r ‖ s ‖ v (decision C10).
const compactBase = 27 + 4

// signedBy reports whether key made the signature, by recovery, with low s and
// v 0 or 1 (decision C10). It recovers the key and not the address alone, since
// the key is what the certificate names.
func signedBy(key types.PublicKey, digest types.Hash, sig types.Signature) bool {
	v := sig[64]
	var s secp256k1.ModNScalar
	if overflow := s.SetByteSlice(sig[32:64]); v > 1 || overflow || s.IsOverHalfOrder() {
		return false
	}
	var compact [65]byte
	compact[0] = compactBase + v
	copy(compact[1:], sig[:64])
	found, _, err := ecdsa.RecoverCompact(compact[:], digest[:])
	return err == nil && types.PublicKey(found.SerializeCompressed()) == key
}
