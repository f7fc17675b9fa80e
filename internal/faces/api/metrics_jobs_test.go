package api

import (
	"bytes"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Changes of jobs by blocks are counted by outcome, a draw by the fate of the
// favoured runner, an ack by the validator that pushed.
func TestMetricsCountJobs(t *testing.T) {
	m := newJobMetrics()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m.listCollectors()...)
	a, b, v := types.Address{1}, types.Address{2}, types.Address{9}
	after := uint64(1_500)
	fault := func(code string) *model.Fault { return &model.Fault{Code: code} }
	m.observeBlock(&answers.Block{Stored: history.Stored{Burned: ledger.Burned{Cycle: types.WeiOf(7), LaneTimer: types.WeiOf(5)}},
		Jobs: []model.JobEvent{
			{What: model.JobSubmitted}, {What: model.JobDrawn, Committee: []types.Address{a, b}, Favoured: &b},
			{What: model.JobDrawn, Committee: []types.Address{a}, Favoured: &b}, {What: model.JobDrawn, Committee: []types.Address{a}},
			{What: model.JobPushed}, {What: model.JobAcked, Validator: &v, AfterMicros: &after},
			{What: model.JobAcked, Validator: &v}, // not for an ack: the time of its push is unknown
			{What: model.JobCompleted},
			{What: model.JobFailed, Error: fault("no_candidates")}, {What: model.JobCancelled, Error: fault("cancelled")},
		}}, func() []answers.Node { return []answers.Node{{Name: "v9", Validator: types.Validator{Address: v}}} })
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{`devnet_jobs_submitted_total 1`, `devnet_jobs_ended_total{end="completed"} 1`,
		`devnet_jobs_ended_total{end="no_candidates"} 1`, `devnet_jobs_ended_total{end="cancelled"} 1`, `devnet_job_draws_total{mru="hit"} 1`,
		`devnet_job_draws_total{mru="miss"} 1`, `devnet_job_draws_total{mru="none"} 1`, `devnet_job_ack_seconds_count{node="v9"} 1`,
		`devnet_job_ack_seconds_sum{node="v9"} 0.0015`, `devnet_job_ack_seconds_bucket{node="v9",le="0.002"} 1`,
		`devnet_burned_wei_total{resource="cycle"} 7`, `devnet_burned_wei_total{resource="lane_timer"} 5`} {
		if !strings.Contains(text.String(), line+"\n") {
			t.Errorf("no line %q in %s", line, text.String())
		}
	}
}

// The gauges of presence show the latest P and the votes for it.
func TestMetricsTellPresence(t *testing.T) {
	w := labouring(t)
	w.chain.mine()
	w.chain.mine()
	w.server.feed.reach(t, 2)
	_, data := w.call("GET", "/metrics", nil)
	for _, line := range []string{"devnet_jobs_open 0", "devnet_runners_present 1", "devnet_presence_votes 0",
		"devnet_presence_threshold_votes 1"} {
		if !strings.Contains(string(data), line+"\n") {
			t.Errorf("no line %q in %s", line, data)
		}
	}
}
