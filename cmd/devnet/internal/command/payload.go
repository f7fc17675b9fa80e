package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// maxPayloadBytes bounds the bytes read from a file or from standard input: no block
// holds more.
const maxPayloadBytes = 8 << 20

// PayloadHelp says how payloads are given.
const PayloadHelp = "PAYLOAD is 0x-hex, or text; @FILE reads a file, - standard input, and @@ begins a text with @."

// fileHint is said where a payload names a file that cannot be read.
const fileHint = "@FILE names a file; a text that begins with @ has another before it: @@. " +
	"With --resolve, a payload that is only @NAME becomes its address."

// PayloadOf is a payload as a person gave it, as the HTTP API takes it. Errors call it
// what, as that person does.
func PayloadOf(c *cli.Context, what, text string) (string, error) {
	switch {
	case text == "-":
		return payloadFrom(what, "standard input", c.App.Reader)
	case strings.HasPrefix(text, "@@"):
		return text[1:], nil
	case strings.HasPrefix(text, "@"):
		file, err := os.Open(text[1:])
		if err != nil {
			return "", failure.NewUsage(fileHint, "%s: %v", what, err)
		}
		defer file.Close()
		return payloadFrom(what, text[1:], file)
	}
	return text, nil
}

// ResolveFlag has ResolveNames read a payload.
var ResolveFlag = &cli.BoolFlag{Name: "resolve", Usage: "replace @alice or @NAME of an actor in the payload by its address"}

// aName is a name within a payload, not preceded by a part of a word.
var aName = pattern.CompileOnNeed(`(^|[^\w@.])@([A-Za-z_][\w-]*)`)

// aloneName is a payload that is a name and nothing else.
var aloneName = pattern.CompileOnNeed(`^@[A-Za-z_][\w-]*$`)

// ResolveNames returns a payload with addresses instead of names, if that was
// requested: as text, even if the name is the whole text.
func ResolveNames(c *cli.Context, text string) (string, error) {
	payload, err := text, error(nil)
	if named := c.Bool("resolve") && aloneName().MatchString(text); !named { // with --resolve, @club is an actor and no file
		payload, err = PayloadOf(c, "the payload", text)
	}
	if err != nil || !c.Bool("resolve") {
		return payload, err
	}
	var held types.Bytes
	if held.UnmarshalText([]byte(payload)) == nil && utf8.Valid(held) {
		payload = string(held) // of a file or standard input
	}
	n, known := NewClient(c), map[string]string{}
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
		return "", failure.NewUsage("Write @alice, or @ and an actor's name, for an address. A plain @alice is written @@alice.",
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
		return "", failure.NewUsage(fileHint, "%s: %v", what, err)
	}
	if len(data) > maxPayloadBytes {
		return "", failure.NewUsage("", "%s: %s holds more than %s bytes", what, name, words.Grouped(maxPayloadBytes))
	}
	if len(data) == 0 {
		return "", nil
	}
	return fmt.Sprint(types.Bytes(data)), nil
}
