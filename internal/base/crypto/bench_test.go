package crypto

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The real signature is the baseline of both ways to avoid it: remembering, and
// the simulator's keyed hash.
func BenchmarkSign(b *testing.B) {
	for name, scheme := range schemes() {
		b.Run(name, func(b *testing.B) {
			signer := scheme.Signer(DeriveKey(1, "v0"))
			digest := types.Keccak([]byte("vote"))
			b.ReportAllocs()
			for b.Loop() {
				digest[0]++
				signer.Sign(digest)
			}
		})
	}
}

func BenchmarkRecover(b *testing.B) {
	for name, scheme := range schemes() {
		b.Run(name, func(b *testing.B) {
			digest := types.Keccak([]byte("vote"))
			sig := scheme.Signer(DeriveKey(1, "v0")).Sign(digest)
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := scheme.Recover(digest, sig); !ok {
					b.Fatal("refused")
				}
			}
		})
	}
}

// A verifier's memory when nothing is remembered yet: what it costs to fill.
func BenchmarkRecoverAndStore(b *testing.B) {
	verifier := NewVerifier(true)
	signer := DeriveKey(1, "v0")
	digests := make([]types.Hash, 512)
	sigs := make([]types.Signature, len(digests))
	for i := range digests {
		digests[i] = types.Hash{byte(i), byte(i >> 8)}
		sigs[i] = signer.Sign(digests[i])
	}
	i := 0
	for b.Loop() {
		if i%len(digests) == 0 {
			verifier = NewVerifier(true)
		}
		verifier.Recover(digests[i%len(digests)], sigs[i%len(digests)])
		i++
	}
}
