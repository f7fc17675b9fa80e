#!/usr/bin/env bash
# github.com/modelcontextprotocol/go-sdk v1.8.0: a client whose streamable transport is wrapped, also by the SDK's own
# LoggingTransport, leaves the header Mcp-Protocol-Version out of requests that have it unwrapped (one of four instead of three),
# and never opens the standalone stream, so that messages that the server sends by itself do not arrive. The specification of
# MCP asks for that header on each request after the first.
# A runner that logs its traffic with an MCP server this way misses notifications, and looks like an old client to the server.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// seen is what one session's server sees.
type seen struct {
	sync.Mutex
	posts, versioned, streams int
}

func session(wrap func(mcp.Transport) mcp.Transport) (posts, versioned, streams int) {
	server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	var s seen
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Lock()
		switch r.Method {
		case http.MethodPost:
			s.posts++
			if r.Header.Get("Mcp-Protocol-Version") != "" {
				s.versioned++
			}
		case http.MethodGet:
			s.streams++
		}
		s.Unlock()
		handler.ServeHTTP(w, r)
	}))
	defer web.Close()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	connection, err := client.Connect(ctx, wrap(&mcp.StreamableClientTransport{Endpoint: web.URL}), nil)
	if err != nil {
		panic(err)
	}
	if _, err := connection.ListTools(ctx, nil); err != nil {
		panic(err)
	}
	time.Sleep(time.Second) // the stream is opened beside the calls
	s.Lock()
	posts, versioned, streams = s.posts, s.versioned, s.streams
	s.Unlock()
	connection.Close()
	return posts, versioned, streams
}

func main() {
	p, v, g := session(func(t mcp.Transport) mcp.Transport { return t })
	fmt.Printf("plain:   %d posts, %d with a version, standalone streams: %d\n", p, v, g)
	wp, wv, wg := session(func(t mcp.Transport) mcp.Transport { return &mcp.LoggingTransport{Transport: t, Writer: io.Discard} })
	fmt.Printf("wrapped: %d posts, %d with a version, standalone streams: %d\n", wp, wv, wg)
	if p != 4 || v != 3 || g != 1 || wp != 4 || wv != 1 || wg != 0 {
		fmt.Println("this is not what v1.8.0 did")
		os.Exit(1)
	}
}
GO
go mod init finding >/dev/null 2>&1
go get github.com/modelcontextprotocol/go-sdk@v1.8.0 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
