package system

import (
	"bytes"
	"math/big"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Claim is the part of a result that is compared with other results. It is made
// once, when the result comes, so that settling costs the same whatever results are
// long.
type Claim struct {
	_       struct{}   `cbor:",toarray"`
	Fault   string     // of a result that does not count: it agrees with none, its own included
	Digest  types.Hash // the hash of the part that has to be equal
	Numbers []Number   // what has to be near, one number for each Tolerance
	Sketch  types.Hash // the sketch of the part that has to be similar
}

// Valid reports whether the result counts.
func (c *Claim) Valid() bool { return c.Fault == "" }

// The faults of results that do not count, in the words of a failed job.
const (
	faultJSON    = "not JSON (RFC 8259), has a name twice or above 32 levels"
	faultText    = "not UTF-8"
	faultMissing = "without a number or member that its checks read"
	faultNumber  = "with a number above 256 bits where its checks read"
	faultCheck   = "outside a schema or range"
)

// Number is a decimal of a result.
type Number struct {
	_        struct{} `cbor:",toarray"`
	Negative bool
	Digits   types.Wei
	Shift    uint64 // the exponent of ten and numberShift
}

// numberShift keeps exponents above 0: no number has a lesser one.
const numberShift = 256

// claimOf makes the claim of a result under a job's spec.
//
// Spec: CIP-2's modes as in docs/DRAFTS.md, decision J5.
func claimOf(o *push.JobSpec, result []byte) Claim {
	v := &o.Verification
	var value *jsonValue
	if parsed, err := parseJSON(result); err == nil {
		value = &parsed
	}
	switch o.ResultSchema.DataFormat {
	case push.FormatJSON:
		if value == nil {
			return Claim{Fault: faultJSON}
		}
	case push.FormatText:
		if !utf8.Valid(result) {
			return Claim{Fault: faultText}
		}
	}
	switch v.Mode {
	case push.MajorityVote:
		return voteClaim(v.Field, value, result)
	case push.StructuredMatch:
		return matchClaim(v.Checks, value)
	case push.SemanticSimilarity:
		if !utf8.Valid(result) {
			return Claim{Fault: faultText}
		}
		return Claim{Sketch: simhashOf(result)}
	}
	return Claim{Digest: types.Keccak(result)}
}

// voteClaim returns the value of one field, or the whole result if no field is
// named.
func voteClaim(field *string, value *jsonValue, result []byte) Claim {
	if field == nil {
		return Claim{Digest: types.Keccak(result)}
	}
	if value == nil {
		return Claim{Fault: faultJSON}
	}
	at := value.valueAtPointer(*field)
	switch {
	case at == nil:
		return Claim{Fault: faultMissing}
	case at.exceedsLimits():
		return Claim{Fault: faultNumber}
	}
	return Claim{Digest: at.hashOf()}
}

// matchClaim judges the checks that concern one result, and gathers the parts that
// results must share. The first check that fails names the fault.
func matchClaim(checks []push.Check, value *jsonValue) Claim {
	if value == nil {
		return Claim{Fault: faultJSON}
	}
	c := Claim{Numbers: []Number{}}
	var equal []byte
	hashes := map[*jsonValue]types.Hash{} // many pointers may lead to one value
	for i := range checks {
		switch check := &checks[i]; {
		case check.Schema != nil:
			if s, err := parseSchema(*check.Schema); err != nil || !s.allowsValue(value) {
				return Claim{Fault: faultCheck}
			}
		case check.Range != nil:
			n, fault := value.numberAt(check.Range.Pointer)
			if fault == "" && (n.compareTo(decimalOf(check.Range.Min)) < 0 || n.compareTo(decimalOf(check.Range.Max)) > 0) {
				fault = faultCheck
			}
			if fault != "" {
				return Claim{Fault: fault}
			}
		case check.Tolerance != nil:
			n, fault := value.numberAt(check.Tolerance.Pointer)
			if fault != "" {
				return Claim{Fault: fault}
			}
			c.Numbers = append(c.Numbers, numberOf(n))
		default:
			for _, pointer := range *check.Equal {
				one := value.valueAtPointer(pointer)
				if one == nil {
					return Claim{Fault: faultMissing}
				}
				if _, known := hashes[one]; !known {
					if one.exceedsLimits() {
						return Claim{Fault: faultNumber}
					}
					hashes[one] = one.hashOf()
				}
				form := hashes[one]
				equal = append(equal, form[:]...)
			}
		}
	}
	c.Digest = types.Keccak(equal)
	return c
}

// numberAt returns the number that a pointer leads to, or the fault of a result.
func (v *jsonValue) numberAt(pointer string) (n jsonDecimal, fault string) {
	switch at := v.valueAtPointer(pointer); {
	case at == nil || at.kind != jsonNumber:
		return n, faultMissing
	case at.exceedsLimits():
		return n, faultNumber
	default:
		return at.number, ""
	}
}

func numberOf(d jsonDecimal) Number {
	digits, _ := types.WeiFromBig(new(big.Int).Abs(d.mantissa)) // at most 256 bits
	return Number{Negative: d.mantissa.Sign() < 0, Digits: digits, Shift: uint64(d.exponent + numberShift)}
}

func (n *Number) asDecimal() jsonDecimal {
	mantissa := n.Digits.Big()
	if n.Negative {
		mantissa.Neg(mantissa)
	}
	return jsonDecimal{mantissa, int(n.Shift) - numberShift}
}

// differByAtMost reports whether two numbers differ by at most permilles thousandths of the
// larger absolute value. Nothing is rounded.
func differByAtMost(a, b *Number, permilles uint64) bool {
	x, y := a.asDecimal().commonExponent(b.asDecimal())
	greater := new(big.Int).Abs(x)
	if other := new(big.Int).Abs(y); other.Cmp(greater) > 0 {
		greater = other
	}
	apart := new(big.Int).Sub(x, y)
	apart.Abs(apart).Mul(apart, big.NewInt(permille))
	return apart.Cmp(greater.Mul(greater, new(big.Int).SetUint64(permilles))) <= 0
}

// doAgree reports whether two results say the same under a job's terms.
func (t *Terms) doAgree(a, b *Claim) bool {
	if !a.Valid() || !b.Valid() || a.Digest != b.Digest || len(a.Numbers) != len(b.Numbers) {
		return false
	}
	for i := range a.Numbers {
		if !differByAtMost(&a.Numbers[i], &b.Numbers[i], t.Tolerances[i]) {
			return false
		}
	}
	return t.Mode != push.SemanticSimilarity || hammingDistance(&a.Sketch, &b.Sketch) <= maxApart
}

// maxApart is in how many of its 256 bits a sketch may differ from one that it
// agrees with: a quarter. Texts that share no word differ in about half.
const maxApart = 64

func hammingDistance(a, b *types.Hash) (n int) {
	for i := range a {
		n += bits.OnesCount8(a[i] ^ b[i])
	}
	return n
}

// simhashOf is a simhash of a text's words: bit i is set where more of its words have
// bit i in their hash than have not. Words are runs of ASCII letters, digits and
// whatever is not ASCII, in small letters, counted as often as they occur; their
// hash is FNV-1a of 64 bits, from which splitmix64 makes four words. It measures in
// integers how many words two texts share, without regard to their meaning.
//
// Builder's choice (decision J19): no draft says how SemanticSimilarity measures.
func simhashOf(text []byte) (s types.Hash) {
	var counts [256]int32
	hash, begun := uint64(fnvOffset), false
	for i := 0; i <= len(text); i++ {
		letter, inWord := byte(0), false
		if i < len(text) {
			letter, inWord = lowerLetter(text[i])
		}
		if inWord {
			hash, begun = (hash^uint64(letter))*fnvPrime, true
			continue
		}
		if begun {
			countWord(&counts, hash)
		}
		hash, begun = fnvOffset, false
	}
	for i, n := range counts {
		if n > 0 {
			s[i/8] |= 1 << (i % 8)
		}
	}
	return s
}

// The constants of FNV-1a.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// lowerLetter is a byte of a word in small letters, and whether it is one.
func lowerLetter(c byte) (byte, bool) {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c, c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= utf8.RuneSelf
}

// countWord adds a word: splitmix64 draws 256 bits from its hash.
func countWord(counts *[256]int32, hash uint64) {
	for limb := range 4 {
		hash += 0x9e3779b97f4a7c15
		mixed := (hash ^ hash>>30) * 0xbf58476d1ce4e5b9
		mixed = (mixed ^ mixed>>27) * 0x94d049bb133111eb
		mixed ^= mixed >> 31
		for bit := range 64 {
			counts[64*limb+bit] += int32(mixed>>bit&1)*2 - 1
		}
	}
}

// agreeingMembers returns the members whose results agree: the largest group around one of
// them, on a tie the group around the lowest lot. They are sorted by lot, so that the
// first is the winner. around is the member whose group it is.
//
// Spec: decision J5.
func (j *Job) agreeingMembers() (best []*Member, around *Member) {
	revealed := j.revealedMembers()
	for _, one := range revealed {
		var group []*Member
		for _, other := range revealed {
			if j.Terms.doAgree(&one.Claim, &other.Claim) {
				group = append(group, other)
			}
		}
		if len(group) > len(best) {
			best, around = group, one
		}
	}
	return best, around
}

// revealedMembers are the members whose result came, sorted by their lots of the last draw.
func (j *Job) revealedMembers() (members []*Member) {
	for i := range j.Committee {
		if j.Committee[i].RevealedAt > 0 {
			members = append(members, &j.Committee[i])
		}
	}
	draw := j.drawSeed()
	slices.SortFunc(members, func(a, b *Member) int {
		x, y := selection.Lot(draw, a.Runner), selection.Lot(draw, b.Runner)
		return bytes.Compare(x[:], y[:])
	})
	return members
}
