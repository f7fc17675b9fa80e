package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// Limits of a conversation.
const (
	// Version is the version of the frames; the opening frame states the client's.
	Version = 1
	// MaxFrameBytes bounds a frame that is read: the largest request, and its frame.
	MaxFrameBytes = api.MaxBodyBytes + 64<<10
	// MaxSnapshots bounds what a network can go back to.
	MaxSnapshots = 1024
	// MaxValidators and MaxRunners bound the nodes of a network.
	MaxValidators = 100
	MaxRunners    = 100
	// MaxAnswers bounds the answers of one mock, and MaxMocks the mocks of a network.
	MaxAnswers = 1024
	MaxMocks   = 1024
	// MaxRun bounds the network's time that one frame lets pass.
	MaxRun = time.Hour
)

// Config is what a network is asked for.
type Config struct {
	Version    uint64            `json:"version"`
	Seed       uint64            `json:"seed"`
	Validators int               `json:"validators"` // 0: 1
	Runners    int               `json:"runners"`
	BlockTime  string            `json:"block_time"` // a duration, or auto; "": auto
	Params     map[string]string `json:"params"`     // what differs from the defaults
	// Apart makes every validator execute every block itself, with separate
	// interpreters, so that nondeterminism divides them.
	Apart bool `json:"apart"`
	// Open lets runners join, and has a faucet. A conversation's network has neither.
	Open bool `json:"-"`
}

// Network is a network of virtual time as the conversation needs it. One goroutine
// uses it.
type Network interface {
	api.Backend
	// Awaits says whether Wait waits. If it does not, Submitted has its error.
	Awaits(bool)
	// Snapshot keeps the network as it is; revert, at any later time and any number
	// of times, makes it that again.
	Snapshot() (revert func() error, err error)
	// Run lets that much of the network's time pass, without travel: frames arrive,
	// runners connect and work.
	Run(time.Duration) error
	// Answer gives the result of a job of the executor manual to all runners that wait
	// for one.
	Answer(job types.Hash, given execution.Given) error
	// Tell announces the network's height to followers of its blocks.
	Tell()
	// Mock has runners bring answers for some jobs from now on; a revert to a snapshot
	// that is older forgets it.
	Mock(Mock) error
	Close() error
}

// Mock is what runners bring for some jobs.
type Mock struct {
	Kind    string `json:"kind"`    // of the jobs: custom, ethsend, http, llm, mcp
	Match   string `json:"match"`   // is within what they ask for; "": all of the kind
	Runner  string `json:"runner"`  // that brings it, by name; "": any
	Answers []Turn `json:"answers"` // in the order of the jobs; the last repeats
}

// Turn is the end of one job's work.
type Turn struct {
	Result types.Bytes `json:"result"`
	Error  string      `json:"error"` // why there is no result; "": there is
}

// Submitted reports that a transaction was handed in, and that no caller waits for
// its end.
func Submitted(hash types.Hash) error {
	return api.Refuse(http.StatusAccepted, "submitted", "%s", hash)
}

// Open brings a network up. Its error is an *api.Error where the opening is at fault.
type Open func(Config) (Network, error)

// frame is what is read.
type frame struct {
	ID       uint64          `json:"id"`
	Do       string          `json:"do"`
	Open     *Config         `json:"open"`
	Method   string          `json:"method"`
	Path     string          `json:"path"`
	Body     json.RawMessage `json:"body"`
	Wait     *bool           `json:"wait"`
	Snapshot int             `json:"snapshot"`
	For      string          `json:"for"`
	Job      types.Hash      `json:"job"`
	Result   types.Bytes     `json:"result"`
	Mock     *Mock           `json:"mock"`
	Address  string          `json:"address"`
}

// answer is what is written.
type answer struct {
	ID     uint64          `json:"id"`
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// Conversation is one, with the network that it opened.
type Conversation struct {
	open    Open
	network Network
	server  *api.Driven  // its lock is the conversation's, but while the network is held
	held    *http.Server // nil: it is not
	reverts []func() error
}

// Hold holds a conversation until in ends. An error comes from a stream, or from an
// invalid frame, which was answered before.
func Hold(ctx context.Context, in io.Reader, out io.Writer, open Open) (err error) {
	c := &Conversation{open: open}
	defer func() { err = errors.Join(err, c.closeNetwork()) }()
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.Join(err, writeAnswer(out, newRefusal(0, err)))
		}
		if err := writeAnswer(out, c.answerFrame(ctx, line)); err != nil {
			return err
		}
	}
}

// readLine reads a line within MaxFrameBytes. io.EOF is the end between frames.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxFrameBytes:
			return nil, api.Refuse(http.StatusRequestEntityTooLarge, "too_large", "a frame has at most %d bytes", MaxFrameBytes)
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, api.Refuse(http.StatusBadRequest, "invalid_request", "the stream ends within a frame")
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func writeAnswer(out io.Writer, a answer) error {
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = out.Write(append(data, '\n'))
	return err
}

