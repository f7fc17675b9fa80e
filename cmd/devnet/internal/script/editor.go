package script

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// withDebugpy is a Python that has debugpy: the user's, or Debian's; "" if neither has it.
func withDebugpy() string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import debugpy").Run() == nil {
			return name
		}
	}
	return ""
}

// editor is the client's side of the Debug Adapter Protocol: requests and events are JSON
// under a header with their length.
type editor struct {
	ts      *testscript.TestScript
	conn    net.Conn
	in      *bufio.Reader
	sent    int
	printed strings.Builder
}

// dapMessage holds the parts of any message that a test looks at.
type dapMessage struct {
	Type    string          `json:"type"`
	Event   string          `json:"event"`
	Reply   int             `json:"request_seq"`
	Success bool            `json:"success"`
	Message string          `json:"message"`
	Body    json.RawMessage `json:"body"`
}

// attachEditor LAUNCH ADDRESS FILE:LINE attaches as an editor does by the first configuration of the file
// LAUNCH, at ADDRESS in place of the configured one. It has a breakpoint and stops at exceptions that leave an
// actor. At each stop it writes into the file stops why, where, and the local variables. Then it
// continues, to the end.
func attachEditor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: attach LAUNCH ADDRESS FILE:LINE")
	}
	var launch struct {
		Configurations []map[string]any `json:"configurations"`
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &launch))
	file, line, _ := strings.Cut(args[2], ":")
	at, err := strconv.Atoi(line)
	ts.Check(err)
	conn, err := net.Dial("tcp", args[1])
	ts.Check(err)
	defer conn.Close()
	ts.Check(conn.SetDeadline(time.Now().Add(Patience)))
	e := &editor{ts: ts, conn: conn, in: bufio.NewReader(conn)}
	e.askDebugger("initialize", map[string]any{"adapterID": launch.Configurations[0]["type"], "pathFormat": "path"}, nil)
	e.sendRequest("attach", launch.Configurations[0])
	e.awaitEvent("initialized", nil)
	var set struct{ Breakpoints []struct{ Verified bool } }
	e.askDebugger("setBreakpoints", map[string]any{"source": map[string]any{"path": ts.MkAbs(file)},
		"breakpoints": []any{map[string]any{"line": at}}}, &set)
	if len(set.Breakpoints) != 1 || !set.Breakpoints[0].Verified {
		ts.Fatalf("the breakpoint at %s is not accepted: %+v", args[2], set)
	}
	e.askDebugger("setExceptionBreakpoints", map[string]any{"filters": []string{"userUnhandled"}}, nil)
	e.askDebugger("configurationDone", map[string]any{}, nil)
	for e.passStop() {
	}
	ts.Check(os.WriteFile(ts.MkAbs("stops"), []byte(e.printed.String()), 0o644))
}

// passStop waits for the next stop, writes it down, and continues; false: the execution has ended.
func (e *editor) passStop() bool {
	var stop struct {
		Reason   string
		ThreadID int `json:"threadId"`
	}
	if e.awaitEvent("stopped", &stop) == "terminated" {
		return false
	}
	var trace struct {
		Frames []struct {
			ID, Line int
			Name     string
			Source   struct{ Path string }
		} `json:"stackFrames"`
	}
	e.askDebugger("stackTrace", map[string]any{"threadId": stop.ThreadID}, &trace)
	for i, f := range trace.Frames {
		fmt.Fprintf(&e.printed, "%d %s in %s at %s:%d\n", i, stop.Reason, f.Name, filepath.Base(f.Source.Path), f.Line)
	}
	var scopes struct {
		Scopes []struct {
			Reference int `json:"variablesReference"`
		}
	}
	e.askDebugger("scopes", map[string]any{"frameId": trace.Frames[0].ID}, &scopes)
	var locals struct {
		Variables []struct{ Name, Value string }
	}
	e.askDebugger("variables", map[string]any{"variablesReference": scopes.Scopes[0].Reference}, &locals)
	for _, v := range locals.Variables {
		fmt.Fprintf(&e.printed, "  %s = %s\n", v.Name, v.Value)
	}
	e.askDebugger("continue", map[string]any{"threadId": stop.ThreadID}, nil)
	return true
}

// sendRequest sends a request; returns its number.
func (e *editor) sendRequest(command string, arguments map[string]any) int {
	e.sent++
	data, err := json.Marshal(map[string]any{"seq": e.sent, "type": "request", "command": command, "arguments": arguments})
	e.ts.Check(err)
	_, err = fmt.Fprintf(e.conn, "Content-Length: %d\r\n\r\n%s", len(data), data)
	e.ts.Check(err)
	return e.sent
}

// askDebugger sends a request and waits for its answer, which must be a success.
func (e *editor) askDebugger(command string, arguments map[string]any, into any) {
	number := e.sendRequest(command, arguments)
	for {
		m := e.readMessage()
		if m.Type != "response" || m.Reply != number {
			continue
		}
		if !m.Success {
			e.ts.Fatalf("%s was refused: %s", command, m.Message)
		}
		if into != nil {
			e.ts.Check(json.Unmarshal(m.Body, into))
		}
		return
	}
}

// awaitEvent waits for an event of a name, or for the end of the execution; returns which came.
func (e *editor) awaitEvent(event string, into any) string {
	for {
		m := e.readMessage()
		switch {
		case m.Type == "event" && m.Event == event && into != nil:
			e.ts.Check(json.Unmarshal(m.Body, into))
			return event
		case m.Type == "event" && (m.Event == event || m.Event == "terminated"):
			return m.Event
		}
	}
}

// readMessage reads a message. Requests of the debugger to the editor are left unanswered: it has
// offered none of them.
func (e *editor) readMessage() dapMessage {
	length := 0
	for {
		line, err := e.in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			e.ts.Fatalf("the debugger closed the connection; stops:\n%s", e.printed.String())
		}
		e.ts.Check(err)
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if value, is := strings.CutPrefix(line, "Content-Length:"); is {
			length, err = strconv.Atoi(strings.TrimSpace(value))
			e.ts.Check(err)
		}
	}
	data := make([]byte, length)
	_, err := io.ReadFull(e.in, data)
	e.ts.Check(err)
	var m dapMessage
	e.ts.Check(json.Unmarshal(data, &m))
	return m
}
