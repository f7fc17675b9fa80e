#!/usr/bin/env bash
# github.com/modelcontextprotocol/go-sdk v1.8.0: a server of revision 2025-11-25 may close the stream of a call and have the client
# come back with the last event's id. The client comes back once: if that stream ends before its first event, which the
# specification allows at any time, the client forgets the id and fails the call, "request terminated without response". If the
# stream holds an event first, the call ends well.
# A runner's call of a tool that takes minutes fails so behind a proxy that cuts idle streams.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'GO'
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// call asks a server whose resumed stream ends empty so many times before it holds the result.
func call(empty int32) (resumed int32, err error) {
	var gets atomic.Int32
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			if r.Header.Get("Last-Event-Id") == "" {
				w.WriteHeader(http.StatusMethodNotAllowed) // no standalone stream
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			if gets.Add(1) > empty {
				io.WriteString(w, "id: 2\ndata: {\"jsonrpc\":\"2.0\",\"id\":"+id+",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}\n\n")
			}
			return
		}
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		json.NewDecoder(r.Body).Decode(&m)
		w.Header().Set("Mcp-Session-Id", "one")
		switch {
		case m.Method == "initialize":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`, m.ID)
		case m.Method == "tools/call":
			id = string(m.ID)
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "id: 1\nretry: 100\ndata: \n\n")
		case len(m.ID) == 0:
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`, m.ID)
		}
	}))
	defer web.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		panic(err)
	}
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "slow"})
	return gets.Load(), err
}

var id string

func main() {
	n, err := call(0)
	fmt.Printf("resumed stream with the result: %d resumption, error: %v\n", n, err)
	m, failed := call(1)
	fmt.Printf("resumed stream that ends empty: %d resumption, error: %v\n", m, failed)
	if err != nil || failed == nil || m != 1 || !strings.Contains(failed.Error(), "terminated without response") {
		fmt.Println("this is not what v1.8.0 did")
		os.Exit(1)
	}
}
GO
go mod init finding >/dev/null 2>&1
go get github.com/modelcontextprotocol/go-sdk@v1.8.0 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
go run .
