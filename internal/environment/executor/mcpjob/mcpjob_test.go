package mcpjob

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
)

// As a child of a test this program is an MCP server, of one kind or another.
func TestMain(m *testing.M) {
	switch os.Getenv("MCPJOB_SERVER") {
	case "":
		os.Exit(m.Run())
	case "real":
		server(nil).Run(context.Background(), &mcp.StdioTransport{})
	case "flood":
		for {
			os.Stdout.WriteString(strings.Repeat("a", 1<<16))
		}
	case "silent":
		io.Copy(io.Discard, os.Stdin)
		time.Sleep(time.Hour) // Go ends a process that waits for nothing outside
	case "ignores":
		answers(map[string]string{"initialize": opened, "tools/call": called})
	case "exact":
		answers(map[string]string{"initialize": opened, "tools/call": exact})
	case "modern":
		answers(map[string]string{"server/discover": discovered, "tools/call": called})
	case "dies":
		os.Stderr.WriteString("no such luck")
		os.Exit(7)
	}
}

// Answers of servers written by hand.
const (
	opened     = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"hand","version":"1"}}`
	discovered = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"hand","version":"1"}}`
	called     = `{"content":[{"type":"text","text":"done"}]}`
)

// answers is a server with results of some methods. It refuses initialize if it has none,
// and leaves other methods unanswered.
func answers(results map[string]string) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil {
			continue
		}
		if result := results[request.Method]; result != "" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", request.ID, result)
		} else if request.Method == "initialize" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", request.ID)
		}
	}
}

// A server that leaves unknown methods unanswered is not asked any, and one that refuses
// initialize is asked for a session of a later protocol version.
func TestSessionsOfBothKindsOfProtocol(t *testing.T) {
	for _, which := range []string{"ignores", "modern"} {
		got, err := do(t, kind(t, map[string]Server{"s": program(t, which)}), job("s", "add", `{}`))
		if want := `{"content":[{"text":"done","type":"text"}]}`; err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", which, got, err, want)
		}
	}
}

type numbers struct {
	A int    `json:"a"`
	B int    `json:"b"`
	S string `json:"s,omitempty"`
}

type sum struct {
	Sum int      `json:"sum"`
	All []string `json:"all"`
}

// heard are the words of progress that a test was told, for the tool steps to answer.
var heard = make(chan string, 9)

// server is one of the official SDK.
func server(options *mcp.ServerOptions) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, options)
	mcp.AddTool(s, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, sum, error) {
		return nil, sum{in.A + in.B, []string{"<", in.S}}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		for _, said := range []mcp.ProgressNotificationParams{{Progress: 1, Total: 4, Message: "one"}, {Progress: 2},
			{Progress: 3, Total: 4, Message: "three"}, {Progress: 2, Total: 4},
			{Progress: -1, Total: 4}, {Progress: 1, Total: -4}, {Progress: 9, Total: 4}} {
			said.ProgressToken = r.Params.GetProgressToken()
			if err := r.Session.NotifyProgress(ctx, &said); err != nil {
				return nil, nil, err
			}
		}
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "another", Progress: 1, Total: 1})
		return nil, []string{<-heard, <-heard, <-heard, <-heard}, err
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("the tool says no")
	})
	return s
}

func job(server, tool, arguments string) *push.JobSpec {
	return &push.JobSpec{
		JobType:      push.JobType{Mcp: &push.Mcp{Server: server, Tool: tool, Arguments: arguments}},
		Bounds:       push.Bounds{MaxMemoryMB: 4096},
		ResultSchema: push.ResultSchema{MaxReturnBytes: 1 << 16, DataFormat: push.FormatJSON},
	}
}

func kind(t *testing.T, servers map[string]Server) *Kind {
	t.Helper()
	k, err := New(servers)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func do(t *testing.T, k *Kind, spec *push.JobSpec) (string, error) {
	t.Helper()
	if r := k.Accepts(spec); r != nil {
		t.Fatal(r)
	}
	result, err := k.Do(t.Context(), executor.NewJob(execution.ID{}, spec, nil))
	return string(result), err
}

// program is this program as a server of a kind.
func program(t *testing.T, which string) Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	return Server{Argv: []string{self}, Env: []string{"MCPJOB_SERVER=" + which}}
}

