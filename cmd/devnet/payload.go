package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// maxPayloadBytes bounds the bytes read from a file or from standard input: no block
// holds more.
const maxPayloadBytes = 8 << 20

// payloadHelp says how payloads are given.
const payloadHelp = "PAYLOAD is 0x-hex, or text; @FILE reads a file, - standard input, and @@ begins a text with @."

// fileHint is said where a payload names a file that cannot be read.
const fileHint = "@FILE names a file; a text that begins with @ has another before it: @@. " +
	"With --resolve, a payload that is only @NAME becomes its address."

// payloadOf is a payload as a person gave it, as the HTTP API takes it. Errors call it
// what, as that person does.
func payloadOf(c *cli.Context, what, text string) (string, error) {
	switch {
	case text == "-":
		return payloadFrom(what, "standard input", c.App.Reader)
	case strings.HasPrefix(text, "@@"):
		return text[1:], nil
	case strings.HasPrefix(text, "@"):
		file, err := os.Open(text[1:])
		if err != nil {
			return "", newUsageError(fileHint, "%s: %v", what, err)
		}
		defer file.Close()
		return payloadFrom(what, text[1:], file)
	}
	return text, nil
}

var resolveFlag = &cli.BoolFlag{Name: "resolve", Usage: "replace @alice or @NAME of an actor in the payload by its address"}

// aName is a name within a payload, not preceded by a part of a word.
var aName = pattern.CompileOnNeed(`(^|[^\w@.])@([A-Za-z_][\w-]*)`)

// aloneName is a payload that is a name and nothing else.
var aloneName = pattern.CompileOnNeed(`^@[A-Za-z_][\w-]*$`)

// resolveNames returns a payload with addresses instead of names, if that was
// requested: as text, even if the name is the whole text.
func resolveNames(c *cli.Context, text string) (string, error) {
	payload, err := text, error(nil)
	if named := c.Bool("resolve") && aloneName().MatchString(text); !named { // with --resolve, @club is an actor and no file
		payload, err = payloadOf(c, "the payload", text)
	}
	if err != nil || !c.Bool("resolve") {
		return payload, err
	}
	var held types.Bytes
	if held.UnmarshalText([]byte(payload)) == nil && utf8.Valid(held) {
		payload = string(held) // of a file or standard input
	}
	n, known := networkClient(c), map[string]string{}
	for _, found := range aName().FindAllStringSubmatch(payload, -1) {
		if _, asked := known[found[2]]; asked {
			continue
		}
		account, err := n.Account(c.Context, found[2])
		if err != nil {
			return "", err
		}
		known[found[2]] = account.Address.String()
	}
	if len(known) == 0 {
		return "", newUsageError("Write @alice, or @ and an actor's name, for an address. A plain @alice is written @@alice.",
			"--resolve: there is no name in the payload")
	}
	text = aName().ReplaceAllStringFunc(payload, func(match string) string {
		at := strings.IndexByte(match, '@')
		return match[:at] + known[match[at+1:]]
	})
	return types.Bytes(text).String(), nil
}

// payloadFrom reads bytes, each as it is.
func payloadFrom(what, name string, r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPayloadBytes+1))
	if err != nil {
		return "", newUsageError(fileHint, "%s: %v", what, err)
	}
	if len(data) > maxPayloadBytes {
		return "", newUsageError("", "%s: %s holds more than %s bytes", what, name, groupDigits(maxPayloadBytes))
	}
	if len(data) == 0 {
		return "", nil
	}
	return fmt.Sprint(types.Bytes(data)), nil
}
