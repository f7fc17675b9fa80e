package api

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// metrics are figures for Prometheus, in a separate registry. Figures of nodes are
// read from them at each scrape; events are counted from final blocks, since this
// process started.
type metrics struct {
	backend  Backend
	registry *prometheus.Registry
	handler  http.Handler

	height, view, running, pooled, connections *prometheus.Desc
	pending, fee, budget, laneCycles, use, age *prometheus.Desc
	counts                                     map[string]*prometheus.Desc // the counters, by Count.Of
	jobs                                       *jobMetrics

	mu        sync.Mutex
	timestamp types.Millis // of the latest block
	epoch     types.Epoch  // of the latest block
	round     types.View   // the view of the latest block
	seen      time.Time    // when the latest block came, or this process began to look
	nullified prometheus.Counter
	seconds   prometheus.Histogram
	blocks    prometheus.Counter
	receipts  *prometheus.CounterVec
	timers    *prometheus.CounterVec
	cycles    prometheus.Counter
	fires     prometheus.Counter
}

func newMetrics(b Backend, f *feed, processes prometheus.Gatherer) *metrics {
	m := &metrics{
		backend:     b,
		jobs:        newJobMetrics(),
		registry:    prometheus.NewPedanticRegistry(),
		height:      newDesc("devnet_height", "Height of the node's latest final block.", "node"),
		view:        newDesc("devnet_view", "The node's current view.", "node"),
		running:     newDesc("devnet_node_running", "1 while the node runs.", "node"),
		pooled:      newDesc("devnet_mempool_transactions", "Transactions in the node's pool.", "node"),
		connections: newDesc("devnet_connections", "The node's live connections to other validators.", "node"),
		counts: map[string]*prometheus.Desc{answers.CountActors: newDesc("devnet_actors_total",
			"Actor failures of a node since it started: dead_letters counts events for stopped roles; roles_restarted and contracts_restarted "+
				"count restarts after a panic.", "node", "what"),
			answers.CountGivenUp: newDesc("devnet_views_given_up_total",
				"Views for which the node voted nullify since it started, by cause (docs/SCENARIOS.md lists them).", "node", "cause"),
			answers.CountRunners: newDesc("devnet_runners_total",
				"Runner events at the node since it started: connections opened and closed, job deliveries by outcome, progress messages, refused "+
					"results.", "node", "what"),
			answers.CountStrangers: newDesc("devnet_runners_refused_total",
				"Connections of runners that were not let in since the node started, by the reason of the Goodbye.", "node", "reason"),
			answers.CountRefused: newDesc("devnet_refused_total",
				"Items that the node refused since it started: frames, transactions, blocks, its own blocks. Also signers that contradicted "+
					"themselves, executions on which the host of programs failed, and banned peers.", "node", "what")},
		pending:    newDesc("devnet_timers_pending", "Timers that have not ended, at the latest final block."),
		fee:        newDesc("devnet_basefee_wei", "Base fee of the next block.", "resource"),
		budget:     newDesc("devnet_lane_budget_cycles", "Cycles that timers may use in a block, at the latest final block."),
		laneCycles: newDesc("devnet_lane_cycles", "Cycles that timers used in the latest final block, by purpose.", "use"),
		use:        newDesc("devnet_lane_utilisation_ratio", "Share of the lane's budget that fires used in the latest final block."),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "devnet_block_seconds",
			Help: "Time between the timestamps of final blocks.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 16)}),
		age:       newDesc("devnet_last_block_age_seconds", "Time since the latest block became final here, by this machine's clock."),
		nullified: newCounter("devnet_views_nullified_total", "Views that made no block, between final blocks of one epoch."),
		seen:      time.Now(),
		blocks:    newCounter("devnet_blocks_total", "Final blocks."),
		receipts:  newCounterVec("devnet_receipts_total", "Executions, by cause and result.", "origin", "status"),
		timers:    newCounterVec("devnet_timers_total", "Timer changes by blocks: scheduled, deferred, or ended by reason.", "outcome"),
		cycles:    newCounter("devnet_cycles_total", "Cycles used by final blocks."),
		fires:     newCounter("devnet_timer_cycles_total", "Cycles used by fires of timers in final blocks."),
	}
	m.registry.MustRegister(m, m.seconds, m.blocks, m.receipts, m.timers, m.cycles, m.fires, m.nullified,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.jobs.listCollectors()...)
	all := prometheus.Gatherers{m.registry}
	if processes != nil {
		all = append(all, processes)
	}
	m.handler = promhttp.HandlerFor(all, promhttp.HandlerOpts{})
	f.observe = append(f.observe, m.observeBlock)
	return m
}

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func newCounter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func newCounterVec(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Describe and Collect are prometheus.Collector's.
func (m *metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.height, m.view, m.running, m.pooled, m.connections, m.pending, m.fee, m.budget, m.laneCycles, m.use,
		m.age} {
		out <- d
	}
	for _, d := range m.counts {
		out <- d
	}
	for _, d := range m.jobs.listDescriptions() {
		out <- d
	}
}