func listening(t *testing.T, serves http.Handler) string {
	s := httptest.NewServer(serves)
	t.Cleanup(s.Close)
	return s.URL
}

func TestAToolIsCalled(t *testing.T) {
	authorized := 0
	streamable := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server(nil) }, nil)
	url := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer x" {
			authorized++
		}
		streamable.ServeHTTP(w, r)
	}))
	k := kind(t, map[string]Server{"program": program(t, "real"), "http": {URL: url,
		Headers: map[string]string{"Authorization": "Bearer x"}, Tools: []string{"add", "fail", "no"}}})
	for _, name := range []string{"program", "http"} {
		got, err := do(t, k, job(name, "add", `{"b":2,"a":40,"s":"é"}`))
		const want = `{"content":[{"text":"{\"all\":[\"\\u003c\",\"é\"],\"sum\":42}","type":"text"}],"structuredContent":{"all":["<","é"],"sum":42}}`
		if err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if got, err := do(t, k, job(name, "fail", `{}`)); err != nil ||
			got != `{"content":[{"text":"the tool says no","type":"text"}],"isError":true}` {
			t.Errorf("%s: what a tool says is a result: %s, %v", name, got, err)
		}
		var refusal *execution.Refusal
		if got, err := do(t, k, job(name, "no", `{}`)); !errors.As(err, &refusal) || !strings.Contains(err.Error(), `the tool "no"`) {
			t.Errorf("%s: a tool that there is not: %s, %v", name, got, err)
		}
	}
	if authorized == 0 {
		t.Error("the header was not sent")
	}
}

func TestServersAreBoundedAndEnd(t *testing.T) {
	endless := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for {
			if _, err := w.Write([]byte(strings.Repeat("[", 1<<16))); err != nil {
				return
			}
		}
	}))
	k := kind(t, map[string]Server{"flood": program(t, "flood"), "dies": program(t, "dies"), "endless": {URL: endless},
		"gone": {URL: "http://127.0.0.1:1"}})
	for name, want := range map[string]string{"flood": "does not open a session", "dies": "no such luck",
		"endless": "does not open a session", "gone": "refused"} {
		spec := job(name, "add", "{}")
		if got, err := do(t, k, spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %.80s, %.300v", name, got, err)
		}
	}
	if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAServerThatNeverAnswersEndsWithTheJob(t *testing.T) {
	asked := make(chan bool, 9)
	url := listening(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		asked <- true
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	k := kind(t, map[string]Server{"silent": program(t, "silent"), "http": {URL: url}})
	if got, err := k.Do(ctx, executor.NewJob(execution.ID{}, job("http", "add", "{}"), nil)); err == nil {
		t.Errorf("%s", got)
	}
	short, cancel := context.WithTimeout(t.Context(), 200_000_000)
	defer cancel()
	if got, err := k.Do(short, executor.NewJob(execution.ID{}, job("silent", "add", "{}"), nil)); err == nil {
		t.Errorf("%s", got)
	}
}

func TestWhatIsRefusedBeforeASessionOpens(t *testing.T) {
	k := kind(t, map[string]Server{"s": {URL: "http://127.0.0.1:1", Tools: []string{"add"}}})
	for _, c := range []struct {
		spec *push.JobSpec
		want push.RejectReason
	}{
		{job("/bin/sh", "add", "{}"), push.Unsupported}, {job("s", "other", "{}"), push.Unsupported}, {job("s", "", "{}"), push.Unsupported},
		{job("s", "add", ""), push.BadSpec}, {job("s", "add", "[]"), push.BadSpec}, {job("s", "add", `{"a":1,"a":2}`), push.BadSpec},
		{job("s", "add", strings.Repeat(`{"a":`, 1000)), push.BadSpec},
	} {
		if r := k.Accepts(c.spec); r == nil || r.Reason != c.want {
			t.Errorf("%v", r)
		}
	}
	if got := k.Capabilities(); !slices.Equal(got, []string{"server:s"}) {
		t.Errorf("%v", got)
	}
	for _, s := range []Server{{}, {URL: "x"}, {URL: "http://a", Argv: []string{"sh"}}, {Argv: []string{"no-such-program"}}} {
		if _, err := New(map[string]Server{"s": s}); err == nil {
			t.Errorf("%+v is a server", s)
		}
	}
}

func TestOnlyWhatAToolAnsweredIsTheResult(t *testing.T) {
	for answer, want := range map[string]string{
		`{"_meta":{"time":5},"content":[],"isError":false,"structuredContent":[1]}`: `{"content":[],"structuredContent":[1]}`,
		`{"structuredContent":null}`: `{"content":[]}`,
	} {
		if got, err := renderAnswer([]byte(answer)); err != nil || string(got) != want {
			t.Errorf("%s, %v", got, err)
		}
	}
	if got, err := renderAnswer([]byte(`{"content":[],"structuredContent":{"wei":1,"wei":2}}`)); err == nil {
		t.Errorf("a name twice: %s", got)
	}
}

func TestAnErrorDoesNotTellWhereAServersKeyIs(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	k := kind(t, map[string]Server{"s": {URL: gone.URL + "/secret"}})
	if got, err := do(t, k, job("s", "upper", `{}`)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%q, %v", got, err)
	}
	refuses := listening(t, http.NotFoundHandler())
	k = kind(t, map[string]Server{"s": {URL: refuses + "/secret"}})
	if got, err := do(t, k, job("s", "upper", `{}`)); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%q, %v", got, err)
	}
}