// answerFrame answers a frame.
func (c *Conversation) answerFrame(ctx context.Context, line []byte) answer {
	var f frame
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return newRefusal(f.ID, api.Refuse(http.StatusBadRequest, "invalid_request", "invalid frame: %v", err))
	}
	var body any
	err := c.releaseHold()
	switch {
	case err != nil:
	case f.Do == "open":
		body, err = c.beginNetwork(f.Open)
	case c.network == nil:
		err = api.Refuse(http.StatusConflict, "not_open", "there is no network yet").Hint("Begin with open.").At("do")
	case f.Do == "request":
		return c.serveRequest(ctx, &f)
	case f.Do == "snapshot":
		body, err = c.takeSnapshot()
	case f.Do == "revert":
		body, err = c.revertTo(f.Snapshot)
	case f.Do == "run":
		body, err = struct{}{}, c.runFor(f.For)
	case f.Do == "answer":
		body, err = struct{}{}, c.network.Answer(f.Job, execution.Given{Result: f.Result})
	case f.Do == "mock":
		body, err = struct{}{}, c.addMock(f.Mock)
	case f.Do == "hold":
		body, err = c.holdForReaders(ctx, f.Address)
	default:
		err = api.Refuse(http.StatusBadRequest, "unknown_verb", "there is no verb %.40q", f.Do).
			Hint("There are: open, request, snapshot, revert, run, answer, mock, hold.").At("do")
	}
	if err != nil {
		return newRefusal(f.ID, err)
	}
	return newAnswer(f.ID, body)
}

func newAnswer(id uint64, body any) answer {
	data, err := json.Marshal(body)
	if err != nil {
		return newRefusal(id, err)
	}
	return answer{id, http.StatusOK, data}
}

// newRefusal answers an error: one made for the asker as it is, every other as the
// fault of the devnet that it is.
func newRefusal(id uint64, err error) answer {
	known := api.Answer(err)
	if known == nil {
		known = api.Refuse(http.StatusInternalServerError, "internal", "the devnet failed: %v", err).
			Hint("This is a fault of the devnet and not of the test.")
	}
	data, err := json.Marshal(known)
	if err != nil {
		panic("bench: an error that cannot be written: " + err.Error())
	}
	return answer{id, known.Status, data}
}

// openAnswer is the answer to open.
type openAnswer struct {
	Version   uint64            `json:"version"`
	Devnet    string            `json:"devnet"`
	ChainID   uint64            `json:"chain_id"`
	Accounts  map[string]string `json:"accounts"`
	Validator []string          `json:"validators"`
}

func (c *Conversation) beginNetwork(config *Config) (any, error) {
	switch {
	case c.network != nil:
		return nil, api.Refuse(http.StatusConflict, "open", "the network is open already").Hint("Start another bench for another one.").At("do")
	case config == nil:
		return nil, api.Refuse(http.StatusBadRequest, "invalid_request", "open is missing").At("open")
	case config.Version != Version:
		return nil, api.Refuse(http.StatusBadRequest, "version", "this bench speaks version %d, and version %d was asked for", Version,
			config.Version).Hint("Use the devnet and the cowboy_sdk of one release.").At("version")
	case config.Validators < 0 || config.Validators > MaxValidators:
		return nil, api.Refuse(http.StatusBadRequest, "invalid_request", "validators is 1 to %d, and got %d", MaxValidators,
			config.Validators).At("validators")
	case config.Runners < 0 || config.Runners > MaxRunners:
		return nil, api.Refuse(http.StatusBadRequest, "invalid_request", "runners is 0 to %d, and got %d", MaxRunners,
			config.Runners).At("runners")
	}
	network, err := c.open(*config)
	if err != nil {
		return nil, err
	}
	c.network, c.server = network, api.NewDriven(network, api.Config{}, network.Tell)
	c.server.Lock()
	o := openAnswer{Version: Version, Devnet: network.Info().Version, ChainID: network.Info().ChainID, Accounts: map[string]string{}}
	for _, a := range network.Accounts() {
		o.Accounts[a.Name] = a.Address.String()
	}
	for _, n := range network.Nodes() {
		o.Validator = append(o.Validator, n.Name)
	}
	return o, nil
}

