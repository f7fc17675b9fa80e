package system

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/jsontext"
	"github.com/cowboyinc/devnet/internal/base/memo"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Results and schemas are JSON by RFC 8259, read here without floats: a number is
// exact or none. All validators must read one text in one way to compare results,
// so duplicate names and lone surrogates are refused.

// jsonKind is the kind of a value.
type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

// jsonValue is a value of a JSON text.
type jsonValue struct {
	kind   jsonKind
	truth  bool
	number jsonDecimal
	text   string
	items  []jsonValue
	names  []string // of an object, sorted; items are its values in that order
}

// exceedsLimits reports whether a value is or has a number beyond the limits.
func (v *jsonValue) exceedsLimits() bool {
	return v.kind == jsonNumber && v.number.mantissa == nil ||
		slices.ContainsFunc(v.items, func(one jsonValue) bool { return one.exceedsLimits() })
}

// jsonDecimal is mantissa × 10^exponent, the mantissa without trailing zeros, so
// that equal numbers are equal here.
type jsonDecimal struct {
	mantissa *big.Int // nil: the number is beyond the limits, and equals none
	exponent int
}

// Limits of a JSON text. The digits of a number that is read have at most 256 bits.
// Numbers are compared at a common exponent, so that an exponent is limited too.
const (
	maxJSONDepth  = 32
	maxJSONDigits = 78 // 2^256 - 1 has as many
)

var (
	errJSON   = errors.New("invalid JSON (RFC 8259), a repeated name or more than 32 levels")
	errNumber = errors.New("a number above 256 bits, or with an exponent above 78")
)

// parseJSON reads a whole JSON text. Its error is its author's fault.
func parseJSON(data []byte) (jsonValue, error) {
	v, err := jsontext.Parse(data, maxJSONDepth+1, jsontext.RefuseHalves)
	if err != nil {
		return jsonValue{}, errJSON
	}
	return convertJSON(&v, 0)
}

// jsonKinds are the kinds of values as they are compared.
var jsonKinds = [...]jsonKind{jsontext.Null: jsonNull, jsontext.Bool: jsonBool, jsontext.Number: jsonNumber, jsontext.Text: jsonString,
	jsontext.List: jsonArray, jsontext.Object: jsonObject}

