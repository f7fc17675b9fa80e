package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Do notes each order as it is given.
func (m *memory) Do(o fault.Order) (fault.Effect, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := o.Check(); err != nil {
		return fault.Effect{}, err
	}
	switch {
	case o.Verb.Part != fault.ByProcess:
		return fault.Effect{}, refusal.New("unsupported", "%s", o.Verb.Name).At("verb")
	case o.Node == "v9":
		return fault.Effect{}, Refuse(http.StatusNotFound, "unknown_node", "no node is called v9").At("node")
	case o.Node == "v8":
		return fault.Effect{}, errors.New("v8 does not run")
	case o.Verb.Mends:
		return o.Done(), nil
	}
	m.faults = append(m.faults, fault.Effect{Verb: o.Verb.Name, Detail: o.Detail(), Idle: true, Order: &o})
	return m.faults[len(m.faults)-1], nil
}

func (m *memory) Faults() []fault.Effect {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.faults)
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
		{model.FaultRequest{Verb: "crash", Node: "v8"}, 409, "fault_refused"},
		{model.FaultRequest{Verb: "restart", Node: "v0"}, 200, "v0"},
		{model.FaultRequest{Verb: "freeze", Node: "v1"}, 200, "v1"},
		{model.FaultRequest{Verb: "thaw", Node: "v1"}, 200, "v1"},
		{model.FaultRequest{Verb: "wipe", Node: "v1"}, 200, "v1"},
		{model.FaultRequest{Verb: "misbehave", Node: "v1", Kind: "equivocate"}, 200, "v1 equivocate"},
		{model.FaultRequest{Verb: "misbehave", Node: "v1", Kind: "melt"}, 400, `"unknown_kind","message":"there is no misbehaviour \"melt\": they are equivocate`},
		{model.FaultRequest{Verb: "misbehave", Node: "v1", Kind: "suppress_presence"}, 200, "v1 suppress_presence"},
		{model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0", "v1"}, {}}}, 200, "v0,v1"},
		{model.FaultRequest{Verb: "partition", Groups: [][]string{{"v0"}, {"v0"}}}, 400, "v0 is named twice"},
		{model.FaultRequest{Verb: "bridge", Node: "v0", Left: []string{"v1"}, Right: []string{"v2"}}, 200, "v0 v1 / v2"},
		{model.FaultRequest{Verb: "link", A: "v0", B: "v1", Latency: "20ms", Jitter: "1ms", Loss: 0.5, OneWay: true}, 200,
			"v0 v1 latency 20ms, jitter 1ms, loss 0.5, one way"},
		{model.FaultRequest{Verb: "link", A: "v0", B: "v1", Latency: "20"}, 400, "invalid_duration"},
		{model.FaultRequest{Verb: "link", A: "v0", B: "v0"}, 400, `"field":"b"`},
		{model.FaultRequest{Verb: "link", A: "v0", B: "v1", Latency: "2m"}, 400, "link v0 v1: latency 2m0s is not within 0 and 1m0s"},
		{model.FaultRequest{Verb: "clock_skew", Node: "v0", Skew: "2"}, 400, "invalid_duration"},
		{model.FaultRequest{Verb: "clock_skew", Node: "v0", Skew: "-2s"}, 400, "unsupported"},
		{model.FaultRequest{Verb: "disk_fail", Node: "v0", On: true}, 400, "unsupported"},
		{model.FaultRequest{Verb: "link", Loss: 2}, 422, ""},
		{model.FaultRequest{Verb: "explode"}, 422, ""},
		{model.FaultRequest{Verb: "host_fail", Node: "v0", How: "crash"}, 400, "invalid_address"},
		{model.FaultRequest{Verb: "host_fail", Node: "v0", How: "crash", Actor: "nobody"}, 404, "unknown_name"},
		{model.FaultRequest{Verb: "heal"}, 422, ""},
	} {
		w := newWorld(t)
		status, data := w.call("POST", "/devnet/fault", c.body)
		if status != c.status || !strings.Contains(string(data), c.want) {
			t.Errorf("%+v: %d %s", c.body, status, data)
		}
		w.chain.strict = true
		if status, data := newWorld(t, func(m *memory) { m.strict = true }).call("POST", "/devnet/fault", c.body); c.status == 200 &&
			status != http.StatusForbidden {
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

// A fault is sent after the next final block, to followers and to later readers.
func TestFaultsAreEvents(t *testing.T) {
	w := newWorld(t)
	w.chain.mine()
	w.server.feed.reach(t, 1)
	w.call("POST", "/devnet/fault", model.FaultRequest{Verb: "freeze", Node: "v1"})
	w.call("POST", "/devnet/heal", nil)
	w.chain.mine()
	w.server.feed.reach(t, 2)
	for range 2 {
		expect(t, follow(t, w, client.Follow{From: 1, Kinds: []string{"fault"}}, 2), "2.1 fault", "2.2 fault")
		w.server.feed.maxCount = 1 // the second time from the archive
		w.chain.mine()
		w.server.feed.reach(t, 3)
	}
}

// Whatever verb the table has can be asked for: its arguments can be given, and the
// description says what it takes.
func TestEachVerbCanBeAskedFor(t *testing.T) {
	parts := strings.Split(describeVerbs(), "; ")
	for _, v := range fault.Verbs() {
		of := slices.IndexFunc(parts, func(part string) bool {
			return slices.Contains(strings.Fields(strings.ReplaceAll(part, ",", "")), v.Name)
		})
		if of >= 0 == v.Hidden {
			t.Errorf("%s is hidden though described, or missing, in %q", v.Name, parts)
		}
		for _, a := range v.Takes {
			switch known := arguments[a].read != nil; {
			case v.Hidden:
			case !known:
				t.Errorf("%s takes an argument that no request has", v.Name)
			case v.Part == fault.ByProcess && of >= 0 && !strings.Contains(parts[of], arguments[a].fields[0]):
				t.Errorf("%q does not say that %s takes %s", parts[of], v.Name, arguments[a].fields[0])
			}
		}
	}
	if !slices.Contains(parts, "misbehave takes node and kind") ||
		!slices.Contains(parts, "disk_fail, disk_slow, cpu_slow, sync_lies, crash_amid and clock_skew are the simulator's") {
		t.Errorf("the verbs are told as %q", parts)
	}
}

// A fault's receipt has the request that makes it again, for all arguments of a verb.
func TestAFaultTellsTheRequestThatMakesItAgain(t *testing.T) {
	whole := model.FaultRequest{Node: "v0", Kind: "equivocate", Actor: types.Address{7}.String(), How: "crash", On: true,
		Skew: "-2s", Instant: "torn append", Delay: "3ms", Up: "1s", Down: "2s", Times: 3,
		Add: []string{"a"}, Remove: []string{"b"}, Role: "archive", Contract: "", AfterBlocks: 4, NewIdentity: true,
		Groups: [][]string{{"v0", "v1"}, {"v2"}}, Left: []string{"v1"}, Right: []string{"v2"}, A: "v0", B: "v1", Latency: "20ms",
		Jitter: "5ms", Loss: 0.5, Duplicate: 0.25, Reorder: 0.125, Bandwidth: 1000, OneWay: true}
	for _, v := range fault.Verbs() {
		whole.Verb = v.Name
		order, err := OrderOf(&whole)
		if v.Hidden {
			if requestOf(&fault.Order{Verb: v}) != nil {
				t.Errorf("%s has a request, which no verb takes", v.Name)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		request := requestOf(&order)
		if again, err := OrderOf(request); err != nil || !reflect.DeepEqual(again, order) || !strings.Contains(order.Detail(), again.Detail()) {
			t.Errorf("%s: %+v makes %+v, and not %+v: %v", v.Name, request, again, order, err)
		}
	}
	w := newWorld(t)
	if m := post[model.FaultReceipt](w, "/devnet/fault", model.FaultRequest{Verb: "crash", Node: "v0"}); m.Order == nil ||
		!reflect.DeepEqual(*m.Order, model.FaultRequest{Verb: "crash", Node: "v0"}) {
		t.Errorf("%+v", m.Order)
	}
}
