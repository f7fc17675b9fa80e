package control

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// Limits of what a validator asks its driver.
const (
	// maxAsks bounds the questions that wait for an answer.
	maxAsks = 64
	// askPatience is how long a driver may take that is given no other time: a process
	// starts meanwhile.
	askPatience = 90 * time.Second
)

// Ask is what a validator has its driver do, on behalf of whoever asked the validator.
type Ask struct {
	ID    uint64          `json:"id"`
	Verb  string          `json:"verb"` // of the words below
	Name  string          `json:"name,omitempty"`
	Owner types.Address   `json:"owner"` // of a runner that is to be registered
	On    bool            `json:"on,omitempty"`
	To    types.Height    `json:"to,omitempty"`
	Moved time.Duration   `json:"moved_ns,omitempty"`
	Job   types.Hash      `json:"job"`
	Given execution.Given `json:"given"`
}

// What a driver is asked for: box.Driver says what each means.
const (
	AskPace           = "pace"
	AskTravel         = "travel"
	AskStartValidator = "start_validator"
	AskPrepareRunner  = "prepare_runner"
	AskStartRunner    = "start_runner"
	AskReloadRunner   = "reload_runner"
	AskAnswerJob      = "answer_job"
)

// Reply is a driver's answer.
type Reply struct {
	ID       uint64          `json:"id"`
	Refusal  *refusal        `json:"refusal,omitempty"`
	Joining  box.Joining     `json:"joining"`
	Answered []types.Address `json:"answered,omitempty"`
}

// Refuse has a reply say why nothing was done.
func (r *Reply) Refuse(err error) {
	refused := readable(err)
	r.Refusal = &refusal{refused.Status, refused.Body}
}

// asks are the questions of a validator to its driver.
type asks struct {
	mu      sync.Mutex
	drivers int // who read the questions now
	last    uint64
	open    []Ask // in their order, those that are answered removed
	waiting map[uint64]chan Reply
	more    chan struct{} // closed when there is one more
}

func newAsks() *asks { return &asks{waiting: map[uint64]chan Reply{}, more: make(chan struct{})} }

// listens reports whether a driver reads the questions.
func (a *asks) listens() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.drivers > 0
}

// attend counts a driver that begins to read, until it calls what is returned.
func (a *asks) attend() (leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.drivers++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.drivers--
	}
}

// after are the open questions behind a number, and what tells of more.
func (a *asks) after(id uint64) (all []Ask, more <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range a.open {
		if one.ID > id {
			all = append(all, one)
		}
	}
	return all, a.more
}

// put asks, and returns where the answer comes.
func (a *asks) put(one Ask) (uint64, <-chan Reply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open) >= maxAsks {
		return 0, nil, api.Refuse(http.StatusTooManyRequests, "busy", "%d orders wait for the driver of this network", maxAsks).Hint("Ask again.")
	}
	a.last++
	one.ID = a.last
	answer := make(chan Reply, 1)
	a.open, a.waiting[one.ID] = append(a.open, one), answer
	close(a.more)
	a.more = make(chan struct{})
	return one.ID, answer, nil
}

// drop forgets a question; it returns where its answer would come, nil where nobody
// waits for that.
func (a *asks) drop(id uint64) chan Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.open {
		if a.open[i].ID == id {
			a.open = append(a.open[:i:i], a.open[i+1:]...)
			break
		}
	}
	answer := a.waiting[id]
	delete(a.waiting, id)
	return answer
}

// ask asks the driver and waits for its answer, but not for ever.
func (a *asks) ask(ctx context.Context, one Ask) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	id, answer, err := a.put(one)
	if err != nil {
		return Reply{}, err
	}
	select {
	case r := <-answer:
		if r.Refusal != nil {
			return r, &api.Error{Status: r.Refusal.Status, Body: r.Refusal.Error}
		}
		return r, nil
	case <-ctx.Done():
		a.drop(id)
		return Reply{}, api.Refuse(http.StatusServiceUnavailable, "no_driver", "who drives this network did not answer: %v", ctx.Err()).
			Hint("It may have been done all the same: look before you ask again.")
	}
}

var _ box.Driver = (*ValidatorSeat)(nil)

// Listens implements box.Driver.
func (s *ValidatorSeat) Listens() bool { return s.asks.listens() }

// Pace implements box.Driver.
func (s *ValidatorSeat) Pace(paused bool) error {
	_, err := s.asks.ask(s.ended, Ask{Verb: AskPace, On: paused})
	return err
}

// Travel implements box.Driver.
func (s *ValidatorSeat) Travel(ctx context.Context, to types.Height, moved time.Duration) error {
	_, err := s.asks.ask(ctx, Ask{Verb: AskTravel, To: to, Moved: moved})
	return err
}

// StartValidator implements box.Driver.
func (s *ValidatorSeat) StartValidator(ctx context.Context, name string) (box.Joining, error) {
	r, err := s.asks.ask(ctx, Ask{Verb: AskStartValidator, Name: name})
	return r.Joining, err
}

// PrepareRunner implements box.Driver.
func (s *ValidatorSeat) PrepareRunner(name string, owner types.Address) (box.Joining, error) {
	r, err := s.asks.ask(s.ended, Ask{Verb: AskPrepareRunner, Name: name, Owner: owner})
	return r.Joining, err
}

// StartRunner implements box.Driver.
func (s *ValidatorSeat) StartRunner(name string) error {
	_, err := s.asks.ask(s.ended, Ask{Verb: AskStartRunner, Name: name})
	return err
}

// ReloadRunner implements box.Driver.
func (s *ValidatorSeat) ReloadRunner(name string) error {
	_, err := s.asks.ask(s.ended, Ask{Verb: AskReloadRunner, Name: name})
	return err
}

// AnswerJob implements box.Driver.
func (s *ValidatorSeat) AnswerJob(job types.Hash, given execution.Given) ([]types.Address, error) {
	r, err := s.asks.ask(s.ended, Ask{Verb: AskAnswerJob, Job: job, Given: given})
	return r.Answered, err
}

// streamAsks tells a driver what it is to do.
func (s *ValidatorSeat) streamAsks(w http.ResponseWriter, r *http.Request) {
	defer s.asks.attend()()
	at := uint64(0)
	s.stream(w, r, func() (lines []any, more <-chan struct{}, err error) {
		all, more := s.asks.after(at)
		for i := range all {
			lines, at = append(lines, &all[i]), all[i].ID
		}
		return lines, more, nil
	})
}

// reply takes a driver's answer. Who gave up waiting does not hear it.
func (s *ValidatorSeat) reply(_ context.Context, r Reply) (empty, error) {
	if answer := s.asks.drop(r.ID); answer != nil {
		answer <- r
	}
	return empty{}, nil
}

// Asks tells each of what the validator has its driver do, until ctx ends or the stream
// breaks off. What it asked before and was not answered comes again.
func (c *Client) Asks(ctx context.Context, each func(Ask)) error {
	return c.lines(ctx, "asks", func(line []byte) error {
		var a Ask
		err := json.Unmarshal(line, &a)
		if err == nil {
			each(a)
		}
		return err
	})
}

// Reply answers what the validator asked.
func (c *Client) Reply(ctx context.Context, r Reply) error {
	_, err := ask[empty](ctx, c, "reply", r)
	return err
}
