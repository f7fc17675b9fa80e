package crypto

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// edgeScalars are numbers whose windows are empty, full, or carry into the next one.
func edgeScalars() (all []*big.Int) {
	one := big.NewInt(1)
	for bit := range uint(256) {
		power := new(big.Int).Lsh(one, bit)
		for _, d := range []int64{-1, 0, 1} {
			all = append(all, new(big.Int).Add(power, big.NewInt(d)))
		}
		all = append(all, new(big.Int).Sub(order, power))
	}
	for digit := range int64(2 * windowSize) { // the same digit in each window
		number := new(big.Int)
		for range windowCount {
			number.Lsh(number, windowBits).Add(number, big.NewInt(digit))
		}
		all = append(all, number.Mod(number, order))
	}
	return all
}

// drawScalar draws a number from 1 to the order less 1, often of few bits that are alike.
func drawScalar(t *rapid.T, name string) [32]byte {
	var bytes [32]byte
	number := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, name))
	if rapid.Bool().Draw(t, name+" is an edge") {
		number = rapid.SampledFrom(edgeScalars()).Draw(t, name)
	}
	number.Mod(number, new(big.Int).Sub(order, big.NewInt(1))).Add(number, big.NewInt(1)).FillBytes(bytes[:])
	return bytes
}

// signByDecred is the signature by the oracle, another implementation of the curve.
func signByDecred(secret [32]byte, digest types.Hash) (sig types.Signature) {
	compact := ecdsa.SignCompact(secp256k1.PrivKeyFromBytes(secret[:]), digest[:], true)
	copy(sig[:64], compact[1:])
	sig[64] = compact[0] - 27 - 4
	return sig
}

// recoverByDecred judges r and s as the decision does, then asks the oracle.
func recoverByDecred(digest types.Hash, sig types.Signature) (types.Address, bool) {
	var s secp256k1.ModNScalar
	if s.SetByteSlice(sig[32:64]) || s.IsOverHalfOrder() || sig[64] > 1 {
		return types.Address{}, false
	}
	public, _, err := ecdsa.RecoverCompact(append([]byte{27 + 4 + sig[64]}, sig[:64]...), digest[:])
	if err != nil {
		return types.Address{}, false
	}
	return addressByDecred(public), true
}

func addressByDecred(public *secp256k1.PublicKey) types.Address {
	digest := types.Keccak(public.SerializeUncompressed()[1:])
	return types.Address(digest[12:])
}

func TestMultiplesOfTheBasePointAreTheOracles(t *testing.T) {
	for _, number := range edgeScalars() {
		var bytes [32]byte
		number.FillBytes(bytes[:])
		var scalar fr.Element
		if scalar.SetBytesCanonical(bytes[:]) != nil || scalar.IsZero() {
			continue
		}
		point := multiplyBase(&scalar)
		affine := normalizePoint(&point)
		public := compressPoint(&affine)
		if want := secp256k1.PrivKeyFromBytes(bytes[:]).PubKey().SerializeCompressed(); types.PublicKey(want) != public {
			t.Fatalf("%x times the base point is %s, want %x", bytes, public, want)
		}
	}
	var zero fr.Element
	if point := multiplyBase(&zero); !point.Z.IsZero() {
		t.Errorf("zero times the base point is %v, want the point at infinity", point)
	}
}

func TestKeysAndSignaturesHaveTheOraclesBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := drawScalar(t, "secret")
		key, err := NewKey(secret)
		if err != nil {
			t.Fatal(err)
		}
		public := secp256k1.PrivKeyFromBytes(secret[:]).PubKey()
		if key.PublicKey() != types.PublicKey(public.SerializeCompressed()) || key.Address() != addressByDecred(public) {
			t.Fatalf("the key of %x is %s at %s, want %x at %s", secret, key.PublicKey(), key.Address(), public.SerializeCompressed(),
				addressByDecred(public))
		}
		digest := types.Hash(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		if rapid.Bool().Draw(t, "digest beyond the order") {
			digest = types.Hash{}
			for i := range digest {
				digest[i] = 0xff
			}
			digest[31] = rapid.Byte().Draw(t, "last byte")
		}
		sig := key.Sign(digest)
		if want := signByDecred(secret, digest); sig != want {
			t.Fatalf("%x signs %s as %s, want %s", secret, digest, sig, want)
		}
		if got, ok := recoverSigner(digest, sig); !ok || got != key.Address() {
			t.Fatalf("recovered %s, %v; want %s", got, ok, key.Address())
		}
	})
}

// Half of these x are on no point of the curve, so that both verdicts are compared.
func TestDrawnSignaturesAndKeysAreJudgedAsByTheOracle(t *testing.T) {
	taken, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		r, s := drawScalar(t, "r"), drawScalar(t, "s")
		digest := types.Hash(drawScalar(t, "digest"))
		sig := types.Signature{64: rapid.ByteRange(0, 2).Draw(t, "v")}
		copy(sig[:32], r[:])
		copy(sig[32:64], s[:])
		got, ok := recoverSigner(digest, sig)
		if want, wantOK := recoverByDecred(digest, sig); got != want || ok != wantOK {
			t.Fatalf("%s of %s: recovered %s, %v; want %s, %v", sig, digest, got, ok, want, wantOK)
		}
		public := types.PublicKey{0: rapid.ByteRange(1, 4).Draw(t, "kind")}
		copy(public[1:], r[:])
		if rapid.Bool().Draw(t, "x beyond the field") {
			for i := range 28 {
				public[1+i] = 0xff
			}
		}
		address, err := AddressOf(public)
		parsed, wantErr := secp256k1.ParsePubKey(public[:])
		if (err == nil) != (wantErr == nil) || err == nil && address != addressByDecred(parsed) {
			t.Fatalf("AddressOf(%s) = %s, %v; the oracle says %v", public, address, err, wantErr)
		}
		if ok {
			taken++
		} else {
			refused++
		}
	})
	if taken == 0 || refused == 0 {
		t.Errorf("%d signatures were taken and %d refused: one of both verdicts was not compared", taken, refused)
	}
}

// R of which s times it is e times the base point recovers to the point at infinity.
func TestASignatureThatRecoversToInfinityIsRefused(t *testing.T) {
	var nonce, e, r fr.Element
	nonce.SetUint64(12345)
	point := multiplyBase(&nonce)
	affine := normalizePoint(&point)
	x := affine.X.Bytes()
	r.SetBytes(x[:])
	s := fr.NewElement(777)
	e.Mul(&s, &nonce)
	sig := types.Signature{64: compressPoint(&affine)[0] - 2}
	rBytes, sBytes := r.Bytes(), s.Bytes()
	copy(sig[:32], rBytes[:])
	copy(sig[32:64], sBytes[:])
	if got, ok := recoverSigner(types.Hash(e.Bytes()), sig); ok {
		t.Errorf("recovered %s, want a refusal", got)
	}
}

// What the first key of a process costs besides: the table of the base point.
func BenchmarkBaseMultiples(b *testing.B) {
	for b.Loop() {
		makeBaseMultiples()
	}
}
