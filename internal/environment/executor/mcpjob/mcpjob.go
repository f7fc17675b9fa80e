// Package mcpjob does jobs of the kind mcp (CIP-2): it calls a tool of an MCP
// server, over the server's standard input and output or over streamable HTTP.
//
// A job names a server and a tool; which program or address a server is, its
// runner's owner says. Each job has a separate session, which ends with it.
//
// The result is canonical JSON of the tool's answer: content, with structuredContent
// if present, and isError if true. A tool that fails sets isError: that is a result. It is
// read from the bytes of the answer: the SDK's values have doubles for numbers.
package mcpjob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/executor"
	"github.com/cowboyinc/devnet/internal/environment/executor/outbound"
	"github.com/cowboyinc/devnet/internal/environment/executor/process"
)

// grace is how long a server may take to end when its session does, beyond which it
// is ended.
const grace = 2 * time.Second

// Server is how to reach a server: a program, or a URL.
type Server struct {
	Argv    []string
	Env     []string // NAME=VALUE; nothing else is in the program's environment
	URL     string
	Headers map[string]string // sent to URL
	Tools   []string          // that jobs may call; nil: all
	NeedsMB uint64            // of the program; a job with less is refused
}

// Kind does mcp jobs.
type Kind struct {
	servers   map[string]Server
	client    *http.Client
	pollAgain time.Duration
}

var _ executor.Kind = (*Kind)(nil)

// ServerError says what is wrong with a setting of a server.
type ServerError struct {
	Server, Setting string
	Why             string
}

func (e *ServerError) Error() string {
	return fmt.Sprintf("the server %.80q, %s: %s", e.Server, e.Setting, e.Why)
}

// New makes the kind, for servers by their names. A server with neither or both of
// program and URL is refused, and so is a missing program. Its errors are *ServerError.
func New(servers map[string]Server) (*Kind, error) {
	k := &Kind{make(map[string]Server), outbound.Client(), pollAgain}
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		s := servers[name]
		if s.URL == "" && len(s.Argv) == 0 {
			return nil, &ServerError{name, "argv", "the server has neither a program nor a URL: name one, by argv or url"}
		}
		if s.URL != "" && len(s.Argv) > 0 {
			return nil, &ServerError{name, "url", "the server has a program and a URL: leave out argv or url"}
		}
		if s.URL != "" {
			if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				return nil, &ServerError{name, "url", fmt.Sprintf("invalid URL %.80q: want one like http://127.0.0.1:9000/mcp", s.URL)}
			}
		} else {
			path, err := exec.LookPath(s.Argv[0])
			if err == nil {
				path, err = filepath.Abs(path) // it runs in a separate folder
			}
			if err != nil {
				return nil, &ServerError{name, "argv", fmt.Sprintf("there is no program %.80q: name one of the PATH, or its whole path", s.Argv[0])}
			}
			s.Argv = append([]string{path}, s.Argv[1:]...)
		}
		k.servers[name] = s
	}
	return k, nil
}

// Capabilities implements executor.Kind: the servers.
func (k *Kind) Capabilities() (all []string) {
	for name := range k.servers {
		all = append(all, "server:"+name)
	}
	slices.Sort(all)
	return all
}

// Accepts implements executor.Kind.
func (k *Kind) Accepts(spec *push.JobSpec) *execution.Refusal {
	job := spec.JobType.Mcp
	server, offered := k.servers[job.Server]
	if !offered {
		return execution.Refuse(push.Unsupported, "this runner has no server %.80q", job.Server)
	}
	if job.Tool == "" || server.Tools != nil && !slices.Contains(server.Tools, job.Tool) {
		return execution.Refuse(push.Unsupported, "this runner calls no tool %.80q of %.80q", job.Tool, job.Server)
	}
	if refusal := executor.NeedsMemory(spec, server.NeedsMB); refusal != nil {
		return refusal
	}
	v, err := executor.ParseJSON([]byte(job.Arguments))
	if err != nil {
		return execution.Refuse(push.BadSpec, "the arguments are not valid JSON: %v", err)
	}
	if _, named := v.(map[string]any); !named {
		return execution.Refuse(push.BadSpec, "the arguments are not a JSON object")
	}
	return nil
}

// initialized is the last protocol version whose sessions begin with initialize. A later one
// begins with another method, which a server of an earlier one may leave unanswered.
const initialized = "2025-11-25"