// A tool's progress is reported in percent of its total, and not at all without one. The
// Set makes it rise.
func TestAToolTellsItsProgress(t *testing.T) {
	url := listening(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server(nil) }, nil))
	tell := func(percent uint8, words string) { heard <- fmt.Sprint(percent, " ", words) }
	k := kind(t, map[string]Server{"s": {URL: url}})
	result, err := k.Do(t.Context(), executor.NewJob(execution.ID{}, job("s", "steps", "{}"), tell))
	if err != nil {
		t.Fatal(err)
	}
	if want := `["25 one","75 three","50 ","100 "]`; !strings.Contains(strings.ReplaceAll(string(result), "\\", ""), want) {
		t.Errorf("%s, want %s", result, want)
	}
}

// exact is an answer whose numbers no double holds, and one that a double writes otherwise.
const exact = `{"content":[{"type":"text","text":"","_meta":{"n":9007199254740993}}],` +
	`"structuredContent":{"wei":115792089237316195423570985008687907853269984665640564039457584007913129639935,"one":1.0,"e":1E5}}`

// Numbers go through no double on their way to the result, over pipes and over HTTP, in one
// piece and as events.
func TestNumbersAreAsTheServerWroteThem(t *testing.T) {
	const want = `{"content":[{"_meta":{"n":9007199254740993},"text":"","type":"text"}],"structuredContent":{"e":1E5,"one":1.0,` +
		`"wei":115792089237316195423570985008687907853269984665640564039457584007913129639935}}`
	versions := map[string]bool{}
	serves := func(contentType, shape string) string {
		return listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request struct {
				ID     json.RawMessage
				Method string
			}
			json.NewDecoder(r.Body).Decode(&request)
			if request.Method != "initialize" {
				versions[r.Header.Get("Mcp-Protocol-Version")] = true
			}
			result, asked := map[string]string{"initialize": opened, "tools/call": exact}[request.Method]
			if !asked {
				w.WriteHeader(http.StatusAccepted)
				return
			}
			w.Header().Set("Content-Type", contentType)
			fmt.Fprintf(w, shape, `{"jsonrpc":"2.0","id":`+string(request.ID)+`,"result":`+result+`}`)
		}))
	}
	k := kind(t, map[string]Server{"pipes": program(t, "exact"), "json": {URL: serves("application/json", "%s")},
		"events": {URL: serves("text/event-stream", "event: message\ndata: %s\n\n")}})
	for _, name := range []string{"pipes", "json", "events"} {
		if got, err := do(t, k, job(name, "x", `{}`)); err != nil || got != want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, want)
		}
	}
	if len(versions) != 1 || !versions[initialized] {
		t.Errorf("requests after initialize name the versions %v", versions)
	}
}

