package outbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"strings"
	"unicode"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

const (
	// readWords bounds the body in which words of a refusal are looked for, in bytes.
	readWords = 16 << 10
	// maxWords bounds words of another party in a failure, in bytes.
	maxWords = 200
)

// Words returns what a refusal says: the message of the usual shapes of an error in JSON, the
// title of a page or the message of a document in XML, as proxies and stores answer. Otherwise it
// is the first line that is not empty. It is one line of at most 200 bytes, "" if the body has none.
func Words(body []byte) string {
	body = body[:min(len(body), readWords)]
	if said := errorMessage(body); said != "" {
		return cleanText(said)
	}
	text := strings.TrimSpace(string(body))
	if said := markupWords(text); said != "" {
		return cleanText(said)
	}
	line, _, _ := strings.Cut(text, "\n")
	return cleanText(line)
}

// markupPattern matches the title of a page in HTML, and the message of an error in XML.
var markupPattern = pattern.CompileOnNeed(`(?is)<(?:title|message)(?:\s[^>]*)?>(.*?)</(?:title|message)>`)

// markupWords returns the words for people in a page or document, "" if it has none or is neither.
func markupWords(text string) string {
	found := markupPattern().FindStringSubmatch(text)
	if !strings.HasPrefix(text, "<") || found == nil {
		return ""
	}
	return html.UnescapeString(found[1])
}

// errorMessage returns error.message, or error, message or detail, of an object whose member is a text.
func errorMessage(body []byte) string {
	var said struct {
		Error, Message, Detail json.RawMessage
	}
	if json.Unmarshal(body, &said) != nil {
		return ""
	}
	var inner struct{ Message string }
	if json.Unmarshal(said.Error, &inner) == nil && inner.Message != "" {
		return inner.Message
	}
	for _, member := range []json.RawMessage{said.Error, said.Message, said.Detail} {
		var text string
		if json.Unmarshal(member, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// cleanText makes a text one short line without control characters.
func cleanText(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxWords {
		return text
	}
	return strings.ToValidUTF8(text[:maxWords], "") + "…"
}

// Say returns a failure with what the other party said of it, if it said anything.
func Say(failure string, body []byte) string {
	if words := Words(body); words != "" {
		return failure + ": " + words
	}
	return failure
}

// Refused returns the failure of a status that is no success, with the words of the answer. A
// status that answers this request for good is a *execution.Refusal: the same request has the same
// answer, and the job chose it. 408, 425 and 429 are about the time, and 5xx about the server. 401,
// 403 and 407 are about the right to ask, which with a key is the runner's own.
func Refused(who string, status int, body []byte, key bool) error {
	failure := Say(fmt.Sprintf("%s answered with the status %d", who, status), body)
	switch {
	case status > 499:
	case key && (status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusProxyAuthRequired):
	case status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests:
	default:
		return execution.Refuse(push.Unsupported, "%s", failure)
	}
	return errors.New(failure)
}

// WithoutMark returns a text without the byte order mark that JSON may begin with (RFC 8259, 8.1).
func WithoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) }
