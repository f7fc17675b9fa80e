package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// askTimeout is how long a node may take to answer.
const askTimeout = 15 * time.Second

// Client drives one node.
type Client struct {
	base   func() string // the URL of its API, as it is now
	secret string
	http   *http.Client
}

// NewClient drives the node at a URL, which may change between two requests.
func NewClient(base func() string, secret string) *Client {
	return &Client{base: base, secret: secret, http: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close lets its connections go.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) sendRequest(ctx context.Context, method, word string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base()+Path+word, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.secret)
	r.Header.Set("Content-Type", "application/json")
	return c.http.Do(r)
}

// askNode asks a node. A refusal by the node is a *refusal.Error.
func askNode[Out any](ctx context.Context, c *Client, word string, in any) (out Out, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	answer, err := c.sendRequest(ctx, http.MethodPost, word, body)
	if err != nil {
		return out, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return out, err
	case len(data) > maxAnswer:
		return out, fmt.Errorf("%s: the answer has more than %d bytes", word, maxAnswer)
	case answer.StatusCode != http.StatusOK:
		var r refusedAnswer
		if json.Unmarshal(data, &r) != nil || r.Error.Message == "" {
			return out, fmt.Errorf("%s: the node answers %s", word, answer.Status)
		}
		return out, &refusal.Error{Code: r.Error.Code, Message: r.Error.Message, Remedy: r.Error.Hint, Field: r.Error.Field}
	}
	return out, json.Unmarshal(data, &out)
}

// Hello asks for the identity of the node.
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	return askNode[Hello](ctx, c, "hello", empty{})
}

// ValidatorStatus and RunnerStatus ask for the status of a node.
func (c *Client) ValidatorStatus(ctx context.Context) (ValidatorStatus, error) {
	s, err := askNode[ValidatorStatus](ctx, c, "status", empty{})
	s.Status.Round = s.Round
	return s, err
}

// RunnerStatus asks for the status of a runner.
func (c *Client) RunnerStatus(ctx context.Context) (RunnerStatus, error) {
	return askNode[RunnerStatus](ctx, c, "status", empty{})
}

// Order orders the node to apply a fault to itself. Its effects are counted under a
// number, 0 where it ends what another began.
func (c *Client) Order(ctx context.Context, number int, o fault.Order) ([]Count, error) {
	answer, err := askNode[countsAnswer](ctx, c, "order", orderRequest{number, o})
	return answer.Faults, err
}

// SetRules replaces what happens to the packets that the node sends.
func (c *Client) SetRules(ctx context.Context, rules []Rule) error {
	_, err := askNode[empty](ctx, c, "rules", rulesRequest{rules})
	return err
}

// Mute stops the node from sending anything: its process is about to be killed, which
// may take its carrier a while.
func (c *Client) Mute(ctx context.Context) error {
	_, err := askNode[empty](ctx, c, "mute", empty{})
	return err
}

// Counts asks what the faults of the node did so far.
func (c *Client) Counts(ctx context.Context) ([]Count, error) {
	answer, err := askNode[countsAnswer](ctx, c, "counts", countsRequest{})
	return answer.Faults, err
}

// SetTravel moves the node's clock by time travel, and has it keep that and the goal.
func (c *Client) SetTravel(ctx context.Context, t network.Travel) error {
	_, err := askNode[empty](ctx, c, "clock", clockRequest{travelledOf(t)})
	return err
}

// Pause stops the validator from making blocks, or lets it resume.
func (c *Client) Pause(ctx context.Context, on bool) error {
	_, err := askNode[empty](ctx, c, "pause", pauseRequest{on})
	return err
}

// Call names nodes to the validator, and the URL of the whole network's API.
func (c *Client) Call(ctx context.Context, names map[types.Address]string, network string) error {
	_, err := askNode[empty](ctx, c, "call", callRequest{names, network})
	return err
}

// SkipTo has the validator travel, with a block at every height if so asked; it returns
// when that knows where to.
func (c *Client) SkipTo(ctx context.Context, to types.Height, every bool) error {
	_, err := askNode[empty](ctx, c, "skip", skipRequest{to, every})
	return err
}

// Submit hands the validator a transaction.
func (c *Client) Submit(ctx context.Context, raw []byte) (types.Hash, error) {
	a, err := askNode[hashAnswer](ctx, c, "submit", submitRequest{raw})
	return a.Hash, err
}

