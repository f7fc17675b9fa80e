// Package words is how values, amounts and traces read to people: the same in every
// command, at the end of a test that failed, and over HTTP where text is asked for.
package words

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// maxShownEvent bounds the bytes of an event that are read as a map, as a line
// of a terminal holds no more.
const maxShownEvent = 1 << 10

// The chain knows only bytes. Their possible meaning is guessed here, the same for
// every command: JSON, text, an integer, otherwise hexadecimal.
type valueKind int

const (
	emptyValue valueKind = iota
	jsonValue            // an object or a list: a text that shows its form
	textValue
	intValue // no text, and so short that it may be the SDK's set_int
	hexValue
)

// maxIntValue is the maximum length of other bytes than text that may be a number:
// longer ones are ids, addresses and CBOR.
const maxIntValue = 8

func kindOf(b []byte) valueKind {
	text := model.Text(b)
	switch {
	case len(b) == 0:
		return emptyValue
	case text != "" && bytes.ContainsAny(b[:1], "{[") && json.Valid(b):
		return jsonValue
	case text != "":
		return textValue
	case len(b) <= maxIntValue:
		return intValue
	}
	return hexValue
}

// Value returns a byte string for people, on its own: its text unchanged, and ""
// for no bytes.
func Value(b types.Bytes) string {
	switch kindOf(b) {
	case emptyValue:
		return ""
	case jsonValue, textValue:
		return string(b)
	case intValue:
		return model.Int(b) + " (" + b.String() + ")"
	}
	return b.String()
}

// Quoted is the same within a line: text in quotes, so that "7" is not read as a
// number, cut to most characters.
func Quoted(b types.Bytes, most int) string {
	switch kindOf(b) {
	case emptyValue:
		return `""`
	case textValue:
		return Clipped(strconv.Quote(string(b)), most)
	case hexValue:
		if most < len(b.String()) {
			return ShortBytes(b)
		}
	}
	return Clipped(Value(b), most)
}

// Clipped returns at most most characters of a line.
func Clipped(s string, most int) string {
	runes := []rune(s)
	for i, r := range runes {
		if r == '\n' || r == '\t' {
			runes[i] = ' '
		}
	}
	if len(runes) <= max(most, 1) {
		return string(runes)
	}
	return string(runes[:max(most, 1)-1]) + "…"
}

// Printable takes out what would steer a terminal: names and lines are an
// actor's to choose.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return '\uFFFD'
	}, s)
}

// CBY writes an amount in wei as CBY, exactly.
func CBY(w types.Wei) string {
	digits := fmt.Sprintf("%010s", w.String())
	whole, part := digits[:len(digits)-9], strings.TrimRight(digits[len(digits)-9:], "0")
	if part != "" {
		whole += "." + part
	}
	return whole + " CBY"
}

// ShortHex is the length of a hash or an address in tables: that much of its
// beginning distinguishes those of a devnet, and is accepted wherever the whole is.
const ShortHex = len("0x") + 8

// Short shortens a hash or an address for tables.
func Short(hex string) string { return hex[:min(len(hex), ShortHex)] }

// maxShownBytes is the number of bytes that a table prints of a value.
const maxShownBytes = 12

// ShortBytes is the beginning of a value, in hexadecimal, and its length.
func ShortBytes(b types.Bytes) string {
	if len(b) <= maxShownBytes {
		return b.String()
	}
	return fmt.Sprintf("%s… %d bytes", b[:maxShownBytes], len(b))
}

// EventData returns the content of an event: text, the entries of a map for the
// chain's own events, or 0x-hex.
func EventData(data types.Bytes) string {
	text, isMap := entriesOf(data, types.Bytes.String, func(b types.Bytes) string { return Short(b.String()) })
	switch {
	case text != "":
		return text
	case isMap:
		return data.String()
	}
	return Value(data)
}

// EventLine is the same for a line of a list, where ids are as short as they may be
// given, and addresses are called by name.
func EventLine(data types.Bytes, name func(types.Address) string) string {
	short := func(b types.Bytes) string {
		switch len(b) {
		case len(types.Address{}):
			return name(types.Address(b))
		case len(types.Hash{}):
			return Short(b.String())
		}
		return ShortBytes(b)
	}
	text, isMap := entriesOf(data, short, short)
	switch {
	case text != "":
		return text
	case isMap || kindOf(data) == hexValue:
		return ShortBytes(data)
	}
	return Value(data)
}

// entriesOf returns the entries of a map, each with its name; "" if all are empty, or one
// is unknown. bytes writes an entry's, and listed those in a list.
func entriesOf(data types.Bytes, bytes, listed func(types.Bytes) string) (text string, isMap bool) {
	var entries map[string]any
	if model.Text(data) != "" || codec.UnmarshalLoose(data, maxShownEvent, &entries) != nil {
		return "", false
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		text, known := entryText(entries[name], bytes, listed)
		if !known {
			return "", true
		}
		if text != "" {
			parts = append(parts, Printable(name)+" "+Printable(text))
		}
	}
	return strings.Join(parts, ", "), true
}

// entryText returns an entry of an event for people; "" if it is absent. No event of
// the chain's holds more than is known here.
func entryText(entry any, bytes, listed func(types.Bytes) string) (text string, known bool) {
	switch v := entry.(type) {
	case nil:
		return "", true
	case []byte:
		return bytes(v), true
	case string, bool, uint64, int64:
		return fmt.Sprint(v), true
	case big.Int: // an amount from 2^64 on
		return v.String(), true
	case []any: // addresses, like those of a committee
		var list []string
		for _, one := range v {
			held, ok := one.([]byte)
			if !ok {
				return "", false
			}
			list = append(list, listed(held))
		}
		return strings.Join(list, " "), true
	}
	return "", false
}

// Grouped is a number with its thousands apart.
func Grouped(n uint64) string { return groupDigits(strconv.FormatUint(n, 10)) }

// GroupedWei is an amount in wei with its thousands apart.
func GroupedWei(w types.Wei) string { return groupDigits(w.String()) }

func groupDigits(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// InLines breaks a text into lines at its spaces.
func InLines(text string, width int) (lines []string) {
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			for len([]rune(word)) > width {
				lines, word = append(lines, line+string([]rune(word)[:width-len([]rune(line))])), string([]rune(word)[width-len([]rune(line)):])
				line = ""
			}
			if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimLeft(line+" "+word, " ")
		}
		lines = append(lines, line)
	}
	return lines
}
