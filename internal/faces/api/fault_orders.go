package api

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// verbArgument is an argument of a fault's verb in a request: the names of its fields, and
// how they are read and written.
type verbArgument struct {
	fields []string
	read   func(*model.FaultRequest, *fault.Order) error
	write  func(*fault.Order, *model.FaultRequest)
}

// arguments are those that a request can have.
var arguments = map[fault.Argument]verbArgument{
	fault.Node: {[]string{"node"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.Node = r.Node
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.Node = o.Node }},
	fault.Kind: {[]string{"kind"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.Kind = r.Kind
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.Kind = o.Kind }},
	fault.Over: {[]string{"actor", "how"}, func(r *model.FaultRequest, o *fault.Order) (err error) {
		o.How = r.How
		if o.Actor, err = types.ParseAddress(r.Actor); err != nil {
			return Refuse(http.StatusBadRequest, "invalid_address", "%v", err).At("actor")
		}
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.Actor, r.How = o.Actor.String(), o.How }},
	fault.On: {[]string{"on"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.On = r.On
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.On = o.On }},
	fault.Skew: {[]string{"skew"}, func(r *model.FaultRequest, o *fault.Order) (err error) {
		o.Skew, err = parseDuration(r.Skew, "skew")
		return err
	}, func(o *fault.Order, r *model.FaultRequest) { r.Skew = answers.ShowDuration(o.Skew) }},
	fault.Groups: {[]string{"groups"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.Groups = r.Groups
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.Groups = o.Groups }},
	fault.Sides: {[]string{"left", "right"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.Left, o.Right = r.Left, r.Right
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.Left, r.Right = o.Left, o.Right }},
	fault.Ends: {[]string{"a", "b"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.A, o.B = r.A, r.B
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.A, r.B = o.A, o.B }},
	fault.Delay: {[]string{"delay"}, func(r *model.FaultRequest, o *fault.Order) (err error) {
		o.Delay, err = parseDuration(r.Delay, "delay")
		return err
	}, func(o *fault.Order, r *model.FaultRequest) { r.Delay = o.Delay.String() }},
	fault.Flapping: {[]string{"up", "down", "times"}, func(r *model.FaultRequest, o *fault.Order) (err error) {
		o.Times = r.Times
		if o.Up, err = parseDuration(r.Up, "up"); err != nil {
			return err
		}
		o.Down, err = parseDuration(r.Down, "down")
		return err
	}, func(o *fault.Order, r *model.FaultRequest) {
		r.Up, r.Down, r.Times = o.Up.String(), o.Down.String(), o.Times
	}},
	fault.Rejoining: {[]string{"after_blocks", "new_identity"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.AfterBlocks, o.NewIdentity = r.AfterBlocks, r.NewIdentity
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) {
		r.AfterBlocks, r.NewIdentity = o.AfterBlocks, o.NewIdentity
	}},
	fault.Offers: {[]string{"add", "remove"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.Add, o.Remove = r.Add, r.Remove
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.Add, r.Remove = o.Add, o.Remove }},
	fault.Victim: {[]string{"role or contract"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.Role, o.Contract = r.Role, r.Contract
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.Role, r.Contract = o.Role, o.Contract }},
	fault.Amid: {[]string{"instant", "times"}, func(r *model.FaultRequest, o *fault.Order) error {
		o.Instant, o.Times = r.Instant, max(r.Times, 1)
		return nil
	}, func(o *fault.Order, r *model.FaultRequest) { r.Instant, r.Times = o.Instant, o.Times }},
	fault.Properties: {[]string{"what happens to packets between them"}, func(r *model.FaultRequest, o *fault.Order) (err error) {
		o.Link = fault.Link{Loss: r.Loss, Duplicate: r.Duplicate, Reorder: r.Reorder, Bandwidth: r.Bandwidth, OneWay: r.OneWay}
		if o.Link.Latency, err = parseDuration(r.Latency, "latency"); err != nil {
			return err
		}
		o.Link.Jitter, err = parseDuration(r.Jitter, "jitter")
		return err
	}, func(o *fault.Order, r *model.FaultRequest) {
		l := o.Link
		r.Latency, r.Jitter, r.Loss, r.Duplicate = answers.ShowDuration(l.Latency), answers.ShowDuration(l.Jitter), l.Loss, l.Duplicate
		r.Reorder, r.Bandwidth, r.OneWay = l.Reorder, l.Bandwidth, l.OneWay
	}},
}

