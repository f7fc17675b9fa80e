package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// labouring is a network with three runners, r0 among them, and three jobs.
func labouring(t *testing.T) *world {
	return newWorld(t, func(m *memory) {
		r0 := m.keys["r0"].Address()
		m.phase = "hot"
		m.runners = []model.Runner{
			{Address: r0, Health: "Healthy", Accepting: true, Present: true},
			{Index: 1, Address: types.Address{0xab, 0xcd, 1}, Health: "Unhealthy"},
			{Index: 2, Address: types.Address{0xab, 0xcd, 0xff}, Health: "Deregistered"}}
		for i := range m.runners {
			r := &m.runners[i]
			r.Connected, r.Subset, r.Capabilities, r.Entitlements, r.Heard = []types.Address{}, []types.Address{}, []string{}, []string{},
				[]model.RunnerEvent{}
		}
		m.nodes[0].Runners = []answers.Connected{
			{Runner: r0, Accepting: true, Changes: &model.RunnerChanges{AddedCapabilities: []string{"region:eu"}}},
			{Runner: types.Address{0xab, 0xcd, 1}, Accepting: true}}
		m.nodes[1].Runners = []answers.Connected{{Runner: r0}}
		result := types.Bytes("hello")
		for i, status := range []string{"Completed", "Failed", "Assigned"} {
			j := exampleJob
			j.ID, j.Status, j.Submitter = types.Hash{byte(0x30 + i), 1, 2}, status, m.keys[[]string{"alice", "bob", "bob"}[i]].Address()
			j.Committee = []types.Address{m.runners[i%2].Address}
			if status != "Completed" {
				j.Result, j.Winner = nil, nil
			} else {
				j.Result = &result
			}
			m.jobs = append(m.jobs, j)
		}
		for i := range 5 {
			m.story = append(m.story, model.JobEvent{ID: m.jobs[0].ID, Height: types.Height(i), What: "committed", Committee: []types.Address{}})
		}
		m.turns = []model.JobRunner{{Address: r0, Attempt: 1, Outcome: "silent"}, {Address: r0, Attempt: 2, Outcome: "agreed"}}
		m.results = []model.JobResult{exampleJobResult}
		m.assignments = map[types.Address][]model.PolledJob{r0: {{JobID: m.jobs[2].ID, JobSpec: types.Bytes{1}, BlockHeight: 4,
			DeadlineBlock: 9}}}
		m.presence = map[types.Height]*model.Presence{1: {Height: 1, Rule: "quorum", Threshold: 1, Votes: []model.Vote{},
			Runners: []model.RunnerPresence{{Address: r0, Present: true, Count: 1, Validators: []types.Address{{7}}}}}}
	})
}

