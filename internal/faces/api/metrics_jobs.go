package api

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// jobMetrics are the figures of jobs, of presence and of burned fees. Job figures are
// counted from final blocks, and from validators' sightings.
type jobMetrics struct {
	open, present, votes, threshold, bits *prometheus.Desc

	submitted prometheus.Counter
	ended     *prometheus.CounterVec
	draws     *prometheus.CounterVec
	acks      *prometheus.HistogramVec
	burned    *prometheus.CounterVec
}

func newJobMetrics() *jobMetrics {
	return &jobMetrics{
		open:      newDesc("devnet_jobs_open", "Jobs that have not ended, at the latest final block."),
		present:   newDesc("devnet_runners_present", "Runners in the latest P (CIP-11 §8)."),
		votes:     newDesc("devnet_presence_votes", "Votes that the latest P follows from."),
		threshold: newDesc("devnet_presence_threshold_votes", "Votes that have to show a runner in the latest P."),
		bits: newDesc("devnet_presence_runners", "Runners that the vote of a validator shows, of those the latest P follows from.",
			"validator"),
		submitted: newCounter("devnet_jobs_submitted_total", "Jobs submitted in final blocks."),
		ended:     newCounterVec("devnet_jobs_ended_total", "Jobs that final blocks ended, by the end: completed, or the error's code.", "end"),
		draws: newCounterVec("devnet_job_draws_total",
			"Draws in final blocks, by whether they took the runner that the MRU record favours (CIP-11 §9.4): hit, miss, or none "+
				"without a record.", "mru"),
		acks: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "devnet_job_ack_seconds",
			Help:    "Time from the push of a job to the runner's answer, by the validator that pushed.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16)}, []string{"node"}),
		burned: newCounterVec("devnet_burned_wei_total",
			"Base fees that final blocks burned, in wei, by resource: cycle, cell and lane_timer (CIP-1 §5).", "resource"),
	}
}

func (m *jobMetrics) listDescriptions() []*prometheus.Desc {
	return []*prometheus.Desc{m.open, m.present, m.votes, m.threshold, m.bits}
}

func (m *jobMetrics) listCollectors() []prometheus.Collector {
	return []prometheus.Collector{m.submitted, m.ended, m.draws, m.acks, m.burned}
}

// collectState shows what the latest state says.
func (m *jobMetrics) collectState(v answers.Reader, nodes []answers.Node, gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	head := v.Head()
	gauge(m.open, float64(head.JobsOpen))
	if head.Height == 0 {
		return
	}
	p, err := v.Presence(head.Height - 1)
	if err != nil || p == nil {
		return // no block carries it yet, or its height was skipped
	}
	present, bits := 0, map[types.Address]int{}
	for i := range p.Runners {
		if p.Runners[i].Present {
			present++
		}
		for _, validator := range p.Runners[i].Validators {
			bits[validator]++
		}
	}
	gauge(m.present, float64(present))
	gauge(m.votes, float64(len(p.Votes)))
	gauge(m.threshold, float64(p.Threshold))
	for _, vote := range p.Votes {
		gauge(m.bits, float64(bits[vote.Validator]), nameOf(nodes, vote.Validator))
	}
}

// nameOf returns a validator's name, or its address without one.
func nameOf(nodes []answers.Node, a types.Address) string {
	for i := range nodes {
		if nodes[i].Validator.Address == a {
			return nodes[i].Name
		}
	}
	return a.String()
}

// observeBlock counts a block's changes of jobs, and sightings of them.
func (m *jobMetrics) observeBlock(b *answers.Block, nodes func() []answers.Node) {
	m.countBurn(b.Burned)
	var known []answers.Node
	for i := range b.Jobs {
		e := &b.Jobs[i]
		switch e.What {
		case model.JobSubmitted:
			m.submitted.Inc()
		case model.JobCompleted:
			m.ended.WithLabelValues(model.JobCompleted).Inc()
		case model.JobFailed, model.JobCancelled:
			if e.Error != nil {
				m.ended.WithLabelValues(e.Error.Code).Inc()
			}
		case model.JobDrawn:
			m.draws.WithLabelValues(favourOf(e)).Inc()
		case model.JobAcked:
			if e.AfterMicros == nil || e.Validator == nil {
				continue
			}
			if known == nil {
				known = nodes()
			}
			after := time.Duration(*e.AfterMicros) * time.Microsecond
			m.acks.WithLabelValues(nameOf(known, *e.Validator)).Observe(after.Seconds())
		}
	}
}

func favourOf(e *model.JobEvent) string {
	switch {
	case e.Favoured == nil:
		return "none"
	case slices.Contains(e.Committee, *e.Favoured):
		return "hit"
	}
	return "miss"
}

func (m *jobMetrics) countBurn(burned ledger.Burned) {
	for resource, amount := range map[string]types.Wei{"cycle": burned.Cycle, "cell": burned.Cell, "lane_timer": burned.LaneTimer} {
		wei, _ := amount.Big().Float64()
		m.burned.WithLabelValues(resource).Add(wei)
	}
}