func (m *metrics) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	nodes := m.backend.Nodes()
	for _, n := range nodes {
		if n.Elsewhere {
			continue // it has separate figures
		}
		up := 0.0
		if n.Running {
			up = 1
		}
		gauge(m.running, up, n.Name)
		gauge(m.height, float64(n.Height), n.Name)
		gauge(m.view, float64(n.View), n.Name)
		gauge(m.pooled, float64(n.Pooled), n.Name)
		gauge(m.connections, float64(n.Connections), n.Name)
		for _, c := range n.Counts {
			out <- prometheus.MustNewConstMetric(m.counts[c.Of], prometheus.CounterValue, float64(c.N), n.Name, c.What)
		}
	}
	m.collectRunners(out)
	m.mu.Lock()
	age := time.Since(m.seen).Seconds()
	m.mu.Unlock()
	gauge(m.age, age)
	v, err := m.backend.Reader("")
	if err != nil {
		return // no node runs: its figures are absent, not zero
	}
	head := v.Head()
	gauge(m.pending, float64(head.TimersPending))
	m.jobs.collectState(v, nodes, gauge)
	for resource, fee := range map[string]types.Wei{"cycle": head.NextBaseFeeCycle, "cell": head.NextBaseFeeCell,
		"lane_timer": head.NextBaseFeeLane} {
		value, _ := fee.Big().Float64()
		gauge(m.fee, value, resource)
	}
	lane, err := v.Lane(1)
	if err != nil || len(lane) == 0 {
		return
	}
	l := &lane[0]
	gauge(m.budget, float64(l.Budget))
	for use, cycles := range map[string]types.Cycles{"fires": l.TimerCyclesUsed, "cleanup": l.GCCyclesUsed, "gas_bidders": l.GBACyclesUsed} {
		gauge(m.laneCycles, float64(cycles), use)
	}
	if l.Budget > 0 {
		gauge(m.use, float64(l.TimerCyclesUsed)/float64(l.Budget))
	}
}

// collectRunners tells the dead letters of the runners that run here.
func (m *metrics) collectRunners(out chan<- prometheus.Metric) {
	letters := m.backend.RunnerLetters()
	for _, r := range m.backend.Runners() {
		if n, here := letters[r.Address]; here {
			out <- prometheus.MustNewConstMetric(m.counts[answers.CountActors], prometheus.CounterValue, float64(n), r.Name,
				answers.CountDeadLetters)
		}
	}
}

func (m *metrics) observeBlock(b *answers.Block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := &b.Block.Header
	if m.timestamp != 0 {
		m.seconds.Observe(float64(h.Timestamp-m.timestamp) / 1000)
	}
	if m.timestamp != 0 && h.Epoch == m.epoch && h.View > m.round {
		m.nullified.Add(float64(h.View - m.round - 1))
	}
	m.timestamp, m.epoch, m.round, m.seen = h.Timestamp, h.Epoch, h.View, time.Now()
	m.blocks.Inc()
	m.cycles.Add(float64(h.CyclesUsed))
	m.fires.Add(float64(h.TimerCyclesUsed))
	for i := range b.Receipts {
		m.receipts.WithLabelValues(string(b.Receipts[i].Origin), string(b.Receipts[i].Status)).Inc()
	}
	for _, t := range b.Timers {
		outcome := string(t.Status)
		switch {
		case t.Status == types.TimerPending && t.Reason != "":
			outcome = t.Reason // extended, triggered
		case t.Status == types.TimerPending:
			outcome = "scheduled"
		}
		m.timers.WithLabelValues(outcome).Inc()
	}
	m.timers.WithLabelValues("deferred").Add(float64(len(b.Deferred)))
	m.jobs.observeBlock(b, m.backend.Nodes)
}

func (s *Server) registerMetrics() {
	op := operation{id: "metrics", path: "/metrics", tag: tagNetwork,
		summary: "Figures for Prometheus", response: "# TYPE devnet_height gauge\ndevnet_height{node=\"v0\"} 12\n"}
	h := op.asHuma()
	h.Responses = map[string]*huma.Response{"200": describeAnswer("The text format of Prometheus", "text/plain", huma.TypeString)}
	h.RejectUnknownQueryParameters = false
	registerRoute(s, op, h, func(context.Context, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			r, w := humago.Unwrap(ctx)
			s.metrics.handler.ServeHTTP(w, r)
		}}, nil
	})
}
