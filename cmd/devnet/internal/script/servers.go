package script

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// webServer is a web server of a script's: it says where it listens, and knows prices.
func webServer() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening at", listener.Addr())
	prices := http.NewServeMux()
	prices.HandleFunc("GET /price/btc", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"pair": "btc", "price": "64000.25"}`)
	})
	fmt.Fprintln(os.Stderr, http.Serve(listener, prices))
	os.Exit(1)
}

type summands struct {
	A int `json:"a"`
	B int `json:"b"`
}

type total struct {
	Sum int `json:"sum"`
}

// mcpServer is a server of the official SDK over standard input and output.
func mcpServer() {
	s := mcp.NewServer(&mcp.Implementation{Name: "sums", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in summands) (*mcp.CallToolResult, total, error) {
		return nil, total{in.A + in.B}, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
