package oracle

import (
	"encoding/json"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a JSON text that is compared with others (decision J19).
const (
	jsonDepth  = 32
	jsonDigits = 78 // of an exponent, and half of the digits with zeros
	jsonBits   = 256
)

// long is a number beyond the limits. It is a number, and equals none.
type long struct{}

// hasLong reports whether a value is or has such a number.
func hasLong(v any) bool {
	switch v := v.(type) {
	case long:
		return true
	case []any:
		return slices.ContainsFunc(v, hasLong)
	case object:
		for _, one := range v { // order: any
			if hasLong(one) {
				return true
			}
		}
	}
	return false
}

// object is a JSON object: names with their values, each name once.
type object map[string]any

// readJSON reads a text as null, bool, *big.Rat, string, []any or object. ok is
// false if it is not JSON, or ambiguous to readers: duplicate names, lone
// surrogates. Numbers beyond the limits are long.
func readJSON(text string) (tree any, ok bool) {
	if !utf8.ValidString(text) || !json.Valid([]byte(text)) || hasLoneSurrogate(text) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	tree, ok = readValue(d, 0)
	return tree, ok
}

func readValue(d *json.Decoder, depth int) (any, bool) {
	token, err := d.Token()
	if err != nil || depth > jsonDepth {
		return nil, false
	}
	switch t := token.(type) {
	case json.Number:
		return readNumber(t.String()), true
	case json.Delim:
		if t == '[' {
			return readList(d, depth)
		}
		return readObject(d, depth)
	}
	return token, true
}

func readList(d *json.Decoder, depth int) (any, bool) {
	list := []any{}
	for d.More() {
		one, ok := readValue(d, depth+1)
		if !ok {
			return nil, false
		}
		list = append(list, one)
	}
	_, err := d.Token()
	return list, err == nil
}

func readObject(d *json.Decoder, depth int) (any, bool) {
	o := object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		one, ok := readValue(d, depth+1)
		if _, twice := o[name.(string)]; !ok || twice {
			return nil, false
		}
		o[name.(string)] = one
	}
	_, err := d.Token()
	return o, err == nil || err == io.EOF
}

// readNumber reads a decimal exactly.
func readNumber(text string) any {
	mantissa, exponent, scaled := strings.Cut(strings.ReplaceAll(text, "E", "e"), "e")
	if scaled {
		if n, err := strconv.Atoi(exponent); err != nil || n > jsonDigits || n < -jsonDigits {
			return long{}
		}
	}
	written := strings.ReplaceAll(strings.TrimPrefix(mantissa, "-"), ".", "")
	if len(written) > 2*jsonDigits {
		return long{}
	}
	if digits, ok := new(big.Int).SetString("0"+strings.Trim(written, "0"), 10); !ok || digits.BitLen() > jsonBits {
		return long{}
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return long{}
	}
	return n
}

// hasLoneSurrogate reports whether a text has half of a surrogate pair among its escapes.
func hasLoneSurrogate(text string) bool {
	unit := func(at int) uint64 { // of the escape that begins there, or 0
		if at+6 > len(text) || text[at:at+2] != `\u` {
			return 0
		}
		n, _ := strconv.ParseUint(text[at+2:at+6], 16, 16)
		return n
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		switch first := unit(i); {
		case 0xd800 <= first && first < 0xdc00:
			if second := unit(i + 6); second < 0xdc00 || second > 0xdfff {
				return true
			}
			i += 6
		case 0xdc00 <= first && first <= 0xdfff:
			return true
		}
		i++
	}
	return false
}

// formOf writes a value so that equal ones are written alike.
func formOf(v any) string {
	switch v := v.(type) {
	case *big.Rat:
		return v.RatString()
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case long:
		return "?"
	case []any:
		text := "["
		for _, one := range v {
			text += formOf(one) + ","
		}
		return text + "]"
	case object:
		var names []string
		for name := range v { // order: sorted below
			names = append(names, name)
		}
		slices.Sort(names)
		text := "{"
		for _, name := range names {
			text += strconv.Quote(name) + ":" + formOf(v[name]) + ","
		}
		return text + "}"
	}
	return "null"
}

// valueAtPointer is the value that a JSON pointer (RFC 6901) leads to.
func valueAtPointer(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch in := v.(type) {
		case object:
			next, found := in[step]
			if !found {
				return nil, false
			}
			v = next
		case []any:
			n, err := strconv.ParseUint(step, 10, 32)
			if err != nil || n >= uint64(len(in)) || strconv.FormatUint(n, 10) != step {
				return nil, false
			}
			v = in[n]
		default:
			return nil, false
		}
	}
	return v, true
}

// fitsSchema judges a value by a schema, of which it knows the keywords that specs may
// have.
func fitsSchema(schema, v any) bool {
	s, _ := schema.(object)
	if types, limited := s["type"]; limited && !slices.ContainsFunc(asList(types), func(kind any) bool { return isA(v, kind) }) {
		return false
	}
	if allowed, limited := s["enum"].([]any); limited &&
		!slices.ContainsFunc(allowed, func(one any) bool { return formOf(one) == formOf(v) }) {
		return false
	}
	switch v := v.(type) {
	case *big.Rat:
		return isWithin(s, "minimum", "maximum", v)
	case long:
		return s["minimum"] == nil && s["maximum"] == nil
	case string:
		return isWithin(s, "minLength", "maxLength", new(big.Rat).SetInt64(int64(utf8.RuneCountInString(v))))
	case []any:
		items, limited := s["items"]
		return isWithin(s, "minItems", "maxItems", new(big.Rat).SetInt64(int64(len(v)))) &&
			!(limited && slices.ContainsFunc(v, func(one any) bool { return !fitsSchema(items, one) }))
	case object:
		return fitsObject(s, v)
	}
	return true
}

func fitsObject(s, v object) bool {
	for _, name := range asList(s["required"]) {
		if _, there := v[name.(string)]; !there {
			return false
		}
	}
	properties, _ := s["properties"].(object)
	for name, one := range v { // order: all are judged
		property, known := properties[name]
		if known && !fitsSchema(property, one) || !known && s["additionalProperties"] == false {
			return false
		}
	}
	return true
}

// asList is a list, or the list of one value; of nothing there is none.
func asList(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	if v == nil {
		return nil
	}
	return []any{v}
}

func isA(v, kind any) bool {
	is := "null"
	switch v := v.(type) {
	case bool:
		is = "boolean"
	case *big.Rat:
		if is = "number"; kind == "integer" {
			return v.IsInt()
		}
	case long:
		is = "number"
	case string:
		is = "string"
	case []any:
		is = "array"
	case object:
		is = "object"
	}
	return is == kind
}

func isWithin(s object, least, most string, n *big.Rat) bool {
	low, bounded := s[least].(*big.Rat)
	high, boundedAbove := s[most].(*big.Rat)
	return !(bounded && n.Cmp(low) < 0) && !(boundedAbove && n.Cmp(high) > 0)
}
