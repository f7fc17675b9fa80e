package front

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
)

// nodeLabel is the label of a figure that is a node's own.
const nodeLabel = "node"

// serveMetrics shows the figures of all validators: of the chain as the chosen one counts
// it, and of each node and its process what that says of itself.
func (f *Front) serveMetrics(w http.ResponseWriter, r *http.Request) {
	chosen := f.proxy.choose(r.Context())
	pages := askAll(r.Context(), f, f.validators(), askPatience, scrape)
	all := map[string]*dto.MetricFamily{}
	for _, n := range f.all() {
		families := pages[n.Name]
		for _, name := range slices.Sorted(maps.Keys(families)) {
			merge(all, families[name], n.Name, n.Name == chosen)
		}
	}
	if len(all) == 0 {
		api.Answer(w, noValidator())
		return
	}
	f.countLetters(all)
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	w.Header().Set("Content-Type", string(format))
	out := expfmt.NewEncoder(w, format)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if out.Encode(all[name]) != nil {
			return // the client has left
		}
	}
}

// actorsTotal is the family of what happened to the actors of nodes.
const actorsTotal = "devnet_actors_total"

// countLetters adds the dead letters of runners, which no validator knows.
func (f *Front) countLetters(all map[string]*dto.MetricFamily) {
	letters := f.letters()
	if len(letters) > 0 && all[actorsTotal] == nil {
		name, kind := actorsTotal, dto.MetricType_COUNTER
		all[name] = &dto.MetricFamily{Name: &name, Type: &kind}
	}
	for _, name := range slices.Sorted(maps.Keys(letters)) {
		label, what, letter, n := nodeLabel, "what", api.CountDeadLetters, float64(letters[name])
		all[actorsTotal].Metric = append(all[actorsTotal].Metric, &dto.Metric{Counter: &dto.Counter{Value: &n},
			Label: []*dto.LabelPair{{Name: &label, Value: &name}, {Name: &what, Value: &letter}}})
	}
}

// scrape reads a validator's figures.
func scrape(c *client.Client, ctx context.Context) (map[string]*dto.MetricFamily, error) {
	text, err := c.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}

// merge adds to a family what a node says of itself, and of the chosen one all.
func merge(all map[string]*dto.MetricFamily, family *dto.MetricFamily, node string, chosen bool) {
	name := family.GetName()
	ofProcess := strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "promhttp_")
	var kept []*dto.Metric
	for _, m := range family.Metric {
		own := slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == nodeLabel })
		if ofProcess && !own {
			label, value := nodeLabel, node
			m.Label, own = append(m.Label, &dto.LabelPair{Name: &label, Value: &value}), true
		}
		if own || chosen {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		return
	}
	if into := all[name]; into != nil {
		into.Metric = append(into.Metric, kept...)
		return
	}
	family.Metric = kept
	all[name] = family
}