func TestJobsAreListedAndFound(t *testing.T) {
	w := labouring(t)
	for query, want := range map[string]string{"": "30 31 32", "?order=newest&limit=2": "32 31", "?status=Failed": "31",
		"?submitter=bob": "31 32", "?runner=r0": "30 32", "?runner=0xabcd01": "31", "?submitter=alice&status=Assigned": "", "?offset=2": "32"} {
		var got []string
		for _, j := range get[[]model.Job](w, "/jobs"+query) {
			got = append(got, fmt.Sprintf("%x", j.ID[0]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("/jobs%s lists %v, want %s", query, got, want)
		}
	}
	id := w.chain.jobs[0].ID.String()
	if j := get[model.Job](w, "/job/"+id); j.Status != "Completed" || string(*j.Result) != "hello" || j.Error != nil {
		t.Errorf("%+v", j)
	}
	if s := get[model.JobState](w, "/job/"+id+"/status"); s.Status != "Completed" || s.ID != w.chain.jobs[0].ID {
		t.Errorf("%+v", s)
	}
	if v := get[model.JobVerified](w, "/job/"+id+"/verified"); !v.Verified || string(*v.Result) != "hello" || *v.Winner != exampleActorAt {
		t.Errorf("%+v", v)
	}
	if v := get[model.JobVerified](w, "/job/"+w.chain.jobs[1].ID.String()+"/verified"); v.Verified || v.Result != nil || v.Winner != nil {
		t.Errorf("%+v", v)
	}
	if r := get[[]model.JobRunner](w, "/job/"+id+"/runners?offset=1"); len(r) != 1 || r[0].Outcome != "agreed" || r[0].CommittedAt != nil {
		t.Errorf("%+v", r)
	}
	if r := get[[]model.JobResult](w, "/job/"+id+"/results"); len(r) != 1 || len(r[0].Commitments) != 1 {
		t.Errorf("%+v", r)
	}
	if s := get[model.JobStory](w, "/job/"+id+"/story"); len(s.Story) != 5 || s.Next != nil || s.Job.ID != w.chain.jobs[0].ID {
		t.Errorf("%+v", s)
	}
	if s := get[model.JobStory](w, "/job/"+id+"/story?offset=1&limit=2"); len(s.Story) != 2 || s.Next == nil || *s.Next != 3 {
		t.Errorf("%+v", s)
	}
	w.refused(404, "unknown_job", "GET", "/job/"+types.Hash{9}.String(), nil)
	w.refused(404, "unknown_prefix", "GET", "/job/0x9999/story", nil)
	w.refused(400, "invalid_hash", "GET", "/job/7/status", nil)
	w.refused(422, "invalid_request", "GET", "/jobs?status=Done", nil)
	w.refused(404, "unknown_runner", "GET", "/jobs?runner=r9", nil)
}

func TestRunnersAreListedAndFound(t *testing.T) {
	w := labouring(t)
	for path, want := range map[string]int{"/runners": 3, "/runners?status=Unhealthy": 1, "/runners/active": 1, "/runners?limit=1&offset=1": 1,
		"/runners/active?offset=1": 0} {
		if got := get[[]model.Runner](w, path); len(got) != want {
			t.Errorf("%s lists %d, want %d", path, len(got), want)
		}
	}
	r := get[model.Runner](w, "/runner/r0")
	if r.DeadLetters == nil || *r.DeadLetters != 7 {
		t.Errorf("r0 has %v dead letters, want 7", r.DeadLetters)
	}
	if far := get[model.Runner](w, "/runner/0xabcd01"); far.DeadLetters != nil {
		t.Errorf("a runner elsewhere has %d dead letters", *far.DeadLetters)
	}
	both := []types.Address{w.chain.nodes[0].Validator.Address, w.chain.nodes[1].Validator.Address}
	slices.SortFunc(both, types.Address.Compare)
	if r.Name != "r0" || r.Accepting || !slices.Equal(r.Connected, both) {
		t.Errorf("%+v", r)
	}
	if r.Changes == nil || !slices.Equal(r.Changes.AddedCapabilities, []string{"region:eu"}) {
		t.Errorf("it says on a connection %+v", r.Changes)
	}
	if r := get[model.Runner](w, "/runner/0xabcd01"); r.Changes != nil ||
		r.Index != 1 || r.Name != "" || len(r.Connected) != 1 || r.Accepting {
		t.Errorf("%+v", r)
	}
	if e := w.refused(409, "ambiguous_prefix", "GET", "/runner/0xabcd", nil); e.Field != "address" {
		t.Errorf("%+v", e)
	}
	w.refused(404, "unknown_runner", "GET", "/runner/alice", nil)
	w.refused(404, "unknown_runner", "GET", "/runner/r9", nil)
	w.refused(422, "invalid_request", "GET", "/runners?status=healthy", nil)
	s := get[model.Subsets](w, "/subsets")
	if s.SubsetEpoch != 3 || s.Current.Validators[0].QUICAddress != "127.0.0.1:1" || s.Current.Validators[1].QUICAddress != "127.0.0.1:8" ||
		s.Former != nil {
		t.Errorf("%+v", s)
	}
	if v := get[[]model.Validator](w, "/validators"); v[0].Runners+v[1].Runners != 3 {
		t.Errorf("%+v", v)
	}
}

func TestPresenceIsKnownOnceTheNextBlockIsFinal(t *testing.T) {
	w := labouring(t)
	w.chain.mine()
	w.chain.mine()
	p := get[model.Presence](w, "/presence/1")
	if len(p.Runners) != 1 || p.Runners[0].Name != "r0" || p.Threshold != 1 {
		t.Errorf("%+v", p)
	}
	if e := w.refused(404, "not_final", "GET", "/presence/2", nil); e.Hint == "" || e.Field != "height" {
		t.Errorf("%+v", e)
	}
	w.refused(404, "unknown_block", "GET", "/presence/3", nil)
	if e := w.refused(404, "unknown_block", "GET", "/presence/0", nil); !strings.Contains(e.Hint, "skipped") {
		t.Errorf("%+v", e)
	}
	w.refused(422, "invalid_request", "GET", "/presence/latest", nil)
}

// J11: runners poll for jobs in every phase but sunset. Their results and heartbeats go to
// a validator unchanged, in sunset too.
func TestRunnersThatPollAreAnswered(t *testing.T) {
	w := labouring(t)
	r0 := w.chain.keys["r0"].Address()
	if jobs := get[[]model.PolledJob](w, "/runner/r0/jobs"); len(jobs) != 1 || jobs[0].DeadlineBlock != 9 {
		t.Errorf("%+v", jobs)
	}
	if jobs := get[[]model.PolledJob](w, "/runner/0xabcd01/jobs"); len(jobs) != 0 {
		t.Errorf("%+v", jobs)
	}
	beat := model.HeartbeatRequest{BlockHeight: 112, Nonce: 7, Signed: types.Signature{5}}
	if m := post[model.Reported](w, "/runner/r0/heartbeat?node=v1", beat); m.Hash == nil || *m.Hash != (types.Hash{8}) {
		t.Errorf("%+v", m)
	}
	result := model.ResultRequest{JobID: w.chain.jobs[2].ID, ResultData: types.Bytes("done"), RunnerSigned: types.Signature{6}}
	if m := post[model.Reported](w, "/runner/"+r0.String()+"/job_result", result); m.Hash != nil {
		t.Errorf("%+v", m)
	}
	why := "no such executor"
	refusal := model.RefusalRequest{JobID: w.chain.jobs[2].ID, Reject: "Unsupported", Reason: &why, RefusalSigned: types.Signature{7}}
	if m := post[model.Reported](w, "/runner/r0/job_refusal?node=v1", refusal); m.Hash != nil {
		t.Errorf("%+v", m)
	}
	want := []string{fmt.Sprintf("v1 %s 112 7 5", r0), fmt.Sprintf(" %s %s done 6", r0, w.chain.jobs[2].ID),
		fmt.Sprintf("v1 %s %s Unsupported no such executor 7", r0, w.chain.jobs[2].ID)}
	if !slices.Equal(w.chain.brought, want) {
		t.Errorf("%q, want %q", w.chain.brought, want)
	}
	w.chain.notTaken = Refuse(409, "not_taken", "not accepted: the runner did not sign it")
	w.refused(409, "not_taken", "POST", "/runner/r0/job_result", result)
	w.refused(409, "not_taken", "POST", "/runner/r0/job_refusal", refusal)
	refusal.Reject = "Expired"
	w.refused(422, "invalid_request", "POST", "/runner/r0/job_refusal", refusal)
	refusal.Reject = "Capacity"
	w.refused(409, "deregistered", "POST", "/runner/0xabcdff/heartbeat", beat)
	w.refused(404, "unknown_runner", "POST", "/runner/bob/heartbeat", beat)
	w.refused(422, "invalid_request", "POST", "/runner/r0/heartbeat", `{"block_height":1,"nonce":1,"signed":"0x12"}`)
	w.refused(422, "invalid_request", "POST", "/runner/r0/job_result", `{"job_id":"0x12","result_data":"0x"}`)
	brought := len(w.chain.brought)
	w.chain.phase = string(selection.Sunset)
	w.chain.notTaken = nil
	if e := w.refused(410, "polling_ended", "GET", "/runner/r0/jobs", nil); e.Hint == "" {
		t.Errorf("%+v", e)
	}
	post[model.Reported](w, "/runner/r0/heartbeat", beat)
	post[model.Reported](w, "/runner/r0/job_result", result)
	post[model.Reported](w, "/runner/r0/job_refusal", refusal)
	if len(w.chain.brought) != brought+3 {
		t.Errorf("in sunset %q are brought (CIP-11 §14, phase 3)", w.chain.brought[brought:])
	}
}

// Votes show their bitmaps without the length, which is a separate field.
func TestVotesShowTheLengthOfTheirBitmaps(t *testing.T) {
	bitmap := selection.NewBitmap(10)
	for _, i := range []int{0, 3, 9} {
		bitmap.Set(i, true)
	}
	got := answers.ShowVotes([]types.CertificateVote{{Validator: types.Address{1}, Bitmap: bitmap.Bytes()}, {Bitmap: []byte{}}})
	if got[0].BitLength != 10 || !slices.Equal(got[0].Bitmap, []byte{9, 2}) || got[1].BitLength != 0 || got[1].Bitmap == nil ||
		len(got[1].Bitmap) != 0 {
		t.Errorf("%+v", got)
	}
}

// Jobs, runners and presence have the fields that scripts read, and events of them
// too.
func TestFieldsOfJobsAndRunnersAreThoseThatScriptsRead(t *testing.T) {
	const runner = "index, name, address, public_key, owner, stake, reputation, refusals, health, connected, present, subset, active_jobs, " +
		"max_concurrent_jobs, accepting, capabilities, entitlements, changes, rate_card, registered_at, last_heartbeat, heard, stake_returns, " +
		"dead_letters"
	w := labouring(t)
	w.chain.mine()
	for path, fields := range map[string]string{
		"/job/" + w.chain.jobs[2].ID.String(): "id, kind, submitter, mode, runners, status, committee, committee_drawn_at, attempts, " +
			"submitted_at, assigned_at, deadline, commit_deadline, completed_at, " +
			"result, winner, error, pool, timeout_blocks, max_price, tip, escrow, price, callback, spec",
		"/runner/r0": runner, "/runner/0xabcd01": runner,
		"/presence/1": "height, rule, threshold, votes, runners",
	} {
		if got, want := keys(get[map[string]any](w, path)), strings.Split(fields, ", "); !sameWords(got, want) {
			t.Errorf("GET %s has the fields %v, want %v", path, got, want)
		}
	}
	for path, fields := range map[string]string{
		"/job/" + w.chain.jobs[0].ID.String() + "/runners": "address, attempt, committed_at, revealed_at, outcome",
		"/job/" + w.chain.jobs[0].ID.String() + "/results": "runner, attempt, commitments, revealed_at, result",
		"/runner/r0/jobs": "job_id, job_spec, block_height, deadline_block",
	} {
		if got, want := keys(get[[]map[string]any](w, path)[0]), strings.Split(fields, ", "); !sameWords(got, want) {
			t.Errorf("GET %s has the fields %v, want %v", path, got, want)
		}
	}
}

func sameWords(got, want []string) bool {
	slices.Sort(want)
	return slices.Equal(got, want)
}

// A block's changes of jobs and of presence follow its other events.
func TestEventsTellOfJobsAndPresence(t *testing.T) {
	w := labouring(t)
	r0, id := w.chain.keys["r0"].Address(), w.chain.jobs[0].ID
	alice := w.chain.keys["alice"].Address()
	w.chain.does = []model.JobEvent{{ID: id, Height: 1, What: "submitted", Committee: []types.Address{}, Submitter: &alice},
		{ID: id, Height: 1, What: "drawn", Attempt: 1, Committee: []types.Address{r0}}}
	w.chain.shows = []model.PresenceEvent{{Height: 0, Index: 0, Runner: r0, Present: true, Count: 2}}
	w.chain.mine()
	w.server.feed.reach(t, 1)
	half, outcome := uint8(50), "Success"
	w.chain.does, w.chain.shows = []model.JobEvent{{ID: id, Height: 2, What: "progress", Runner: &r0, Fraction: &half,
		Committee: []types.Address{}}, {ID: id, Height: 2, What: "result", Runner: &r0, Outcome: &outcome, Committee: []types.Address{}}}, nil
	w.chain.mine()
	w.server.feed.reach(t, 2)
	expect(t, follow(t, w, client.Follow{From: 1}, 7), "1.0 block", "1.1 job", "1.2 job", "1.3 presence", "2.0 block", "2.1 job", "2.2 job")
	expect(t, follow(t, w, client.Follow{From: 1, Actor: "alice"}, 1), "1.1 job")
	expect(t, follow(t, w, client.Follow{From: 1, Actor: r0.String(), Kinds: []string{"presence", "job"}}, 4), "1.2 job", "1.3 presence",
		"2.1 job", "2.2 job")
	expect(t, follow(t, w, client.Follow{From: 2, Kinds: []string{"job"}}, 2), "2.1 job", "2.2 job")
	events, _ := w.server.feed.nextEvents(context.Background(), 2)
	var seen model.JobEvent
	if err := json.Unmarshal(dataOf(events[1]), &seen); err != nil || seen.Height != 2 || *seen.Fraction != 50 || seen.What != "progress" {
		t.Errorf("%s, %v", events[1].text, err)
	}
}