// convertJSON makes a value that can be compared. The innermost of maxJSONDepth + 1 lists and objects has to be empty.
func convertJSON(from *jsontext.Value, depth int) (jsonValue, error) {
	if depth > maxJSONDepth {
		return jsonValue{}, errJSON
	}
	v := jsonValue{kind: jsonKinds[from.Kind], names: from.Names}
	switch from.Kind {
	case jsontext.Bool:
		v.truth = from.Text == "true"
	case jsontext.Number:
		v.number = parseDecimal(from.Text)
	case jsontext.Text:
		v.text = from.Text
	case jsontext.List, jsontext.Object:
		for i := range from.Items {
			item, err := convertJSON(&from.Items[i], depth+1)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
		return v.sortMembers()
	}
	return v, nil
}

// sortMembers brings an object's members into the order of their names. An array keeps its own.
func (v jsonValue) sortMembers() (jsonValue, error) {
	if v.kind == jsonArray {
		return v, nil
	}
	order := make([]int, len(v.names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(v.names[a], v.names[b]) })
	sorted := jsonValue{kind: jsonObject, names: make([]string, len(order)), items: make([]jsonValue, len(order))}
	for i, from := range order {
		sorted.names[i], sorted.items[i] = v.names[from], v.items[from]
		if i > 0 && sorted.names[i-1] == sorted.names[i] {
			return v, errJSON
		}
	}
	return sorted, nil
}

// parseDecimal reads a number of JSON. Beyond the limits it has no mantissa.
func parseDecimal(text string) (d jsonDecimal) {
	text, negative := strings.CutPrefix(text, "-")
	text, power, _ := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, _ := strings.Cut(text, ".")
	exponent := int64(0)
	if power != "" {
		var err error
		if exponent, err = strconv.ParseInt(power, 10, 16); err != nil || max(exponent, -exponent) > maxJSONDigits {
			return d
		}
	}
	if len(whole)+len(fraction) > 2*maxJSONDigits {
		return d
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	kept := strings.TrimRight(digits, "0")
	if kept == "" {
		return jsonDecimal{mantissa: new(big.Int)}
	}
	mantissa, _ := new(big.Int).SetString(kept, 10)
	if _, fits := types.WeiFromBig(mantissa); !fits {
		return d
	}
	if negative {
		mantissa.Neg(mantissa)
	}
	return jsonDecimal{mantissa, int(exponent) - len(fraction) + len(digits) - len(kept)}
}

// scaleTo is the number as a multiple of 10^exponent, which is at most its own. It
// must not be changed.
func (d jsonDecimal) scaleTo(exponent int) *big.Int {
	if d.exponent == exponent {
		return d.mantissa
	}
	return new(big.Int).Mul(powersOfTen()[d.exponent-exponent], d.mantissa)
}

// powersOfTen are those between any two exponents that numbers have.
var powersOfTen = memo.OnNeed(func() *[2*numberShift + 1]*big.Int {
	powers := new([2*numberShift + 1]*big.Int)
	powers[0] = big.NewInt(1)
	for i := range powers[1:] {
		powers[i+1] = new(big.Int).Mul(powers[i], big.NewInt(10))
	}
	return powers
})

// commonExponent brings two numbers to one exponent. Neither must be changed.
func (d jsonDecimal) commonExponent(other jsonDecimal) (a, b *big.Int) {
	exponent := min(d.exponent, other.exponent)
	return d.scaleTo(exponent), other.scaleTo(exponent)
}

func (d jsonDecimal) compareTo(other jsonDecimal) int {
	a, b := d.commonExponent(other)
	return a.Cmp(b)
}

func decimalOf(n uint64) jsonDecimal { return jsonDecimal{mantissa: new(big.Int).SetUint64(n)} }

// appendForm appends bytes that are equal exactly for equal values.
func (v *jsonValue) appendForm(dst []byte) []byte {
	dst = append(dst, byte(v.kind))
	switch v.kind {
	case jsonBool:
		return strconv.AppendBool(dst, v.truth)
	case jsonNumber:
		if v.number.mantissa == nil {
			return append(dst, '?')
		}
		dst = append(v.number.mantissa.Append(dst, 10), 'e')
		return append(strconv.AppendInt(dst, int64(v.number.exponent), 10), ';')
	case jsonString:
		return append(strconv.AppendInt(dst, int64(len(v.text)), 10), ":"+v.text...)
	case jsonArray, jsonObject:
		dst = append(strconv.AppendInt(dst, int64(len(v.items)), 10), ':')
		for i := range v.items {
			if v.kind == jsonObject {
				dst = append(strconv.AppendInt(dst, int64(len(v.names[i])), 10), ":"+v.names[i]...)
			}
			dst = v.items[i].appendForm(dst)
		}
	}
	return dst
}

func (v *jsonValue) hashOf() types.Hash { return types.Keccak(v.appendForm(nil)) }

// valueAtPointer returns the value that a JSON pointer (RFC 6901) leads to, or nil.
func (v *jsonValue) valueAtPointer(pointer string) *jsonValue {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v.kind {
		case jsonObject:
			i, found := slices.BinarySearch(v.names, token)
			if !found {
				return nil
			}
			v = &v.items[i]
		case jsonArray:
			i, err := strconv.ParseUint(token, 10, 32)
			if err != nil || i >= uint64(len(v.items)) || len(token) > 1 && token[0] == '0' {
				return nil
			}
			v = &v.items[i]
		default:
			return nil
		}
	}
	return v
}

// memberByName returns an object's value under a name, or nil.
func (v *jsonValue) memberByName(name string) *jsonValue {
	if v.kind != jsonObject {
		return nil
	}
	if i, found := slices.BinarySearch(v.names, name); found {
		return &v.items[i]
	}
	return nil
}
