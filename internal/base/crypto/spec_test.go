package crypto

import (
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// order is the order of secp256k1.
var order, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Decision C10: address = last 20 bytes of keccak256 of the uncompressed key
// without its first byte. The pairs are well known from Ethereum.
func TestC10AddressOfKnownKeys(t *testing.T) {
	for secret, want := range map[string]string{
		"0000000000000000000000000000000000000000000000000000000000000001": "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
		"0000000000000000000000000000000000000000000000000000000000000002": "0x2b5ad5c4795c026514f8317c7a215e218dccd6cf",
		"ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80": "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
	} {
		key, err := NewKey([32]byte(unhex(t, secret)))
		if err != nil {
			t.Fatal(err)
		}
		if key.Address().String() != want {
			t.Errorf("secret %s: address %s, want %s", secret, key.Address(), want)
		}
		if of, err := AddressOf(key.PublicKey()); err != nil || of != key.Address() {
			t.Errorf("AddressOf(%s) = %s, %v, want %s", key.PublicKey(), of, err, key.Address())
		}
		if of, err := computeAddress(key.PublicKey()); err != nil || of != key.Address() {
			t.Errorf("without memory, AddressOf(%s) = %s, %v, want %s", key.PublicKey(), of, err, key.Address())
		}
	}
}

// Decision C10: signatures are 65 bytes r ‖ s ‖ v. A signature of another
// implementation, in that layout, is recovered.
func TestC10ForeignSignatureIsRecovered(t *testing.T) {
	digest := types.Hash(unhex(t, "ce0677bb30baa8cf067c88db9811f4333d131bf8bcf12fe7065d211dce971008"))
	sig := types.Signature(unhex(t, "90f27b8b488db00b00606796d2987f6a5f59ae62ea05effe84fef5b8b0e54998"+
		"4a691139ad57a3f0b906637673aa2f63d1f55cb1a69199d4009eea23ceaddc9301"))
	point := unhex(t, "e32df42865e97135acfb65f3bae71bdc86f4d49150ad6a440b6f15878109880a"+
		"0a2b2667f7e725ceea70c673093bf67663e0312623c8e091b13cf2c0f11ef652")
	digestOfPoint := types.Keccak(point)
	want := types.Address(digestOfPoint[12:])
	if got, ok := NewVerifier(true).Recover(digest, sig); !ok || got != want {
		t.Fatalf("recovered %s, %v; want %s", got, ok, want)
	}
}

// Decision C10: low s. decred recovers the mirrored signature (n - s, v ^ 1) as
// well, to the same key; it is a second signature for one message, and refused.
func TestC10HighSIsRefused(t *testing.T) {
	digest, sig, key := sample()
	mirrored := sig
	s := new(big.Int).SetBytes(sig[32:64])
	s.Sub(order, s).FillBytes(mirrored[32:64])
	mirrored[64] ^= 1
	mustRefuse(t, "high s", digest, mirrored)

	half := new(big.Int).Rsh(order, 1)
	if new(big.Int).SetBytes(sig[32:64]).Cmp(half) > 0 {
		t.Errorf("Sign made s above half the order")
	}
	if got, ok := NewVerifier(false).Recover(digest, sig); !ok || got != key.Address() {
		t.Errorf("the low s was refused")
	}
}

// Decision C10: v is 0 or 1. decred also takes 2 and 3, and its own header
// bytes 27 to 34.
func TestC10OtherVIsRefused(t *testing.T) {
	digest, sig, _ := sample()
	for v := 2; v < 256; v++ {
		sig[64] = byte(v)
		mustRefuse(t, "v", digest, sig)
	}
}

// Decision C10: r and s lie in 1..n-1.
func TestC10RAndSOutOfRangeAreRefused(t *testing.T) {
	digest, good, _ := sample()
	max := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	for _, bad := range []*big.Int{new(big.Int), order, new(big.Int).Add(order, big.NewInt(1)), max} {
		for v := byte(0); v < 2; v++ {
			r, s := good, good
			bad.FillBytes(r[:32])
			bad.FillBytes(s[32:64])
			r[64], s[64] = v, v
			mustRefuse(t, "r", digest, r)
			mustRefuse(t, "s", digest, s)
		}
	}
	mustRefuse(t, "the zero signature", digest, types.Signature{})
}

// Decision C10: a signature is for one digest. For another digest it recovers
// another address or none, never the signer's.
func TestC10OtherDigestRecoversSomebodyElse(t *testing.T) {
	digest, sig, key := sample()
	digest[0] ^= 1
	for _, scheme := range []Scheme{NewVerifier(true), NewKeyedHash(types.Hash{1})} {
		if got, ok := scheme.Recover(digest, sig); ok && got == key.Address() {
			t.Errorf("%T took the signature of another digest", scheme)
		}
	}
}

// A secret is 1..n-1.
func TestC10SecretsOutOfRangeAreRefused(t *testing.T) {
	for _, bad := range []*big.Int{new(big.Int), order, new(big.Int).Add(order, big.NewInt(5))} {
		var secret [32]byte
		bad.FillBytes(secret[:])
		if _, err := NewKey(secret); err != ErrSecret {
			t.Errorf("NewKey(%x) = %v, want ErrSecret", secret, err)
		}
	}
}

func sample() (types.Hash, types.Signature, *Key) {
	key := DeriveKey(1, "alice")
	digest := types.Keccak([]byte("a message"))
	return digest, key.Sign(digest), key
}

// mustRefuse asks twice, so that a refusal is seen not to be remembered as
// anything else.
func mustRefuse(t *testing.T, what string, digest types.Hash, sig types.Signature) {
	t.Helper()
	verifier := NewVerifier(true)
	for range 2 {
		if got, ok := verifier.Recover(digest, sig); ok {
			t.Fatalf("%s: %s recovered to %s", what, sig, got)
		}
	}
}
