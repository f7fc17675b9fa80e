package chainhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/polling"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
	"github.com/cowboyinc/devnet/internal/environment/env"
)

const (
	// maxAsked bounds the questions under way: a result for each of a runner's jobs, and a
	// few more. Further ones are lost.
	maxAsked = 1_100
	// findAfter is how long a URL that does not say which validators it serves is not asked
	// for that again.
	findAfter = 10 * time.Second
)

// Polls is env.Polls over a devnet's HTTP API (decision J11): GET /runner/{address}/jobs,
// POST /runner/{address}/job_result, /job_refusal and /heartbeat. A question goes to the URL that serves
// its validator by GET /validators. While that is not known, one URL after another is asked.
type Polls struct {
	*View
	turns chan struct{} // one for each question under way

	config Config

	mu     sync.Mutex
	signed uint64                       // the time of the last signed poll
	serves map[types.Address]servingURL // which URL serves which validator
	found  []time.Time                  // when each URL was asked for that last
	next   int                          // the URL whose turn it is
	tell   func(polling.Answer)
}

// servingURL is a validator at a URL, and the name it is asked by there.
type servingURL struct{ base, name string }

var _ env.Polls = (*Polls)(nil)

// NewPolls makes the polls of a runner. No URL is asked before Start.
func NewPolls(c Config) (*Polls, error) {
	v, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Polls{View: v, config: c, turns: make(chan struct{}, maxAsked), serves: map[types.Address]servingURL{},
		found: make([]time.Time, len(v.bases))}, nil
}

// Start implements env.Polls.
func (p *Polls) Start(receive func(polling.Answer)) error {
	p.tell = receive
	return nil
}

// Ask implements env.Polls.
func (p *Polls) Ask(q polling.Question) {
	select {
	case p.turns <- struct{}{}:
	default:
		return
	}
	p.wg.Go(func() {
		defer func() { <-p.turns }()
		a := p.answerQuestion(q)
		if p.ctx.Err() == nil {
			p.tell(a)
		}
	})
}

// answerQuestion asks, and reads what is answered.
func (p *Polls) answerQuestion(q polling.Question) polling.Answer {
	a := polling.Answer{ID: q.ID}
	base, node := p.routeTo(q.Validator.Address)
	err := p.putQuestion(base, node, &q, &a)
	var refusal *statusError
	switch {
	case errors.As(err, &refusal) && refusal.status < http.StatusInternalServerError:
		a.Refused = refusal.Error()
	case err != nil:
		a.Lost = true
		p.forgetRoute(q.Validator.Address)
	}
	return a
}

// putQuestion puts a question to a validator at a URL, and keeps what jobs are answered.
func (p *Polls) putQuestion(base, node string, q *polling.Question, a *polling.Answer) error {
	path := "/runner/" + p.runner.String()
	switch {
	case q.Result != nil:
		return p.exchangeJSON(base, node, path+"/job_result", map[string]any{"job_id": q.Result.JobID,
			"result_data": types.Bytes(q.Result.ResultData), "runner_signed": q.Result.RunnerSigned, "commit_signed": q.Result.CommitSigned}, nil)
	case q.Refusal != nil:
		return p.exchangeJSON(base, node, path+"/job_refusal", map[string]any{"job_id": q.Refusal.JobID,
			"reject": q.Refusal.Status.Reject, "reason": q.Refusal.Reason, "refusal_signed": q.Refusal.RefusalSigned}, nil)
	case q.Heartbeat != nil:
		return p.exchangeJSON(base, node, path+"/heartbeat", map[string]any{"block_height": q.Heartbeat.BlockHeight,
			"nonce": q.Heartbeat.Nonce, "signed": q.Heartbeat.Signed}, nil)
	}
	query := url.Values{}
	if !q.After.IsZero() {
		query.Set("after", q.After.String())
	}
	p.signPoll(query)
	var told []polledJob
	header, err := p.exchangeWithQuery(base, node, path+"/jobs", query, nil, &told)
	if err != nil {
		return err
	}
	for i := range told[:min(len(told), polling.MaxJobs)] {
		if j, is := told[i].decodeJob(); is {
			a.Jobs = append(a.Jobs, j)
		}
	}
	a.Next, err = polling.ParseCursor(header.Get(polling.NextPage))
	return err
}

