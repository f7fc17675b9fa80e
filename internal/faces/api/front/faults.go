package front

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// orderPatience bounds an order about a process: a validator that is asked to end writes
// its blocks first.
const orderPatience = time.Minute

// ofProcesses are the verbs that are about a node as a process: what each does, and how
// that is told; "" of a verb that only mends.
var ofProcesses = map[string]struct {
	do  func(context.Context, Carrier, string) error
	did string
}{
	"crash":  {func(ctx context.Context, c Carrier, name string) error { return c.Kill(ctx, name) }, "its process was killed"},
	"drop":   {func(ctx context.Context, c Carrier, name string) error { return c.Kill(ctx, name) }, "its process was killed"},
	"freeze": {func(_ context.Context, c Carrier, name string) error { return c.Freeze(name) }, "its process was stopped"},
	"thaw":   {func(_ context.Context, c Carrier, name string) error { return c.Thaw(name) }, ""},
	"wipe":   {func(ctx context.Context, c Carrier, name string) error { return c.Wipe(ctx, name) }, "its home was emptied"},
	"restart": {func(ctx context.Context, c Carrier, name string) error {
		if runs, _ := c.State(name); runs {
			if err := c.Kill(ctx, name); err != nil {
				return err
			}
		}
		return c.Start(ctx, name)
	}, ""},
}

func (f *Front) serveFault(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // the guard has bounded it
	var request model.FaultRequest
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		// A validator says what is wrong with it, as of any request.
		r.Body = io.NopCloser(bytes.NewReader(body))
		f.proxy.ServeHTTP(w, r)
		return
	}
	effect, err := f.fault(r.Context(), &request)
	if err != nil {
		api.Answer(w, api.FaultRefused(err))
		return
	}
	answer(w, http.StatusOK, effect)
}

// fault makes a fault.
func (f *Front) fault(ctx context.Context, r *model.FaultRequest) (m model.FaultReceipt, err error) {
	if f.config.Strict {
		return m, api.StrictRefusal("/devnet/fault")
	}
	o, err := api.OrderOf(r)
	if err == nil {
		err = o.Check()
	}
	if err != nil {
		return m, err
	}
	verb := fault.Lookup(o.Verb)
	if !verb.OfNode() {
		return m, api.Refuse(http.StatusConflict, "elsewhere", "a fault of links takes all nodes in one process").
			Hint("A network that devnet up brings up without --processes has it; devnet run has it on every backend.").At("verb")
	}
	node, err := f.find(o.Node)
	if err != nil {
		return m, err
	}
	kind := fault.Validators
	if node.Kind == Runner {
		kind = fault.Runners
	}
	if err := o.CheckOf(kind); err != nil {
		return m, err
	}
	if _, is := ofProcesses[o.Verb]; is {
		return f.order(ctx, o)
	}
	if node.Kind == Runner {
		return m, api.Refuse(http.StatusConflict, "elsewhere", "%s takes a runner in this process, and %s has a process of its own",
			o.Verb, node.Name).Hint("drop, restart, freeze and thaw are there; without --processes all are.").At("verb")
	}
	if runs, frozen := f.config.Carrier.State(node.Name); !runs || frozen {
		return m, api.Refuse(http.StatusConflict, "fault_refused", "%s does not run: restart it first", node.Name)
	}
	m, err = client.New(f.config.Carrier.Control(node.Name)).Fault(ctx, *r)
	if refused, is := err.(*client.Error); is {
		err = &api.Error{Status: refused.Status, Body: refused.ErrorBody}
	}
	return m, err
}

// order does an order about a process.
func (f *Front) order(ctx context.Context, o fault.Order) (m model.FaultReceipt, err error) {
	// It is done whether the client waits or not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orderPatience)
	defer cancel()
	verb := ofProcesses[o.Verb]
	if err := verb.do(ctx, f.config.Carrier, o.Node); err != nil {
		return m, err
	}
	effect := o.Done()
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.Verb == "crash" || o.Verb == "drop" || o.Verb == "restart" {
		delete(f.ended, o.Node)
	}
	if verb.did != "" {
		effect.Did, effect.Ended = verb.did, o.Verb == "wipe"
		f.faults = append(f.faults, effect)
		if over := len(f.faults) - maxFaults; over > 0 {
			f.faults = slices.Delete(f.faults, 0, over)
		}
		return model.FaultReceipt(effect), nil
	}
	for i := range f.faults { // what it mends has no effect any more
		was := &f.faults[i]
		if was.Detail == effect.Detail && (o.Verb == "restart" || was.Verb == "freeze") {
			was.Ended = true
		}
	}
	return model.FaultReceipt(effect), nil
}

// serveFaults tells the faults of processes, and then those that each validator knows of.
func (f *Front) serveFaults(w http.ResponseWriter, r *http.Request) {
	if f.config.Strict {
		api.Answer(w, api.StrictRefusal("/devnet/faults"))
		return
	}
	all := []model.FaultReceipt{}
	f.mu.Lock()
	for _, effect := range f.faults {
		all = append(all, model.FaultReceipt(effect))
	}
	f.mu.Unlock()
	own := askAll(r.Context(), f, f.validators(), askPatience, (*client.Client).Faults)
	for _, n := range f.config.Nodes {
		all = append(all, own[n.Name]...)
	}
	answer(w, http.StatusOK, all)
}
