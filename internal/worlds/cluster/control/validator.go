package control

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/network"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/gateway"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// answerTimeout is how long a validator may take to answer a question.
const answerTimeout = 10 * time.Second

// Validator is a validator in its own process, for its server.
type Validator interface {
	Name() string
	Shell() *validators.Validator // the running one, or the one that ran last
	Failure() error               // why it stopped by itself, or nil
	Socket() netip.AddrPort
	// SetRules replaces what happens to the packets that it sends. Mute ends all its sending.
	SetRules(map[netip.AddrPort]lossy.Rule)
	Mute()
	// Do begins or ends a fault in its process: network.Node defines them.
	Do(o *fault.Order, counts *fault.Counts, over func(after time.Duration)) error
	Pause(on bool) // stops or resumes its making of blocks
	// Call names another node, and Belongs the URL of the whole network's API.
	Call(a types.Address, name string)
	Belongs(url string)
	// Travelled is how far time travel came, as it is on disk. SetTravel moves the clock, and keeps that with the goal for the next start.
	Travelled() network.Travel
	SetTravel(network.Travel) error
}

// ValidatorServer is the control server of a validator. Its process tells it what the validator does
// from the first moment on; it answers from Begin on.
type ValidatorServer struct {
	*server
	hearing *reports
	node    Validator

	mu   sync.Mutex
	boot *Boot
	news chan struct{} // closed when a block is final
}

// NewValidatorServer makes the server of a validator whose supervisor sends a secret. With
// strict the driver reads and submits, and gives no orders.
func NewValidatorServer(secret string, strict bool) *ValidatorServer {
	s := &ValidatorServer{server: newSeat(secret, strict), hearing: newReports(), news: make(chan struct{})}
	handleRequests(s.server, "hello", s.serveHello)
	handleRequests(s.server, "status", s.serveStatus)
	handleOrders(s.server, "order", s.server.answerWithCounts(s.serveOrder))
	handleOrders(s.server, "clock", s.serveClock)
	handleOrders(s.server, "pause", s.servePause)
	handleOrders(s.server, "skip", s.serveSkip)
	handleRequests(s.server, "submit", s.serveSubmit)
	handleRequests(s.server, "waiting", s.serveWaiting)
	handleRequests(s.server, "nonce", s.serveNonce)
	handleRequests(s.server, "heartbeat", s.serveHeartbeat)
	handleRequests(s.server, "result", s.serveResult)
	handleRequests(s.server, "refusal", s.serveRefusal)
	handleRequests(s.server, "heard", func(context.Context, empty) (heardAnswer, error) { return s.hearing.latestNumber(), nil })
	handleRequests(s.server, "call", s.serveCall)
	s.mux.HandleFunc("GET "+Path+"final", s.streamFinal)
	s.mux.HandleFunc("GET "+Path+"heard", s.streamReports)
	return s
}

// Begin lets it answer for a validator that runs.
func (s *ValidatorServer) Begin(node Validator) {
	s.node = node
	s.server.rules, s.server.mute = node.SetRules, node.Mute
	s.beginServing()
}

// Observe is called for the blocks that the validator made final.
func (s *ValidatorServer) Observe(validators.FinalBlocks) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.news)
	s.news = make(chan struct{})
}

// Booted is told what the validator began with: the last block that it has, and the
// root of the state after that.
func (s *ValidatorServer) Booted(header *types.Header, hash, root types.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boot = &Boot{Header: codec.Marshal(header), Hash: hash, Root: root}
}

// Overhear is called for each frame that leaves the validator.
func (s *ValidatorServer) Overhear(_ types.Address, frame []byte) { s.hearing.recordVote(frame) }

// Tell is told what its consensus reports.
func (s *ValidatorServer) Tell(_ types.Time, _ string, report simplex.Report) {
	if one, is := consensusReport(report); is {
		s.hearing.addReport(one)
	}
}

// Gateway is told what its gateway reports.
func (s *ValidatorServer) Gateway(_ types.Address, report gateway.Report) {
	if one, is := gatewayReport(report); is {
		s.hearing.addReport(one)
	}
}

