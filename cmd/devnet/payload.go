package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// maxPayloadBytes bounds what is read of a file or of standard input: no block holds
// more.
const maxPayloadBytes = 8 << 20

// payloadHelp says how payloads are given.
const payloadHelp = "PAYLOAD is 0x-hex, or text; @FILE is what a file holds, - what standard input does, and @@ a text\nthat begins with @."

// payloadOf is a payload as a person gave it, as the HTTP API takes it.
func payloadOf(c *cli.Context, text string) (string, error) {
	switch {
	case text == "-":
		return payloadFrom("standard input", c.App.Reader)
	case strings.HasPrefix(text, "@@"):
		return text[1:], nil
	case strings.HasPrefix(text, "@"):
		file, err := os.Open(text[1:])
		if err != nil {
			return "", usage("@FILE names a file; a text that begins with @ has another before it: @@.", "the payload: %v", err)
		}
		defer file.Close()
		return payloadFrom(text[1:], file)
	}
	return text, nil
}

// payloadFrom reads bytes, each as it is.
func payloadFrom(name string, r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPayloadBytes+1))
	if err != nil {
		return "", usage("", "the payload: %v", err)
	}
	if len(data) > maxPayloadBytes {
		return "", usage("", "the payload: %s holds more than %s bytes", name, grouped(maxPayloadBytes))
	}
	if len(data) == 0 {
		return "", nil
	}
	return fmt.Sprint(types.Bytes(data)), nil
}
