package mcpjob

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// recorder is a transport that keeps the bytes of answers: the SDK gives their values only,
// with doubles for numbers. Its connection has one session.
type recorder struct {
	mcp.Transport

	mu      sync.Mutex
	asked   map[jsonrpc.ID]string // the methods of requests without an answer, of those kept
	answers map[string][]byte     // the last result by its method
}

// The methods whose results are kept.
const (
	opening = "initialize"
	calling = "tools/call"
)

// Connect implements mcp.Transport.
func (r *recorder) Connect(ctx context.Context) (mcp.Connection, error) {
	connection, err := r.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.answers = make(map[jsonrpc.ID]string), make(map[string][]byte)
	return &recordedConn{connection, r}, nil
}

// recordedConn is a connection of a recorder.
type recordedConn struct {
	mcp.Connection
	to *recorder
}

// Write implements mcp.Connection.
func (c *recordedConn) Write(ctx context.Context, message jsonrpc.Message) error {
	if r, is := message.(*jsonrpc.Request); is && (r.Method == opening || r.Method == calling) {
		c.to.mu.Lock()
		c.to.asked[r.ID] = r.Method
		c.to.mu.Unlock()
	}
	return c.Connection.Write(ctx, message)
}

// Read implements mcp.Connection.
func (c *recordedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if answer, is := message.(*jsonrpc.Response); is && err == nil {
		c.to.mu.Lock()
		if method, asked := c.to.asked[answer.ID]; asked {
			delete(c.to.asked, answer.ID)
			c.to.answers[method] = answer.Result
		}
		c.to.mu.Unlock()
	}
	return message, err
}

// lastResult returns the result of the last call of a tool.
func (r *recorder) lastResult() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answers[calling]
}

// protocolVersion returns the protocol version that the server answered initialize with, "" before
// or without it.
func (r *recorder) protocolVersion() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var answer struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(r.answers[opening], &answer) // nil, or what the SDK judged
	return answer.ProtocolVersion
}