// Dropped is called for the transactions that it gave up.
func (s *ValidatorServer) Dropped(hash types.Hash, why string) {
	s.hearing.addReport(Report{Kind: heardDropped, Hash: &hash, Detail: why})
}

func (s *ValidatorServer) serveHello(context.Context, empty) (Hello, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Hello{Life: s.life, Name: s.node.Name(), Address: s.node.Shell().Status().Address,
		Socket: reachableAddress(s.node.Socket()).String(),
		Boot:   s.boot, Travel: travelledOf(s.node.Travelled())}, nil
}

func (s *ValidatorServer) serveStatus(context.Context, empty) (out ValidatorStatus, err error) {
	v := s.node.Shell()
	out.Status = v.Status()
	out.Round = out.Status.Round
	for _, c := range v.Connections() {
		out.Runners = append(out.Runners, Connected{c.Runner, c.Accepting, c.Changes})
	}
	if failure := s.node.Failure(); failure != nil {
		out.Failure = failure.Error()
	}
	return out, nil
}

func (s *ValidatorServer) serveOrder(ctx context.Context, r orderRequest) error {
	return s.faults.executeOrder(ctx, r, fault.Validators, s.node.Do)
}

func (s *ValidatorServer) serveClock(_ context.Context, r clockRequest) (empty, error) {
	if r.Clock.Abs() > MaxOffset {
		return empty{}, fmt.Errorf("a clock is put ahead by at most %v", MaxOffset)
	}
	return empty{}, s.node.SetTravel(r.Record())
}

func (s *ValidatorServer) servePause(_ context.Context, r pauseRequest) (empty, error) {
	s.node.Pause(r.On)
	return empty{}, nil
}

func (s *ValidatorServer) serveCall(_ context.Context, r callRequest) (empty, error) {
	if len(r.Names) > maxNames {
		return empty{}, fmt.Errorf("%d names, at most %d", len(r.Names), maxNames)
	}
	for address, name := range r.Names {
		s.node.Call(address, name)
	}
	if r.Network != "" {
		s.node.Belongs(r.Network)
	}
	return empty{}, nil
}

// serveSkip answers when the validator knows where to go.
func (s *ValidatorServer) serveSkip(ctx context.Context, r skipRequest) (empty, error) {
	travel := s.node.Shell().SkipTo
	if r.Every {
		travel = s.node.Shell().MakeTo
	}
	return awaitAnswer(ctx, func(done func(empty)) { travel(r.To, func() { done(empty{}) }) })
}

func (s *ValidatorServer) serveSubmit(ctx context.Context, r submitRequest) (hashAnswer, error) {
	return awaitHash(ctx, func(done func(types.Hash, error)) { s.node.Shell().Submit(r.Raw, done) })
}

func (s *ValidatorServer) serveWaiting(ctx context.Context, r hashAnswer) (out waitingAnswer, err error) {
	found, err := awaitAnswer(ctx, func(done func(*ledger.Checked)) { s.node.Shell().Waiting(r.Hash, done) })
	if err == nil && found != nil {
		out = waitingAnswer{found.Tx.Encode(), found.Sender}
	}
	return out, err
}

func (s *ValidatorServer) serveNonce(ctx context.Context, r nonceRequest) (out nonceAnswer, err error) {
	out.Nonce, err = awaitAnswer(ctx, func(done func(types.Nonce)) { s.node.Shell().NextNonce(r.Account, r.Final, done) })
	return out, err
}

// Brought is what a runner brings that polls.
type Brought struct {
	Runner  types.Address       `json:"runner"`
	Ping    *push.HeartbeatPing `json:"ping,omitempty"`
	Result  *push.JobResult     `json:"result,omitempty"`
	Refusal *push.JobAck        `json:"refusal,omitempty"`
}

func (s *ValidatorServer) serveHeartbeat(ctx context.Context, r Brought) (hashAnswer, error) {
	if r.Ping == nil {
		return hashAnswer{}, errors.New("there is no ping")
	}
	return awaitHash(ctx, func(done func(types.Hash, error)) { s.node.Shell().BringHeartbeat(r.Runner, r.Ping, done) })
}