// Do implements executor.Kind. It lets the SDK choose the protocol version only where a server
// opens no session of initialized. A program that has ended is not started for another one.
func (k *Kind) Do(ctx context.Context, job *executor.Job) ([]byte, error) {
	result, err := k.callTool(ctx, job, &mcp.ClientSessionOptions{ProtocolVersion: initialized})
	var unopened *unopenedError
	if !errors.As(err, &unopened) || ctx.Err() != nil {
		return result, err
	}
	var refusal *jsonrpc.Error
	if overHTTP := k.servers[job.Spec.JobType.Mcp.Server].URL != ""; overHTTP || errors.As(err, &refusal) {
		return k.callTool(ctx, job, nil)
	}
	return nil, err
}

func (k *Kind) callTool(ctx context.Context, job *executor.Job, session *mcp.ClientSessionOptions) ([]byte, error) {
	server := k.servers[job.Spec.JobType.Mcp.Server]
	if server.URL != "" {
		return k.overHTTP(ctx, server, job, session)
	}
	return overPipes(ctx, server, job, session)
}

// unopenedError says that a server opened no session.
type unopenedError struct {
	server string
	cause  error
}

func (e *unopenedError) Error() string {
	return fmt.Sprintf("the server %.80q does not open a session: %v", e.server, e.cause)
}

func (e *unopenedError) Unwrap() error { return e.cause }

// overPipes starts a server, and ends it with the job.
func overPipes(ctx context.Context, server Server, job *executor.Job, session *mcp.ClientSessionOptions) ([]byte, error) {
	p, err := process.Start(ctx, process.Command{Argv: server.Argv, Env: server.Env, Memory: executor.MemoryBytes(job.Spec)})
	if err != nil {
		return nil, err
	}
	most := executor.AnswerBytes(job.Spec, outbound.MaxBody)
	output := struct {
		io.Reader
		io.Closer
	}{io.LimitReader(p.Stdout, int64(most)), io.NopCloser(nil)} // Wait closes it
	pipes := &recorder{Transport: &mcp.IOTransport{Reader: output, Writer: p.Stdin, MaxLineLength: most}}
	result, err := callAnd(ctx, pipes, job, session, func() {})
	late := time.AfterFunc(grace, p.Kill)
	defer late.Stop()
	if ended := p.Wait(); err != nil && ended != nil {
		err = fmt.Errorf("%w; the server: %w", err, ended)
	}
	return result, err
}

// callAnd opens a session, calls the tool and ends the session, which it announces
// before.
func callAnd(ctx context.Context, transport *recorder, work *executor.Job, options *mcp.ClientSessionOptions,
	ends func()) ([]byte, error) {
	job := work.Spec.JobType.Mcp
	nothing := &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}, // capabilities that a server could use on this runner
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { reportProgress(work, r.Params) }}
	client := mcp.NewClient(&mcp.Implementation{Name: "cowboy-runner", Version: "1"}, nothing)
	session, err := client.Connect(ctx, transport, options)
	if err != nil {
		return nil, &unopenedError{job.Server, err}
	}
	defer session.Close()
	defer ends()
	params := &mcp.CallToolParams{Name: job.Tool, Arguments: json.RawMessage(job.Arguments)}
	params.SetProgressToken(progressToken)
	if _, err := session.CallTool(ctx, params); err != nil {
		return nil, callFailure(job.Tool, err)
	}
	return renderAnswer(transport.lastResult())
}

// callFailure is the failure of a call. A server that has no such tool, or does not take the
// arguments, refuses the job for good.
func callFailure(tool string, err error) error {
	var said *jsonrpc.Error
	if errors.As(err, &said) && (said.Code == jsonrpc.CodeInvalidParams || said.Code == jsonrpc.CodeMethodNotFound) {
		return execution.Refuse(push.Unsupported, "the tool %.80q: %s", tool, outbound.Words([]byte(said.Message)))
	}
	return fmt.Errorf("the tool %.80q: %w", tool, err)
}

// progressToken names the only call of a session in the server's notifications.
const progressToken = "job"

// reportProgress reports a tool's progress in whole percent of its total, rounded down. Without a
// total there is no measure, and no report.
func reportProgress(job *executor.Job, said *mcp.ProgressNotificationParams) {
	if said == nil || said.ProgressToken != progressToken || !(said.Total > 0) || !(said.Progress > 0) {
		return
	}
	job.Progress(uint8(min(said.Progress/said.Total, 1)*100), said.Message)
}

// renderAnswer returns the result of a tool's answer, from its bytes.
func renderAnswer(answer []byte) ([]byte, error) {
	v, err := executor.ParseJSON(answer)
	if err != nil {
		return nil, fmt.Errorf("the tool's answer: %w", err)
	}
	said, _ := v.(map[string]any)
	result := map[string]any{"content": []any{}}
	for _, name := range []string{"content", "structuredContent"} {
		if part := said[name]; part != nil {
			result[name] = part
		}
	}
	if failed, _ := said["isError"].(bool); failed {
		result["isError"] = true
	}
	return executor.CanonicalJSON(result), nil
}
