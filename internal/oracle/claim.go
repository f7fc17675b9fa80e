package oracle

import (
	"hash/fnv"
	"math/big"
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// claim is the part of a result that is compared with others under one of the six
// modes (CIP-2, decisions J5, J19): texts that must be equal, numbers that must be
// close and, for SemanticSimilarity, words.
type claim struct {
	wrong   string // why it agrees with none; "" if it may
	equal   string
	numbers []*big.Rat
	shares  []uint64 // the share of each number, in permille
	sketch  [4]uint64
	sounds  bool // the claim is held by its sketch
}

// maxApart is in how many of the 256 bits of their sketches texts may differ: a
// quarter.
const maxApart = 64

func (c *claim) isValid() bool { return c.wrong == "" }

// Why a result does not count, in the chain's words (decision J19).
const (
	wrongJSON    = "not JSON (RFC 8259), has a name twice or above 32 levels"
	wrongText    = "not UTF-8"
	wrongMissing = "without a number or member that its checks read"
	wrongNumber  = "with a number above 256 bits where its checks read"
	wrongCheck   = "outside a schema or range"
)

func (c *claim) agreesWith(other *claim) bool {
	if !c.isValid() || !other.isValid() || c.equal != other.equal || len(c.numbers) != len(other.numbers) {
		return false
	}
	for i := range c.numbers {
		if !differByAtMost(c.numbers[i], other.numbers[i], c.shares[i]) {
			return false
		}
	}
	apart := 0
	for i := range c.sketch {
		apart += bits.OnesCount64(c.sketch[i] ^ other.sketch[i])
	}
	return !c.sounds || apart <= maxApart
}

// differByAtMost reports whether numbers differ by at most a share of the greater of them.
func differByAtMost(a, b *big.Rat, share uint64) bool {
	x, y := new(big.Rat).Abs(a), new(big.Rat).Abs(b)
	if x.Cmp(y) < 0 {
		x = y
	}
	apart := new(big.Rat).Sub(a, b)
	apart.Abs(apart)
	allowed := new(big.Rat).SetFrac(new(big.Int).SetUint64(share), big.NewInt(permille))
	return apart.Cmp(allowed.Mul(allowed, x)) <= 0
}

// claimOf makes the claim of a result.
func claimOf(s *spec, result []byte) claim {
	tree, isJSON := readJSON(string(result))
	switch s.ResultSchema.DataFormat {
	case "json":
		if !isJSON {
			return claim{wrong: wrongJSON}
		}
	case "text":
		if !utf8.Valid(result) {
			return claim{wrong: wrongText}
		}
	}
	v := &s.Verification
	switch {
	case v.Mode == "MajorityVote" && v.Field != nil:
		at, found := valueAtPointer(tree, *v.Field)
		switch {
		case !isJSON:
			return claim{wrong: wrongJSON}
		case !found:
			return claim{wrong: wrongMissing}
		case hasLong(at):
			return claim{wrong: wrongNumber}
		}
		return claim{equal: formOf(at)}
	case v.Mode == "StructuredMatch":
		if !isJSON {
			return claim{wrong: wrongJSON}
		}
		return matchChecks(v.Checks, tree)
	case v.Mode == "SemanticSimilarity":
		if !utf8.Valid(result) {
			return claim{wrong: wrongText}
		}
		return claim{sounds: true, sketch: simhashOf(string(result))}
	}
	return claim{equal: string(result)}
}

// matchChecks judges a result's checks, and gathers what it must share with others. The first
// check that fails says why.
func matchChecks(checks []map[string]codec.RawMessage, tree any) claim {
	c := claim{}
	for _, check := range checks {
		for name, raw := range check { // order: there is one
			if c.wrong == "" {
				c.wrong = c.runCheck(name, raw, tree)
			}
		}
	}
	return c
}

func (c *claim) runCheck(name string, raw codec.RawMessage, tree any) (wrong string) {
	var in struct {
		Pointer  string `cbor:"pointer"`
		Permille uint64 `cbor:"permille"`
		Min      uint64 `cbor:"min"`
		Max      uint64 `cbor:"max"`
	}
	switch name {
	case "Schema":
		var text string
		if codec.Unmarshal(raw, types.MaxTransactionBytes, &text) != nil {
			return wrongCheck
		}
		if schema, ok := readJSON(text); !ok || !fitsSchema(schema, tree) {
			return wrongCheck
		}
		return ""
	case "Equal":
		var pointers []string
		if codec.Unmarshal(raw, types.MaxTransactionBytes, &pointers) != nil {
			return wrongCheck
		}
		for _, pointer := range pointers {
			at, found := valueAtPointer(tree, pointer)
			if !found {
				return wrongMissing
			}
			if hasLong(at) {
				return wrongNumber
			}
			c.equal += formOf(at) + ";"
		}
		return ""
	}
	if codec.UnmarshalPartial(raw, types.MaxTransactionBytes, &in) != nil {
		return wrongCheck
	}
	at, _ := valueAtPointer(tree, in.Pointer)
	if _, isLong := at.(long); isLong {
		return wrongNumber
	}
	n, isNumber := at.(*big.Rat)
	if !isNumber {
		return wrongMissing
	}
	if name == "Tolerance" {
		c.numbers, c.shares = append(c.numbers, n), append(c.shares, in.Permille)
		return ""
	}
	least, most := new(big.Int).SetUint64(in.Min), new(big.Int).SetUint64(in.Max)
	if n.Cmp(new(big.Rat).SetInt(least)) < 0 || n.Cmp(new(big.Rat).SetInt(most)) > 0 {
		return wrongCheck
	}
	return ""
}

// simhashOf is the simhash of a text's words: a bit is set where more of its words
// have it in their 256 bits than have not.
func simhashOf(text string) (sketch [4]uint64) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r < utf8.RuneSelf && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
	var votes [256]int
	for _, word := range words {
		small := []byte(word)
		for i, c := range small {
			if 'A' <= c && c <= 'Z' {
				small[i] += 'a' - 'A'
			}
		}
		h := fnv.New64a()
		h.Write(small)
		state := h.Sum64()
		for i := range votes {
			if i%64 == 0 {
				state += 0x9e3779b97f4a7c15
			}
			if splitmix64(state)>>(i%64)&1 == 1 {
				votes[i]++
			} else {
				votes[i]--
			}
		}
	}
	for i, n := range votes {
		if n > 0 {
			sketch[i/64] |= 1 << (i % 64)
		}
	}
	return sketch
}

// splitmix64 is the finalizer of splitmix64.
func splitmix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