func (s *ValidatorServer) serveResult(ctx context.Context, r Brought) (empty, error) {
	if r.Result == nil {
		return empty{}, errors.New("there is no result")
	}
	return awaitSubmission(ctx, func(done func(error)) { s.node.Shell().BringResult(r.Runner, r.Result, done) })
}

func (s *ValidatorServer) serveRefusal(ctx context.Context, r Brought) (empty, error) {
	if r.Refusal == nil {
		return empty{}, errors.New("there is no refusal")
	}
	return awaitSubmission(ctx, func(done func(error)) { s.node.Shell().BringRefusal(r.Runner, r.Refusal, done) })
}

// awaitSubmission waits for the validator's answer to a submission.
func awaitSubmission(ctx context.Context, hand func(done func(error))) (empty, error) {
	_, err := awaitHash(ctx, func(done func(types.Hash, error)) { hand(func(err error) { done(types.Hash{}, err) }) })
	return empty{}, err
}

// awaitHash waits for the validator's answer to a transaction.
func awaitHash(ctx context.Context, hand func(done func(types.Hash, error))) (hashAnswer, error) {
	type answer struct {
		hash types.Hash
		err  error
	}
	a, err := awaitAnswer(ctx, func(done func(answer)) { hand(func(hash types.Hash, err error) { done(answer{hash, err}) }) })
	if err == nil {
		err = validators.Refusal(a.err)
	}
	return hashAnswer{a.hash}, err
}

// awaitAnswer waits for an answer, with a limit.
func awaitAnswer[T any](ctx context.Context, ask func(done func(T))) (answer T, err error) {
	answers := make(chan T, 1)
	ask(func(a T) { answers <- a })
	wait, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	select {
	case answer = <-answers:
		return answer, nil
	case <-wait.Done():
		return answer, refusal.New("no_answer", "the validator did not answer: %v", wait.Err())
	}
}

// maxFinalLines bounds the blocks that are read at once for a driver.
const maxFinalLines = 64

// streamFinal writes the blocks above a height that are final and in the store.
func (s *ValidatorServer) streamFinal(w http.ResponseWriter, r *http.Request) {
	after, ok := numberIn(w, r, "after")
	if !ok {
		return
	}
	at := types.Height(after)
	s.streamLines(w, r, func() (lines []any, more <-chan struct{}, err error) {
		s.mu.Lock()
		more = s.news
		s.mu.Unlock()
		v := s.node.Shell()
		head := v.Head()
		for len(lines) < maxFinalLines && at < head.Block.Header.Height {
			next, err := v.Archive().Next(at + 1)
			if err != nil || next == 0 {
				return nil, nil, errors.Join(err, fmt.Errorf("no block above %d is kept", at))
			}
			stored, err := v.Archive().Block(next)
			if err != nil || stored == nil {
				return nil, nil, errors.Join(err, fmt.Errorf("block %d is gone", next))
			}
			line := finalLine{Block: codec.Marshal(stored.Block)}
			if stored.Finalization != nil {
				line.Finalization = codec.Marshal(stored.Finalization)
			}
			if stored.Hash == head.Hash {
				line.Root = head.State.Root()
			}
			lines, at = append(lines, line), next
		}
		return lines, more, nil
	})
}

func (s *ValidatorServer) streamReports(w http.ResponseWriter, r *http.Request) {
	at, ok := numberIn(w, r, "after")
	if !ok {
		return
	}
	s.streamLines(w, r, func() (lines []any, more <-chan struct{}, err error) {
		all, more := s.hearing.listAfter(at)
		for i := range all {
			lines, at = append(lines, &all[i]), all[i].Seq
		}
		return lines, more, nil
	})
}

func numberIn(w http.ResponseWriter, r *http.Request, name string) (uint64, bool) {
	n, err := strconv.ParseUint(r.URL.Query().Get(name), 10, 64)
	if err != nil {
		writeRefusal(w, refusal.New("invalid_request", "%s: %v", name, err).At(name))
		return 0, false
	}
	return n, true
}
