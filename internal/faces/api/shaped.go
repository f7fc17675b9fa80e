package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/pattern"
)

// shapedListener is a listener whose connections answer in the API's one shape even if
// net/http refuses a request before any handler sees it: a bad request line, a
// missing Host, too long headers, an invalid Content-Length.
type shapedListener struct{ net.Listener }

// Accept implements net.Listener.
func (l shapedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return shapedConn{c}, nil
}

type shapedConn struct{ net.Conn }

// Write implements net.Conn. It takes a refusal of net/http's own, which comes in
// one write, as written whole.
func (c shapedConn) Write(data []byte) (int, error) {
	if len(data) < maxOwnRefusal && bytes.HasPrefix(data, []byte("HTTP/1.1 ")) {
		if refusal := ownRefusal().FindSubmatch(data); refusal != nil {
			if _, err := c.Conn.Write(reshapeRefusal(refusal)); err != nil {
				return 0, err
			}
			return len(data), nil
		}
	}
	return c.Conn.Write(data)
}

// maxOwnRefusal bounds what net/http writes where it refuses a request itself, in
// bytes: two lines and three headers.
const maxOwnRefusal = 1024

// ownRefusal is such an answer. No handler's answer begins so: those have a date.
var ownRefusal = pattern.CompileOnNeed(`^HTTP/1\.1 ([45]\d\d) [^\r\n]*\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n(?s:(.*))$`)

// ownWords are the codes and remedies for net/http's refusals, by status.
var ownWords = map[int]struct{ code, hint string }{
	http.StatusRequestHeaderFieldsTooLarge: {"headers_too_large",
		fmt.Sprintf("The headers of a request have at most %d bytes.", MaxHeaderBytes)},
	http.StatusRequestTimeout:          {"too_slow", fmt.Sprintf("Headers have to arrive within %s.", HeaderTimeout)},
	http.StatusNotImplemented:          {"unsupported_encoding", "Send the body with its length, or in chunks."},
	http.StatusHTTPVersionNotSupported: {"unsupported_version", "Speak HTTP/1.1."},
}

func reshapeRefusal(refusal [][]byte) []byte {
	status, _ := strconv.Atoi(string(refusal[1]))
	words, known := ownWords[status]
	if !known {
		words.code, words.hint = "malformed_request", "A request has a method, a path, HTTP/1.1, one Host header, and the body that its "+
			"Content-Length says."
	}
	message := string(bytes.TrimPrefix(refusal[2], fmt.Appendf(nil, "%d ", status)))
	body, err := json.Marshal(model.Error{Error: model.ErrorBody{Code: words.code, Message: clipText("the request cannot be read: " + message),
		Hint: words.hint}})
	if err != nil {
		return refusal[0] // of three strings: it does not happen
	}
	return answerOf(status, body)
}

// answerOf is an answer in JSON, whole, after which the connection is closed.
func answerOf(status int, body []byte) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: "+
		"%d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(body), body)
}
