package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

func (m *memory) Faults() Faults { return &faulty{m} }

// faulty notes each verb as it is called.
type faulty struct{ m *memory }

func (f *faulty) made(verb string, words ...string) error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if words[0] == "v9" {
		return Refuse(http.StatusNotFound, "unknown_node", "no node is called v9").At("node")
	}
	f.m.faults = append(f.m.faults, fault.Receipt{Verb: verb, Detail: strings.Join(words, " "), Idle: true})
	return nil
}

func (f *faulty) Crash(n string) error                  { return f.made("crash", n) }
func (f *faulty) Restart(n string) error                { return nil }
func (f *faulty) Freeze(n string) error                 { return f.made("freeze", n) }
func (f *faulty) Thaw(n string) error                   { return nil }
func (f *faulty) Wipe(n string) error                   { return f.made("wipe", n) }
func (f *faulty) Misbehave(n, kind string) error        { return f.made("misbehave", n, kind) }
func (f *faulty) Heal() error                           { return nil }
func (f *faulty) FaultReceipts() []fault.Receipt        { return f.m.faults }
func (f *faulty) Partition(groups [][]string) error     { return f.made("partition", groups[0]...) }
func (f *faulty) Link(a, b string, to fault.Link) error { return f.made("link", a, b, to.String()) }
func (f *faulty) Bridge(n string, left, right []string) error {
	return f.made("bridge", n, left[0], right[0])
}
func (f *faulty) ClockSkew(n string, d time.Duration) error {
	return f.made("clock_skew", n, d.String())
}
func (f *faulty) DiskFail(string, bool) error {
	return &fault.Unsupported{Verb: "disk_fail", Why: "the simulator's alone"}
}

// Each verb reaches the network with its arguments, and what refuses it the
// client.
func TestFaultRoutes(t *testing.T) {
	for _, c := range []struct {
		body   model.FaultRequest
		status int
		want   string // detail of the receipt, or the error's code
	}{
		{model.FaultRequest{Verb: "crash", Node: "v0"}, 200, "v0"},
		{model.FaultRequest{Verb: "crash", Node: "v9"}, 404, "unknown_node"},
		{model.FaultRequest{Verb: "restart", Node: "v0"}, 200, "v0"},
		{model.FaultRequest{Verb: "freeze", Node: "v1"}, 200, "v1"},
		{model.FaultRequest{Verb: "thaw", Node: "v1"}, 200, "v1"},
		{model.FaultRequest{Verb: "wipe", Node: "v1"}, 200, "v1"},
		{model.FaultRequest{Verb: "misbehave", Node: "v1", Kind: "equivocate"}, 200, "v1 equivocate"},
		{model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0", "v1"}}}, 200, "v0 v1"},
		{model.FaultRequest{Verb: "bridge", Node: "v0", Left: []string{"v1"}, Right: []string{"v2"}}, 200, "v0 v1 v2"},
		{model.FaultRequest{Verb: "link", A: "v0", B: "v1", Latency: "20ms", Jitter: "1ms", Loss: 0.5, OneWay: true}, 200, "v0 v1 latency 20ms, jitter 1ms, loss 0.5, one way"},
		{model.FaultRequest{Verb: "link", A: "v0", B: "v1", Latency: "20"}, 400, "invalid_duration"},
		{model.FaultRequest{Verb: "clock_skew", Node: "v0", Skew: "-2s"}, 200, "v0 -2s"},
		{model.FaultRequest{Verb: "disk_fail", Node: "v0", On: true}, 400, "unsupported"},
		{model.FaultRequest{Verb: "link", Loss: 2}, 422, ""},
		{model.FaultRequest{Verb: "explode"}, 422, ""},
	} {
		w := newWorld(t)
		status, data := w.call("POST", "/devnet/fault", c.body)
		if status != c.status || !strings.Contains(string(data), c.want) {
			t.Errorf("%+v: %d %s", c.body, status, data)
		}
		w.chain.strict = true
		if status, data := newWorld(t, func(m *memory) { m.strict = true }).call("POST", "/devnet/fault", c.body); c.status == 200 && status != http.StatusForbidden {
			t.Errorf("strict: %+v: %d %s", c.body, status, data)
		}
	}
}

func TestFaultsAreListedAndHealed(t *testing.T) {
	w := newWorld(t)
	w.call("POST", "/devnet/fault", model.FaultRequest{Verb: "crash", Node: "v0"})
	for method, path := range map[string]string{"GET": "/devnet/faults", "POST": "/devnet/heal"} {
		status, data := w.call(method, path, nil)
		var list []model.FaultReceipt
		if err := json.Unmarshal(data, &list); err != nil || status != 200 || len(list) != 1 || list[0].Verb != "crash" || !list[0].Idle {
			t.Errorf("%s: %d %s", path, status, data)
		}
		if status, _ := newWorld(t, func(m *memory) { m.strict = true }).call(method, path, nil); status != http.StatusForbidden {
			t.Errorf("strict: %s answers %d", path, status)
		}
	}
}

// A fault is told behind the next final block, to who follows and to who comes
// later.
func TestFaultsAreEvents(t *testing.T) {
	w := newWorld(t)
	w.chain.mine()
	w.server.feed.settle(t, 1)
	w.call("POST", "/devnet/fault", model.FaultRequest{Verb: "freeze", Node: "v1"})
	w.call("POST", "/devnet/heal", nil)
	w.chain.mine()
	w.server.feed.settle(t, 2)
	for range 2 {
		expect(t, follow(t, w, client.Follow{From: 1, Kinds: []string{"fault"}}, 2), "2.1 fault", "2.2 fault")
		w.server.feed.maxCount = 1 // the second time from the archive
		w.chain.mine()
		w.server.feed.settle(t, 3)
	}
}