// OrderOf reads the order of a request: the arguments that its verb takes.
func OrderOf(r *model.FaultRequest) (fault.Order, error) {
	v := fault.Lookup(r.Verb)
	o := fault.Order{Verb: v}
	if v == nil || v.Hidden {
		return o, Refuse(http.StatusBadRequest, fault.CodeUnknownVerb, "there is no fault %q", clipText(r.Verb)).At("verb")
	}
	for _, a := range v.Takes {
		if err := arguments[a].read(r, &o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// requestOf returns the request that makes an order; nil if none can.
func requestOf(o *fault.Order) *model.FaultRequest {
	if o == nil || o.Verb.Hidden {
		return nil
	}
	r := &model.FaultRequest{Verb: o.Verb.Name}
	for _, a := range o.Verb.Takes {
		arguments[a].write(o, r)
	}
	return r
}

// ShowFault returns a fault's effect so far, in the form of the API.
func ShowFault(e fault.Effect) model.FaultReceipt {
	m := model.FaultReceipt{Verb: e.Verb, Detail: e.Detail, Did: e.Did, Idle: e.Idle, Ended: e.Ended, BeganMS: e.Begun.Millis(),
		Order: requestOf(e.Order)}
	if e.Ended {
		m.EndedMS = new(e.Until.Millis())
	}
	return m
}

// parseDuration reads a duration; none is 0.
func parseDuration(text, field string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, Refuse(http.StatusBadRequest, "invalid_duration", "invalid duration %q", clipText(text)).
			Hint("Write it with its unit: 20ms, 1.5s.").At(field)
	}
	return d, nil
}

// enumerateVerbs gives the schema of requests the verbs of the table.
func (s *Server) enumerateVerbs() {
	schema := s.api.OpenAPI().Components.Schemas.Map()["FaultRequest"]
	verb := schema.Properties["verb"]
	var switched []string
	for _, v := range fault.Verbs() {
		if v.Hidden {
			continue
		}
		verb.Enum = append(verb.Enum, v.Name)
		if slices.Contains(v.Takes, fault.On) {
			switched = append(switched, v.Name)
		}
	}
	schema.Properties["on"].Description = "For " + plural.List(switched, "and") + ": true begins it, false ends it."
	schema.PrecomputeMessages()
}

// describeVerbs says what each verb takes: those of nodes first, and of each kind those of
// every network first. Verbs that take the same are told together.
func describeVerbs() string {
	var parts []string
	for _, ofNode := range []bool{true, false} {
		parts = append(parts, toldOf(ofNode, false)...)
		parts = append(parts, toldOf(ofNode, true)...)
	}
	return strings.Join(parts, "; ")
}

func toldOf(ofNode, simulated bool) (parts []string) {
	var names []string
	var takes []fault.Argument
	var of fault.Whose
	tell := func() {
		verb := " takes "
		if len(names) > 1 {
			verb = " take "
		}
		if of == fault.Runners && len(names) > 0 {
			verb = " of a runner" + verb
		}
		switch {
		case simulated && len(names) > 0:
			parts = append(parts, plural.List(names, "and")+" are the simulator's")
		case len(names) > 0:
			parts = append(parts, plural.List(names, "and")+verb+plural.List(fieldsOf(takes), "and"))
		}
		names = nil
	}
	for _, v := range fault.Verbs() {
		if v.Hidden || v.OfNode() != ofNode || (v.Part != fault.ByProcess) != simulated {
			continue
		}
		if !simulated && (!slices.Equal(v.Takes, takes) || v.Of != of && (v.Of == fault.Runners || of == fault.Runners)) {
			tell()
		}
		names, takes, of = append(names, v.Name), v.Takes, v.Of
	}
	tell()
	return parts
}

func fieldsOf(takes []fault.Argument) (fields []string) {
	for _, a := range takes {
		fields = append(fields, arguments[a].fields...)
	}
	return fields
}