// Waiting asks for a transaction in the validator's pool, nil if it is not in the
// pool.
func (c *Client) Waiting(ctx context.Context, hash types.Hash) (raw []byte, sender types.Address, err error) {
	a, err := askNode[waitingAnswer](ctx, c, "waiting", hashAnswer{hash})
	return a.Raw, a.Sender, err
}

// NextNonce asks for an account's next nonce, by the final state and the validator's
// pool.
func (c *Client) NextNonce(ctx context.Context, a types.Address, final types.Nonce) (types.Nonce, error) {
	answer, err := askNode[nonceAnswer](ctx, c, "nonce", nonceRequest{a, final})
	return answer.Nonce, err
}

// Bring hands the validator what a runner brings that polls: a ping, a result or a refusal.
func (c *Client) Bring(ctx context.Context, b Brought) (types.Hash, error) {
	switch {
	case b.Result != nil:
		_, err := askNode[empty](ctx, c, "result", b)
		return types.Hash{}, err
	case b.Refusal != nil:
		_, err := askNode[empty](ctx, c, "refusal", b)
		return types.Hash{}, err
	}
	a, err := askNode[hashAnswer](ctx, c, "heartbeat", b)
	return a.Hash, err
}

// Answer gives the runner the result of a job that waits to be answered by hand, or says
// how far it is.
func (c *Client) Answer(ctx context.Context, job types.Hash, given execution.Given) error {
	_, err := askNode[empty](ctx, c, "answer", answerRequest{job, given})
	return err
}

// Show tells the runner that its driver has seen the blocks up to a height: work that
// they drew it for may begin.
func (c *Client) Show(ctx context.Context, height types.Height) error {
	_, err := askNode[empty](ctx, c, "show", showRequest{height})
	return err
}

// Reload makes the runner read its settings again.
func (c *Client) Reload(ctx context.Context) error {
	_, err := askNode[empty](ctx, c, "reload", empty{})
	return err
}

// Leave orders the runner to say Goodbye; with finish, when its accepted jobs are
// over.
func (c *Client) Leave(ctx context.Context, finish bool) error {
	_, err := askNode[empty](ctx, c, "leave", leaveRequest{finish})
	return err
}

// Latest returns the number of the latest event of the validator, and whether unread
// events were dropped.
func (c *Client) Latest(ctx context.Context) (seq uint64, missed bool, err error) {
	a, err := askNode[heardAnswer](ctx, c, "heard", empty{})
	return a.Seq, a.Missed, err
}

// Final is a block that the validator made final.
type Final struct {
	Block        *types.Block
	Finalization *types.Certificate // nil where a descendant's made it final
	Root         types.Hash         // of the validator's own state after it; zero where it did not say
}

// Finals calls each for the blocks that the validator makes final above a height,
// in their order, until ctx ends or the stream breaks off.
func (c *Client) Finals(ctx context.Context, after types.Height, each func(Final) error) error {
	return c.readLines(ctx, fmt.Sprintf("final?after=%d", after), func(line []byte) error {
		var l finalLine
		if err := decodeStrict(line, &l); err != nil {
			return err
		}
		f := Final{Block: new(types.Block), Root: l.Root}
		if err := codec.Unmarshal(l.Block, types.MaxBlockBytes+1024, f.Block); err != nil {
			return err
		}
		if l.Finalization != nil {
			f.Finalization = new(types.Certificate)
			if err := codec.Unmarshal(l.Finalization, types.MaxBlockBytes, f.Finalization); err != nil {
				return err
			}
		}
		return each(f)
	})
}

// Reports calls each for the validator's events after a number.
func (c *Client) Reports(ctx context.Context, after uint64, each func(*Report) error) error {
	return c.readLines(ctx, fmt.Sprintf("heard?after=%d", after), func(line []byte) error {
		var h Report
		if err := decodeStrict(line, &h); err != nil {
			return err
		}
		return each(&h)
	})
}

func (c *Client) readLines(ctx context.Context, word string, each func([]byte) error) error {
	answer, err := c.sendRequest(ctx, http.MethodGet, word, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: the node answers %s", word, answer.Status)
	}
	reader := bufio.NewScanner(answer.Body)
	reader.Buffer(make([]byte, 0, 64<<10), maxLine)
	for reader.Scan() {
		if err := each(reader.Bytes()); err != nil {
			return err
		}
	}
	return errors.Join(reader.Err(), io.EOF)
}
