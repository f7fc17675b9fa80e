package main

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// The chain knows bytes alone. What they may stand for is guessed here, the same for
// every command: JSON, text, an integer, else hexadecimal.
type valueKind int

const (
	emptyValue valueKind = iota
	jsonValue            // an object or a list: a text that says so by itself
	textValue
	intValue // no text, and so short that it may be the SDK's set_int
	hexValue
)

// maxIntValue is how many bytes that are no text may be a number: longer ones are
// ids, addresses and CBOR.
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

// value is a byte string as people read it, where it stands alone: its text as it
// is, and nothing of nothing.
func value(b types.Bytes) string {
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

// quotedValue is the same within a line: text in quotes, so that "7" is no number,
// and of what is long so many characters.
func quotedValue(b types.Bytes, most int) string {
	switch kindOf(b) {
	case emptyValue:
		return `""`
	case textValue:
		return clipped(strconv.Quote(string(b)), most)
	case hexValue:
		if most < len(b.String()) {
			return shortBytes(b)
		}
	}
	return clipped(value(b), most)
}

// clipped is at most so many characters of a line.
func clipped(s string, most int) string {
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
