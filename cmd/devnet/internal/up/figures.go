package up

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
)

// figuresPatience is how long validators may take to tell their figures: one that is stuck
// does not answer.
const figuresPatience = 2 * time.Second

// processFigures are the figures of the processes of validators, each with the name of its
// node. This process itself counts the chain's figures.
type processFigures struct {
	network *box.Network
	carrier cluster.Carrier
}

// Gather implements prometheus.Gatherer.
func (f *processFigures) Gather() ([]*dto.MetricFamily, error) {
	ctx, cancel := context.WithTimeout(context.Background(), figuresPatience)
	defer cancel()
	var asked sync.WaitGroup
	nodes := f.network.List()
	pages := make([]map[string]*dto.MetricFamily, len(nodes))
	for i, node := range nodes {
		if node.Running() && !node.Frozen() {
			asked.Go(func() { pages[i], _ = scrapeFigures(ctx, f.carrier.Control(node.Name)) }) // one that does not answer has no figures
		}
	}
	asked.Wait()
	all := map[string]*dto.MetricFamily{}
	for i, page := range pages {
		for name, family := range page {
			addProcess(all, name, family, nodes[i].Name)
		}
	}
	var list []*dto.MetricFamily
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, all[name])
	}
	return list, nil
}

// scrapeFigures reads the figures of the process at a URL.
func scrapeFigures(ctx context.Context, url string) (map[string]*dto.MetricFamily, error) {
	text, err := client.NewAPI(url).Metrics(ctx)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

// addProcess adds the figures of a process, under the name of its node.
func addProcess(all map[string]*dto.MetricFamily, name string, family *dto.MetricFamily, node string) {
	if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && !strings.HasPrefix(name, "promhttp_") {
		return
	}
	label := "node"
	for _, m := range family.Metric {
		m.Label = append(m.Label, &dto.LabelPair{Name: &label, Value: &node})
	}
	if into := all[name]; into != nil {
		into.Metric = append(into.Metric, family.Metric...)
		return
	}
	all[name] = family
}
