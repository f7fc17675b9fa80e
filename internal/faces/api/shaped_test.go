package api

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
)

// Requests that net/http refuses before a handler sees them are answered in the one
// shape of errors too, with code and remedy.
func TestRefusalsOfTheServerItselfHaveTheOneShape(t *testing.T) {
	w := newWorld(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = w.server.Serve(listener) }()
	for _, c := range []struct {
		request string
		status  int
		code    string
	}{
		{"GET /height HTTP/1.1\r\n\r\n", 400, "malformed_request"},
		{"GET /height HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"nonsense\r\n\r\n", 400, "malformed_request"},
		{"GET /height\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "malformed_request"},
		{"GET /height HTTP/9.9\r\nHost: localhost\r\n\r\n", 505, "unsupported_version"},
		{"POST /submit HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n", 400, "malformed_request"},
		{"POST /submit HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "malformed_request"},
		{"POST /submit HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "unsupported_encoding"},
		{"GET /height HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2*MaxHeaderBytes+8192) + "\r\n\r\n", 431, "headers_too_large"},
		{"POST /height HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405, "method_not_allowed"},
		{"BREW /height HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "method_not_allowed"},
		{"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "unknown_path"},
		{"GET //height HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "unknown_path"},
		{"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "unknown_path"},
	} {
		name, _, _ := strings.Cut(c.request, "\r")
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, c.request) // one that is too long may be cut off
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%.60q: %v", name, err)
			continue
		}
		data, err := io.ReadAll(response.Body)
		var got model.Error
		if err != nil || json.Unmarshal(data, &got) != nil || response.StatusCode != c.status || got.Error.Code != c.code ||
			got.Error.Message == "" || got.Error.Hint == "" || !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%.60q: %d %s %s, want %d %s (%v)", c.request, response.StatusCode, response.Header, data, c.status, c.code, err)
		}
		conn.Close()
	}
}
