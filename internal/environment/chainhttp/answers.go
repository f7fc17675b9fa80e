package chainhttp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/execution"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// statusError is an answer other than 200.
type statusError struct {
	what   string // method and path
	status int
	code   string
}

func (e *statusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %d %.40s", e.what, e.status, e.code))
}

// isNotFound reports whether an error says that there is no such thing on the chain.
func isNotFound(err error) bool {
	var r *statusError
	return errors.As(err, &r) && r.status == http.StatusNotFound
}

// getJSON asks for a path and reads its answer.
func (v *View) getJSON(path string, into any) error {
	patience := askTime
	if len(v.bases) > 1 {
		patience = askTimeOfMany
	}
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.currentBase()+path, nil)
	if err != nil {
		return err
	}
	_, err = v.fetchJSON(request, path, into)
	return err
}

// fetchJSON makes a request and reads its answer and its header; into is nil if its content has no
// use.
func (v *View) fetchJSON(request *http.Request, path string, into any) (http.Header, error) {
	answer, err := v.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	what := request.Method + " " + path
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", what, err)
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("%s: the answer has more than %d bytes", what, maxAnswer)
	}
	if answer.StatusCode != http.StatusOK {
		var e struct{ Error struct{ Code string } }
		_ = json.Unmarshal(data, &e) // what has no code is told by its status
		return nil, &statusError{what, answer.StatusCode, e.Error.Code}
	}
	if into == nil {
		return answer.Header, nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return answer.Header, nil
}

func (v *View) askServer(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, v.currentBase()+path, nil)
	if err != nil {
		return nil, err
	}
	return v.client.Do(request)
}

// listenForBlocks wakes the view at each block that the stream of events reports. A stream
// that breaks off is opened again.
func (v *View) listenForBlocks() {
	for v.ctx.Err() == nil {
		ctx, leave := v.streamContext()
		if answer, err := v.askServer(ctx, "/events?type=block"); err == nil {
			if answer.StatusCode == http.StatusOK {
				lines := bufio.NewScanner(answer.Body)
				lines.Buffer(nil, maxLine)
				for lines.Scan() {
					if strings.HasPrefix(lines.Text(), "data:") {
						v.wakeView()
					}
				}
			}
			answer.Body.Close()
		}
		turned := ctx.Err() != nil
		leave()
		if !turned {
			v.restFor(retryAfter)
		}
	}
}

// readParams reads the parameters: all that there are. Further parameters of a devnet
// belong to a later version, and are ignored.
func (v *View) readParams() (*params.Params, error) {
	var all []struct{ Key, Value string }
	if err := v.getJSON("/params", &all); err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, p := range all {
		values[p.Key] = p.Value
	}
	p := params.Defaults()
	for _, info := range params.Keys() {
		if err := p.Set(info.Key, values[info.Key]); err != nil {
			return nil, fmt.Errorf("GET /params: %w", err)
		}
	}
	return &p, nil
}

// maxFound bounds the assignments that one head adds to those that are followed.
const maxFound = 32

// findAssignments adds open assignments that the runner does not follow, if the registry counts more.
// A failure is left to the next head: without it a runner does the pushed assignments.
//
// Spec: decision J11, what no stream brought.
func (v *View) findAssignments(h *chainview.Head, active uint64) {
	open := uint64(0)
	for _, s := range h.Assignments { // order: they are counted
		if s.Open {
			open++
		}
	}
	if active <= open {
		return
	}
	for _, status := range []types.JobStatus{types.JobAssigned, types.JobExecuting} {
		var all []struct {
			ID               types.Hash      `json:"id"`
			Committee        []types.Address `json:"committee"`
			CommitteeDrawnAt []types.Height  `json:"committee_drawn_at"`
		}
		path := fmt.Sprintf("/jobs?order=newest&limit=%d&status=%s&runner=%s", maxFound, status, v.runner)
		if err := v.getJSON(path, &all); err != nil || len(all) > maxFound {
			return
		}
		for _, j := range all {
			drawn, member := drawnOf(v.runner, j.Committee, j.CommitteeDrawnAt)
			if !member || drawn > h.Height {
				continue
			}
			id := execution.ID{Job: j.ID, Drawn: drawn}
			if _, known := h.Assignments[id]; known {
				continue
			}
			if s, err := v.readStanding(id); err == nil && s.Open {
				h.Assignments[id] = s
			}
		}
	}
}

// basis is what one rotation's subsets follow from.
type basis struct {
	MinSubset    uint64         `json:"min_subset"`
	MaxSubset    uint64         `json:"max_subset"`
	PresenceRule selection.Rule `json:"presence_rule"`
	Validators   []struct {
		Address     types.Address   `json:"address"`
		PublicKey   types.PublicKey `json:"public_key"`
		QUICAddress string          `json:"quic_address"`
	} `json:"validators"`
}