func stateless(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
}

// Numbers of a job's arguments arrive as the job has them, in sessions of both kinds.
func TestNumbersOfArgumentsArriveAsWritten(t *testing.T) {
	const arguments = `{"wei":115792089237316195423570985008687907853269984665640564039457584007913129639935,"one":1.0}`
	for _, versions := range [][]string{{initialized}, {"2026-07-28"}} {
		got := ""
		s := mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: versions})
		s.AddTool(&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				got = string(r.Params.Arguments)
				return &mcp.CallToolResult{}, nil
			})
		url := listening(t, stateless(s))
		if _, err := do(t, kind(t, map[string]Server{"s": {URL: url}}), job("s", "x", arguments)); err != nil || got != arguments {
			t.Errorf("%v: %s, %v", versions, got, err)
		}
	}
}

// A server of 2025-11-25 may close the stream of a call after an event, and name the time
// after which it is asked for the rest.
func TestAServerMayCloseItsStreamToBePolled(t *testing.T) {
	var polls atomic.Int32
	finish := make(chan bool)
	ends, end := context.WithCancel(t.Context())
	s := mcp.NewServer(&mcp.Implementation{Name: "t", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "slow"}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		r.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: time.Millisecond})
		select {
		case <-finish:
		case <-ends.Done():
		}
		return nil, "at last", nil
	})
	streamable := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s },
		&mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})
	url := listening(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			switch n := polls.Add(1); {
			case n == 1: // a proxy that loses a connection
				panic(http.ErrAbortHandler)
			case n < 40: // a server that has nothing yet, and closes again
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "retry: 1\n\n")
				return
			case n == 40:
				close(finish)
			}
		}
		streamable.ServeHTTP(w, r)
	}))
	k := kind(t, map[string]Server{"s": {URL: url}})
	k.pollAgain = time.Millisecond
	got, err := do(t, k, job("s", "slow", `{}`))
	end() // the tool returns if the job failed
	if err != nil || !strings.Contains(got, "at last") || polls.Load() < 40 {
		t.Errorf("%s, %v after %d polls", got, err, polls.Load())
	}
}

// A server that serves the newest revision alone answers initialize all the same, and refuses
// what follows.
func TestAServerChoosesTheRevision(t *testing.T) {
	for _, versions := range [][]string{nil, {"2026-07-28"}, {"2025-06-18"}} {
		s := server(&mcp.ServerOptions{SupportedProtocolVersions: versions})
		url := listening(t, stateless(s))
		got, err := do(t, kind(t, map[string]Server{"s": {URL: url}}), job("s", "add", `{"a":1,"b":2}`))
		if err != nil || !strings.Contains(got, `"sum":3`) {
			t.Errorf("%v: %s, %v", versions, got, err)
		}
	}
}

// What a server says as it refuses by a status is in the failure, without control characters
// and cut.
func TestARefusalOverHTTPIsToldInItsWords(t *testing.T) {
	for words, want := range map[string]string{
		"Forbidden: invalid Host header \"vm:39181\"\nmore": `Forbidden: invalid Host header "vm:39181"`,
		"": "Forbidden",
		"a\x1b[2Jb" + strings.Repeat("c", 100_000): "a [2Jbccc",
	} {
		url := listening(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, words, http.StatusForbidden) }))
		_, err := do(t, kind(t, map[string]Server{"s": {URL: url}}), job("s", "add", `{}`))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("%.300v; want %s", err, want)
		}
	}
}
