package fault

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Order is a fault to make, or to end, as data: a verb of the table Verbs, and
// the arguments that it takes. Other arguments are not read.
type Order struct {
	Verb        *Verb
	Node        string        // a node's fault: whose. bridge: the node that reaches both sides
	Kind        string        // misbehave: how it lies, or Honest to end that
	How         string        // host_fail: HostCrashes, HostHangs, HostCrawls, or HostWorks to end that
	Actor       types.Address // host_fail: the actor that the host fails on
	Role        string        // panic, hang: the role, or Parent for the actor above the roles
	Contract    string        // panic, hang: the contract, in place of a role
	On          bool          // whether it begins, or ends
	Delay       time.Duration // slow, disk_slow, cpu_slow: how much longer work takes; 0 ends it. hang: how long it hangs
	Up, Down    time.Duration // flap: how long connections stay, and are gone
	Times       int           // flap: how often. crash_amid: at which such instant from now, 1 being the next
	Instant     string        // crash_amid: what its process does then
	AfterBlocks uint64        // rejoin: how many blocks later
	NewIdentity bool          // rejoin: under another key
	Add, Remove []string      // capability: what the runner offers from now on, and does not any more
	Skew        time.Duration // clock_skew: how far ahead of the others; negative is behind
	Groups      [][]string    // partition: groups that are separated
	Left, Right []string      // bridge: the nodes on either side
	A, B        string        // link: its ends
	Link        Link          // link: what happens to what passes
}

// World is a network of which faults are ordered.
type World interface {
	// Do does an order and returns what that did so far. If the order ends a fault
	// and has no effect itself, Do returns the Effect of that fault, or one that
	// reports it as done. Its error is a *refusal.Error, or says why this order
	// is refused now; then nothing was done.
	Do(Order) (Effect, error)
	// Faults says what each fault did so far, in the order they were made.
	Faults() []Effect
}

// Codes of orders that no network takes.
const (
	CodeUnknownVerb = "unknown_verb"
	CodeUnknownKind = "unknown_kind"
	CodeInvalid     = "invalid_fault"
)

// maxShown bounds a message's quotation of an unknown word.
const maxShown = 40

// UnmarshalJSON reads an order as MarshalJSON of its fields writes it: its verb is a name of the table, and all its fields are known.
func (o *Order) UnmarshalJSON(data []byte) error {
	type fields Order
	in := struct {
		*fields
		Verb string
	}{fields: (*fields)(o)}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return err
	}
	if o.Verb = Lookup(in.Verb); o.Verb == nil {
		return refusal.New(CodeUnknownVerb, "there is no fault %.*q", maxShown, in.Verb).At("verb")
	}
	return nil
}

// Check says what is wrong with an order, whichever network it is for, or nil: a
// *refusal.Error. Its world checks whether its nodes exist, and run.
func (o *Order) Check() error {
	for _, a := range o.Verb.Takes {
		if err := arguments[a].check(o); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, name := range o.Nodes() {
		if seen[name] {
			return refusal.New(CodeInvalid, "%s is named twice", name)
		}
		seen[name] = true
	}
	return nil
}

// CheckOf says why an order cannot be of a node of a kind, or nil: a *refusal.Error.
func (o *Order) CheckOf(kind Whose) error {
	v := o.Verb
	switch {
	case !v.OfNode():
		return nil
	case !v.Of.Has(kind):
		return refusal.New(CodeInvalid, "%s cannot be applied to %s: %s is one", v.Name, kind, o.Node).At("node")
	case slices.Contains(v.Takes, Kind) && o.Kind != Honest && !slices.Contains(KindsOf(kind), o.Kind):
		return refusal.New(CodeUnknownKind, "there is no misbehaviour %.*q of %s: they are %s", maxShown, o.Kind, kind,
			strings.Join(KindsOf(kind), ", ")).At("kind")
	case slices.Contains(v.Takes, Victim):
		return o.checkVictim(kind)
	}
	return nil
}

// Nodes lists the nodes that an order names, those that its verb takes.
func (o *Order) Nodes() (names []string) {
	for _, a := range o.Verb.Takes {
		names = append(names, arguments[a].nodes(o)...)
	}
	return names
}

// Detail returns an order's nodes and details, for people: "v0,v1 / v2,v3".
func (o *Order) Detail() string {
	var parts []string
	for _, a := range o.Verb.Takes {
		if text := arguments[a].text(o); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

// String is the verb and the detail.
func (o *Order) String() string { return strings.TrimSpace(o.Verb.Name + " " + o.Detail()) }

// Mends reports whether an order to a node ends what others of its verb began.
func (o *Order) Mends() bool {
	for _, a := range o.Verb.Takes {
		if ends := arguments[a].ends; ends != nil && ends(o) {
			return o.Verb.Lasts != AtOnce
		}
	}
	return false
}

// EndedBy returns the order that ends what an order began, nil where none does.
func (o *Order) EndedBy() *Order {
	switch {
	case o.Verb.Mends:
		return nil
	case o.Verb == Crash, o.Verb == Drop:
		return &Order{Verb: Restart, Node: o.Node}
	case o.Verb == Freeze:
		return &Order{Verb: Thaw, Node: o.Node}
	case !o.Verb.OfNode():
		return &Order{Verb: Heal}
	}
	end := &Order{Verb: o.Verb, Node: o.Node, Actor: o.Actor, Kind: Honest, How: HostWorks}
	if !end.Mends() && o.Verb != ClockSkew {
		return nil
	}
	return end
}

// Done is the effect of an order that leaves nothing to count.
func (o *Order) Done() Effect {
	made := *o
	return Effect{Verb: o.Verb.Name, Detail: o.Node, Did: "done", Ended: true, Order: &made}
}
