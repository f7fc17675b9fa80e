package system

import (
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

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

// jsonDecimal is mantissa × 10^exponent, the mantissa without trailing zeros, so
// that equal numbers are equal here.
type jsonDecimal struct {
	mantissa *big.Int
	exponent int
}

// Limits of a JSON text. A number has at most this many digits, and an exponent of
// at most that many as well: numbers are compared at a common exponent.
const (
	maxJSONDepth  = 32
	maxJSONDigits = 64
)

var errJSON = errors.New("invalid JSON (RFC 8259), a repeated name, a number above 64 digits or more than 32 levels")

// parseJSON reads a whole JSON text. Its error is its author's fault.
func parseJSON(data []byte) (jsonValue, error) {
	if !utf8.Valid(data) {
		return jsonValue{}, errJSON
	}
	p := jsonParser{rest: string(data)}
	v, err := p.value(0)
	p.space()
	if err != nil || p.rest != "" {
		return jsonValue{}, errJSON
	}
	return v, nil
}

type jsonParser struct{ rest string }

func (p *jsonParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take cuts a word off if it is next.
func (p *jsonParser) take(word string) bool {
	rest, found := strings.CutPrefix(p.rest, word)
	if found {
		p.rest = rest
	}
	return found
}

func (p *jsonParser) value(depth int) (jsonValue, error) {
	p.space()
	switch {
	case depth > maxJSONDepth || p.rest == "":
		return jsonValue{}, errJSON
	case p.take("null"):
		return jsonValue{kind: jsonNull}, nil
	case p.take("true"):
		return jsonValue{kind: jsonBool, truth: true}, nil
	case p.take("false"):
		return jsonValue{kind: jsonBool}, nil
	case p.take(`"`):
		text, err := p.text()
		return jsonValue{kind: jsonString, text: text}, err
	case p.take("["):
		return p.array(depth)
	case p.take("{"):
		return p.object(depth)
	}
	return p.number()
}

func (p *jsonParser) array(depth int) (jsonValue, error) {
	v := jsonValue{kind: jsonArray}
	if p.space(); p.take("]") {
		return v, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
		if p.space(); p.take("]") {
			return v, nil
		}
		if !p.take(",") {
			return v, errJSON
		}
	}
}

func (p *jsonParser) object(depth int) (jsonValue, error) {
	v := jsonValue{kind: jsonObject}
	if p.space(); p.take("}") {
		return v, nil
	}
	for {
		if p.space(); !p.take(`"`) {
			return v, errJSON
		}
		name, err := p.text()
		if err != nil {
			return v, err
		}
		if p.space(); !p.take(":") {
			return v, errJSON
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.names, v.items = append(v.names, name), append(v.items, item)
		if p.space(); p.take("}") {
			return v.sorted()
		}
		if !p.take(",") {
			return v, errJSON
		}
	}
}

// sorted brings an object's members into the order of their names.
func (v jsonValue) sorted() (jsonValue, error) {
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

var jsonEscapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// text reads a string after its first quote.
func (p *jsonParser) text() (string, error) {
	var out strings.Builder
	for {
		end := strings.IndexAny(p.rest, `"\`)
		if end < 0 || strings.IndexFunc(p.rest[:end], func(r rune) bool { return r < ' ' }) >= 0 {
			return "", errJSON
		}
		out.WriteString(p.rest[:end])
		mark := p.rest[end]
		if p.rest = p.rest[end+1:]; mark == '"' {
			return out.String(), nil
		}
		if p.rest == "" {
			return "", errJSON
		}
		escape := p.rest[0]
		p.rest = p.rest[1:]
		if plain, ok := jsonEscapes[escape]; ok {
			out.WriteByte(plain)
			continue
		}
		if escape != 'u' {
			return "", errJSON
		}
		r, err := p.escaped()
		if err != nil {
			return "", err
		}
		out.WriteRune(r)
	}
}

// escaped reads what follows \u, and the other half of a pair.
func (p *jsonParser) escaped() (rune, error) {
	unit := func() (rune, error) {
		if len(p.rest) < 4 {
			return 0, errJSON
		}
		n, err := strconv.ParseUint(p.rest[:4], 16, 16)
		p.rest = p.rest[4:]
		if err != nil {
			return 0, errJSON
		}
		return rune(n), nil
	}
	r, err := unit()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if !p.take(`\u`) {
		return 0, errJSON
	}
	low, err := unit()
	if r = utf16.DecodeRune(r, low); err != nil || r == utf8.RuneError {
		return 0, errJSON
	}
	return r, nil
}

func (p *jsonParser) digits() string {
	end := strings.IndexFunc(p.rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(p.rest)
	}
	digits := p.rest[:end]
	p.rest = p.rest[end:]
	return digits
}

func (p *jsonParser) number() (jsonValue, error) {
	negative := p.take("-")
	whole := p.digits()
	fraction, exponent := "", 0
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return jsonValue{}, errJSON
	}
	if p.take(".") {
		if fraction = p.digits(); fraction == "" {
			return jsonValue{}, errJSON
		}
	}
	if p.take("e") || p.take("E") {
		below := p.take("-")
		if !below {
			p.take("+")
		}
		n, err := strconv.ParseUint(p.digits(), 10, 16)
		if err != nil || n > maxJSONDigits {
			return jsonValue{}, errJSON
		}
		if exponent = int(n); below {
			exponent = -exponent
		}
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	kept := strings.TrimRight(digits, "0")
	if len(whole)+len(fraction) > 2*maxJSONDigits || len(kept) > maxJSONDigits {
		return jsonValue{}, errJSON
	}
	if kept == "" {
		return jsonValue{kind: jsonNumber, number: jsonDecimal{mantissa: new(big.Int)}}, nil
	}
	mantissa, _ := new(big.Int).SetString(kept, 10)
	if negative {
		mantissa.Neg(mantissa)
	}
	return jsonValue{kind: jsonNumber, number: jsonDecimal{mantissa, exponent - len(fraction) + len(digits) - len(kept)}}, nil
}

// scaled is the number as a multiple of 10^exponent, which is at most its own. It
// must not be changed.
func (d jsonDecimal) scaled(exponent int) *big.Int {
	if d.exponent == exponent {
		return d.mantissa
	}
	return new(big.Int).Mul(powersOfTen[d.exponent-exponent], d.mantissa)
}

// powersOfTen are those between any two exponents that numbers have.
var powersOfTen = func() (powers [2*numberShift + 1]*big.Int) {
	powers[0] = big.NewInt(1)
	for i := range powers[1:] {
		powers[i+1] = new(big.Int).Mul(powers[i], big.NewInt(10))
	}
	return powers
}()

// common brings two numbers to one exponent. Neither must be changed.
func (d jsonDecimal) common(other jsonDecimal) (a, b *big.Int) {
	exponent := min(d.exponent, other.exponent)
	return d.scaled(exponent), other.scaled(exponent)
}

func (d jsonDecimal) cmp(other jsonDecimal) int {
	a, b := d.common(other)
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

func (v *jsonValue) hash() types.Hash { return types.Keccak(v.appendForm(nil)) }

// at returns the value that a JSON pointer (RFC 6901) leads to, or nil.
func (v *jsonValue) at(pointer string) *jsonValue {
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

// member returns an object's value under a name, or nil.
func (v *jsonValue) member(name string) *jsonValue {
	if v.kind != jsonObject {
		return nil
	}
	if i, found := slices.BinarySearch(v.names, name); found {
		return &v.items[i]
	}
	return nil
}
