package crypto

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/secp256k1"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fp"
	"github.com/consensys/gnark-crypto/ecc/secp256k1/fr"

	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A multiple of the base point is a sum of one table entry for each window of the
// scalar. Digits are signed, so a window of 7 bits needs 64 entries. Narrower windows
// need more additions, wider ones more time until the first key is made.
const (
	windowBits  = 7
	windowSize  = 1 << (windowBits - 1)
	windowCount = 256/windowBits + 1 // the last one takes the carry of the last but one
)

// baseMultiples has 1 to windowSize times 2^(windowBits·i) times the base point, for
// each window i.
var baseMultiples = memo.OnNeed(makeBaseMultiples)

func makeBaseMultiples() *[windowCount][windowSize]secp256k1.G1Affine {
	jacobians := make([]secp256k1.G1Jac, 0, windowCount*windowSize)
	start, _ := secp256k1.Generators()
	for range windowCount {
		multiple := start
		for range windowSize {
			jacobians = append(jacobians, multiple)
			multiple.AddAssign(&start)
		}
		// The last entry is half of the next window's first.
		start.Double(&jacobians[len(jacobians)-1])
	}
	depths := make([]fp.Element, len(jacobians))
	for i := range jacobians {
		depths[i] = jacobians[i].Z
	}
	inverses := fp.BatchInvert(depths)
	table := new([windowCount][windowSize]secp256k1.G1Affine)
	for i := range jacobians {
		table[i/windowSize][i%windowSize] = toAffine(&jacobians[i], &inverses[i])
	}
	return table
}

// toAffine returns the point with Z = 1, from the inverse of its Z, which is not zero.
func toAffine(point *secp256k1.G1Jac, inverse *fp.Element) (affine secp256k1.G1Affine) {
	var square fp.Element
	square.Square(inverse)
	affine.X.Mul(&point.X, &square)
	affine.Y.Mul(&point.Y, &square).Mul(&affine.Y, inverse)
	return affine
}

// normalizePoint returns a point that is not at infinity with Z = 1.
func normalizePoint(point *secp256k1.G1Jac) secp256k1.G1Affine {
	var inverse fp.Element
	return toAffine(point, inverse.Inverse(&point.Z))
}

// multiplyBase returns scalar times the base point, in a time that depends on the scalar.
func multiplyBase(scalar *fr.Element) (product secp256k1.G1Jac) {
	table := baseMultiples()
	limbs := scalar.Bits() // little-endian
	product.X.SetOne()
	product.Y.SetOne()
	carry := 0
	for i := range table {
		digit := readWindow(&limbs, i*windowBits) + carry // 0 to 2^windowBits
		carry = 0
		if digit > windowSize {
			digit -= 2 * windowSize
			carry = 1
		}
		switch {
		case digit > 0:
			product.AddMixed(&table[i][digit-1])
		case digit < 0:
			var opposite secp256k1.G1Affine
			product.AddMixed(opposite.Neg(&table[i][-digit-1]))
		}
	}
	return product
}

// readWindow returns the windowBits bits of a number from bit at on; beyond its end are zeros.
func readWindow(limbs *[4]uint64, at int) int {
	limb, shift := at/64, at%64
	if limb >= len(limbs) {
		return 0
	}
	bits := limbs[limb] >> shift
	if shift+windowBits > 64 && limb+1 < len(limbs) {
		bits |= limbs[limb+1] << (64 - shift)
	}
	return int(bits & (2*windowSize - 1))
}

// decompressPoint returns the point of the curve with this x, and an odd y or an even
// one; ok is false where no point has it.
func decompressPoint(x *fp.Element, isOdd bool) (point secp256k1.G1Affine, ok bool) {
	var square fp.Element
	square.Square(x).Mul(&square, x)
	seven := fp.NewElement(7)
	square.Add(&square, &seven)
	if point.Y.Sqrt(&square) == nil {
		return point, false
	}
	point.X = *x
	if isOddElement(&point.Y) != isOdd {
		point.Y.Neg(&point.Y)
	}
	return point, true
}

func isOddElement(e *fp.Element) bool { return e.Bits()[0]&1 == 1 }

// compressPoint returns the 33 bytes of a public key.
func compressPoint(point *secp256k1.G1Affine) (public types.PublicKey) {
	public[0] = 2
	if isOddElement(&point.Y) {
		public[0] = 3
	}
	x := point.X.Bytes()
	copy(public[1:], x[:])
	return public
}

// addressOfPoint returns the last 20 bytes of keccak256 of x ‖ y (decision C10).
func addressOfPoint(point *secp256k1.G1Affine) types.Address {
	x, y := point.X.Bytes(), point.Y.Bytes()
	digest := types.Keccak(x[:], y[:])
	return types.Address(digest[12:])
}

// recoverPoint returns (s·R - e·G) / r of ECDSA, where R has x = r and the parity of v:
// the public key that signed e. The scalars r and s are not zero.
func recoverPoint(r, s, e *fr.Element, isOdd bool) (public secp256k1.G1Affine, ok bool) {
	var x fp.Element
	bytes := r.Bytes()
	x.SetBytes(bytes[:]) // below the field's order, which is the larger
	nonce, ok := decompressPoint(&x, isOdd)
	if !ok {
		return public, false
	}
	var inverse, ofBase, ofNonce fr.Element
	inverse.Inverse(r)
	ofBase.Mul(e, &inverse).Neg(&ofBase)
	ofNonce.Mul(s, &inverse)
	var sum, start secp256k1.G1Jac
	var number big.Int
	start.FromAffine(&nonce)
	sum.ScalarMultiplication(&start, ofNonce.BigInt(&number))
	product := multiplyBase(&ofBase)
	sum.AddAssign(&product)
	if sum.Z.IsZero() {
		return public, false
	}
	return normalizePoint(&sum), true
}