// serveRequest serves a request by the HTTP API.
func (c *Conversation) serveRequest(ctx context.Context, f *frame) answer {
	if path, _, _ := strings.Cut(f.Path, "?"); api.Endless(path) || path == "/metrics" {
		return newRefusal(f.ID, api.Refuse(http.StatusBadRequest, "no_stream", "%s is not for a bench, whose requests are answered once", path).
			Hint("GET /block/{id}/receipts shows the executions of a block.").At("path"))
	}
	r, err := http.NewRequestWithContext(ctx, f.Method, "http://localhost"+f.Path, bytes.NewReader(f.Body))
	if err != nil || !strings.HasPrefix(f.Path, "/") {
		return newRefusal(f.ID, api.Refuse(http.StatusBadRequest, "invalid_request", "invalid request: %.60q %.200q", f.Method,
			f.Path).At("path"))
	}
	if f.Body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	c.network.Awaits(f.Wait == nil || *f.Wait)
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	c.server.Handler().ServeHTTP(w, r)
	if !json.Valid(w.body.Bytes()) {
		return newRefusal(f.ID, api.Refuse(http.StatusBadRequest, "invalid_request", "%.200q does not answer in JSON", f.Path).At("path"))
	}
	if w.status == http.StatusAccepted {
		return submitAnswer(f.ID, w.body.Bytes())
	}
	return answer{f.ID, w.status, w.body.Bytes()}
}

// submitAnswer answers for a transaction without waiting, with only its hash, like
// POST /submit.
func submitAnswer(id uint64, body []byte) answer {
	var told model.Error
	err := json.Unmarshal(body, &told)
	if err != nil {
		return newRefusal(id, err)
	}
	hash, err := types.ParseHash(told.Error.Message)
	if err != nil {
		return newRefusal(id, err)
	}
	a := newAnswer(id, model.Submitted{Hash: hash})
	a.Status = http.StatusAccepted
	return a
}

// recorder is an answer of the HTTP API.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header                { return r.header }
func (r *recorder) WriteHeader(status int)             { r.status = status }
func (r *recorder) Write(data []byte) (n int, e error) { return r.body.Write(data) }

func (c *Conversation) addMock(m *Mock) error {
	switch {
	case m == nil:
		return api.Refuse(http.StatusBadRequest, "invalid_request", "the source does not define the results of runners").At("mock")
	case len(m.Answers) == 0 || len(m.Answers) > MaxAnswers:
		return api.Refuse(http.StatusBadRequest, "invalid_request", "%d answers; a mock has 1 to %d", len(m.Answers), MaxAnswers).At("mock")
	}
	return c.network.Mock(*m)
}

func (c *Conversation) takeSnapshot() (any, error) {
	if len(c.reverts) == MaxSnapshots {
		return nil, api.Refuse(http.StatusConflict, "too_many_snapshots", "a bench keeps at most %d snapshots", MaxSnapshots).
			Hint("Revert to one again and again, or start another bench.")
	}
	revert, err := c.network.Snapshot()
	if err != nil {
		return nil, err
	}
	c.reverts = append(c.reverts, revert)
	return struct {
		Snapshot int `json:"snapshot"`
	}{len(c.reverts)}, nil
}

func (c *Conversation) revertTo(number int) (any, error) {
	if number < 1 || number > len(c.reverts) {
		return nil, api.Refuse(http.StatusNotFound, "unknown_snapshot", "there is no snapshot %d", number).At("snapshot")
	}
	if err := c.reverts[number-1](); err != nil {
		return nil, err
	}
	c.server.Reverted()
	return struct{}{}, nil
}

func (c *Conversation) runFor(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d > MaxRun {
		return api.Refuse(http.StatusBadRequest, "invalid_duration", "%.40q is not a duration up to %v", text, MaxRun).
			Hint("Write it with its unit: 20ms, 1.5s.").At("for")
	}
	return c.network.Run(d)
}

// holdForReaders serves the HTTP API of the network as it is on an address until the next frame comes.
func (c *Conversation) holdForReaders(ctx context.Context, address string) (any, error) {
	if host, _, err := net.SplitHostPort(address); err != nil || !net.ParseIP(host).IsLoopback() {
		return nil, api.Refuse(http.StatusBadRequest, "invalid_request", "%.80q is no address of this machine alone", address).
			Hint("Give 127.0.0.1:PORT; port 0: any.").At("address")
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, api.Refuse(http.StatusConflict, "address_taken", "cannot listen on %s: %v", address, err).
			Hint("Stop what listens there, or give port 0.").At("address")
	}
	c.held = api.HTTPServer(c.server, ctx)
	go func() { _ = c.held.Serve(api.Bounded(listener)) }() // until release
	c.server.Unlock()
	return struct {
		Address string `json:"address"`
	}{listener.Addr().String()}, nil
}

// releaseHold takes the network back from those to whom it is served.
func (c *Conversation) releaseHold() error {
	if c.held == nil {
		return nil
	}
	held := c.held
	c.held = nil
	err := held.Close()
	c.server.Lock() // a request may be under way still
	return err
}

func (c *Conversation) closeNetwork() error {
	if c.network == nil {
		return nil
	}
	err := c.releaseHold()
	return errors.Join(err, c.server.Close(), c.network.Close())
}