// signPoll signs a poll by the present time, and later than the poll before (decision J24).
func (p *Polls) signPoll(query url.Values) {
	if p.config.Sign == nil {
		return
	}
	p.mu.Lock()
	p.signed = max(p.signed+1, uint64(time.Now().UnixMilli()))
	at := p.signed
	p.mu.Unlock()
	signature := p.config.Sign(polling.Digest(p.config.ChainID, at))
	query.Set("at", strconv.FormatUint(at, 10))
	query.Set("signed", signature.String())
}

// polledJob is a job as it is answered.
type polledJob struct {
	JobID         types.Hash   `json:"job_id"`
	JobSpec       types.Bytes  `json:"job_spec"`
	BlockHeight   types.Height `json:"block_height"`
	DeadlineBlock types.Height `json:"deadline_block"`
}

// decodeJob decodes the job; false: its spec is malformed.
func (j *polledJob) decodeJob() (polling.Job, bool) {
	spec := new(push.JobSpec)
	if err := spec.UnmarshalCBOR(j.JobSpec); err != nil {
		return polling.Job{}, false
	}
	return polling.Job{ID: execution.ID{Job: j.JobID, Drawn: j.BlockHeight}, Spec: spec, Deadline: j.DeadlineBlock}, true
}

// exchangeJSON asks a URL by GET, or with a body by POST, and reads the answer.
func (p *Polls) exchangeJSON(base, node, path string, body, into any) error {
	_, err := p.exchangeWithQuery(base, node, path, url.Values{}, body, into)
	return err
}

// exchangeWithQuery asks as exchange does, with a query, and returns the header of the answer too.
func (p *Polls) exchangeWithQuery(base, node, path string, query url.Values, body, into any) (http.Header, error) {
	ctx, cancel := context.WithTimeout(p.ctx, askTime)
	defer cancel()
	method, content := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		var err error
		if content, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	if node != "" {
		query.Set("node", node)
	}
	target := base + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return p.fetchJSON(request, path, into)
}

// routeTo is the URL of a validator and its name there. If no URL is known to serve it, it is
// the URL whose turn it is.
func (p *Polls) routeTo(validator types.Address) (base, node string) {
	p.mu.Lock()
	at, known := p.serves[validator]
	turn := p.next % len(p.bases)
	var look bool
	if !known {
		p.next++
		look = time.Since(p.found[turn]) >= findAfter
		if look {
			p.found[turn] = time.Now()
		}
	}
	p.mu.Unlock()
	if known {
		return at.base, at.name
	}
	base = p.bases[turn]
	if look {
		p.findValidatorsAt(base)
		p.mu.Lock()
		defer p.mu.Unlock()
		if at, known := p.serves[validator]; known {
			return at.base, at.name
		}
	}
	return base, ""
}

// findValidatorsAt learns which validators a URL serves.
func (p *Polls) findValidatorsAt(base string) {
	var all []struct {
		Name      string        `json:"name"`
		Address   types.Address `json:"address"`
		Elsewhere bool          `json:"elsewhere"`
	}
	if err := p.exchangeJSON(base, "", "/validators", nil, &all); err != nil || len(all) > maxServed {
		return // it is asked without a name
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, v := range all {
		if _, known := p.serves[v.Address]; !known && !v.Elsewhere && len(p.serves) < maxServed {
			p.serves[v.Address] = servingURL{base, v.Name}
		}
	}
}

// maxServed bounds the validators that URLs are known to serve.
const maxServed = 2_000

// forgetRoute has another URL be looked for that serves a validator.
func (p *Polls) forgetRoute(validator types.Address) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.serves, validator)
}

// Close implements env.Polls.
func (p *Polls) Close() error {
	if err := p.View.Close(); err != nil {
		return fmt.Errorf("poll: %w", err)
	}
	return nil
}