// maxEndpoint bounds where a validator listens, in bytes.
const maxEndpoint = 256

// asAssignment returns the basis in the form of package selection.
func (b *basis) asAssignment() (a selection.Assignment, err error) {
	if len(b.Validators) > chainview.MaxValidators/2 {
		return a, fmt.Errorf("%d validators, at most %d", len(b.Validators), chainview.MaxValidators/2)
	}
	rules := []selection.Rule{selection.Quorum, selection.ValidatorSet, selection.Subset, selection.Safe}
	if !slices.Contains(rules, b.PresenceRule) || b.MinSubset > b.MaxSubset {
		return a, fmt.Errorf("subsets of %d to %d by the rule %.40q", b.MinSubset, b.MaxSubset, string(b.PresenceRule))
	}
	a.Constants = selection.Constants{MinSubset: b.MinSubset, MaxSubset: b.MaxSubset, Rule: b.PresenceRule}
	for _, member := range b.Validators {
		if len(member.QUICAddress) > maxEndpoint {
			return a, fmt.Errorf("a validator listens at %.40q…", member.QUICAddress)
		}
		a.Members = append(a.Members, types.Validator{Address: member.Address, PublicKey: member.PublicKey, Endpoint: member.QUICAddress})
	}
	return a, nil
}

// readServingValidators reads the validators that the runner belongs to.
func (v *View) readServingValidators(h *chainview.Head) error {
	var s struct {
		SubsetEpoch   uint64       `json:"subset_epoch"`
		Height        types.Height `json:"height"`
		OverlapBlocks uint64       `json:"overlap_blocks"`
		Current       basis        `json:"current"`
		Former        *basis       `json:"former"`
	}
	if err := v.getJSON("/subsets", &s); err != nil {
		return err
	}
	rotation := selection.Rotation{Epoch: s.SubsetEpoch, Height: min(s.Height, h.Height)}
	var err error
	if rotation.Current, err = s.Current.asAssignment(); err != nil {
		return fmt.Errorf("GET /subsets: %w", err)
	}
	if s.Former != nil {
		former, err := s.Former.asAssignment()
		if err != nil {
			return fmt.Errorf("GET /subsets: %w", err)
		}
		rotation.Former = &former
	}
	pace := selection.Pace{OverlapBlocks: s.OverlapBlocks}
	h.Epoch, h.Overlaps = s.SubsetEpoch, rotation.Overlaps(h.Height, pace)
	h.Validators = rotation.Serving(v.key, h.Height, pace)
	return nil
}

// job is a job as far as its runners need it.
type job struct {
	Runners          uint64          `json:"runners"`
	Committee        []types.Address `json:"committee"`
	Attempts         uint32          `json:"attempts"`
	CommitteeDrawnAt []types.Height  `json:"committee_drawn_at"`
	Deadline         types.Height    `json:"deadline"`
	CommitDeadline   *types.Height   `json:"commit_deadline"`
	CompletedAt      *types.Height   `json:"completed_at"`
	Spec             types.Bytes     `json:"spec"`
}

// drawnOf returns the block that drew a runner of a committee.
func drawnOf(runner types.Address, committee []types.Address, drawnAt []types.Height) (drawn types.Height, member bool) {
	at := slices.Index(committee, runner)
	if at < 0 || at >= len(drawnAt) {
		return 0, false
	}
	return drawnAt[at], true
}

// result is what the chain got of a runner in one draw.
type result struct {
	Runner      types.Address `json:"runner"`
	Attempt     uint32        `json:"attempt"`
	Commitments []struct {
		Height     types.Height `json:"height"`
		Commitment types.Hash   `json:"commitment"`
	} `json:"commitments"`
	RevealedAt *types.Height `json:"revealed_at"`
}

// standingOf returns the status of an open job's last draw for a runner of its
// committee.
func (j *job) standingOf(runner types.Address, all []result) chainview.Standing {
	s := chainview.Standing{Open: true, SpecHash: types.Keccak(j.Spec), Deadline: j.Deadline, Alone: j.Runners == 1}
	last, committed := types.Height(0), 0
	for i := range all {
		r := &all[i]
		if r.Attempt != j.Attempts {
			continue
		}
		if len(r.Commitments) > 0 {
			committed++
			last = max(last, r.Commitments[0].Height)
		}
		if r.Runner != runner {
			continue
		}
		if r.RevealedAt != nil {
			return chainview.Standing{}
		}
		if len(r.Commitments) > 0 {
			s.Commitments = []types.Hash{r.Commitments[0].Commitment} // the first counts (decision J5)
		}
	}
	if j.CommitDeadline != nil {
		s.Reveals = *j.CommitDeadline + 1
		if uint64(committed) >= j.Runners {
			s.Reveals = min(last, *j.CommitDeadline) + 1
		}
	}
	return s
}
