package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/plural"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/typo"
)

// Argument is something that verbs take.
type Argument int

// The arguments, and which fields of an Order they are.
const (
	Node       Argument = iota // Node
	Kind                       // Kind
	Over                       // Actor and How
	On                         // On
	Skew                       // Skew
	Groups                     // Groups
	Sides                      // Left and Right
	Ends                       // A and B
	Properties                 // Link
	Delay                      // Delay
	Flapping                   // Up, Down and Times
	Rejoining                  // AfterBlocks and NewIdentity
	Offers                     // Add and Remove
	Victim                     // Role or Contract
	Amid                       // Instant and Times
)

// argument is how an argument is judged and told.
type argument struct {
	nodes func(*Order) []string // that it names
	check func(*Order) error
	text  func(*Order) string // of Detail; "" tells nothing
	ends  func(*Order) bool   // whether its value ends a fault that lasts; nil: no value does
}

var arguments = map[Argument]argument{
	Node: {nodes: func(o *Order) []string { return []string{o.Node} }, check: acceptAny, text: func(o *Order) string { return o.Node }},
	Kind: {nodes: noNames, check: func(o *Order) error { return CheckKind(o.Kind) }, text: func(o *Order) string { return o.Kind },
		ends: func(o *Order) bool { return o.Kind == Honest }},
	Over: {nodes: noNames, check: checkHow, text: func(o *Order) string { return o.How + " over " + o.Actor.String() },
		ends: func(o *Order) bool { return o.How == HostWorks }},
	On:   {nodes: noNames, check: acceptAny, text: func(*Order) string { return "" }, ends: func(o *Order) bool { return !o.On }},
	Skew: {nodes: noNames, check: acceptAny, text: func(o *Order) string { return o.Skew.String() }},
	Groups: {nodes: func(o *Order) []string { return slices.Concat(o.Groups...) }, check: checkGroups,
		text: func(o *Order) string { return Divided(o.Groups...) }},
	Sides: {nodes: func(o *Order) []string { return slices.Concat(o.Left, o.Right) }, check: acceptAny,
		text: func(o *Order) string { return Divided(o.Left, o.Right) }},
	Ends: {nodes: func(o *Order) []string { return []string{o.A, o.B} }, check: checkEnds,
		text: func(o *Order) string { return o.A + " " + o.B }},
	Properties: {nodes: noNames, check: checkLink, text: func(o *Order) string { return o.Link.String() }},
	Delay: {nodes: noNames, check: checkDelay, text: func(o *Order) string { return o.Delay.String() },
		ends: func(o *Order) bool { return o.Delay == 0 }},
	Flapping: {nodes: noNames, check: checkFlapping,
		text: func(o *Order) string {
			return fmt.Sprintf("%v up, %v down, %s", o.Up, o.Down, plural.Of(o.Times, "time"))
		}},
	Offers: {nodes: noNames, check: checkOffers, text: func(o *Order) string {
		var words []string
		for _, name := range o.Add {
			words = append(words, "+"+name)
		}
		for _, name := range o.Remove {
			words = append(words, "-"+name)
		}
		return strings.Join(words, " ")
	}},
	Rejoining: {nodes: noNames, check: checkRejoining, text: func(o *Order) string {
		text := plural.Of(o.AfterBlocks, "block") + " later"
		if o.NewIdentity {
			text += ", under another key"
		}
		return text
	}},
	Amid: {nodes: noNames, check: checkAmid, text: func(o *Order) string {
		text := o.Instant
		if o.Times > 1 {
			text += fmt.Sprintf(" %d", o.Times)
		}
		return text
	}},
	Victim: {nodes: noNames, check: checkVictim, text: func(o *Order) string {
		if o.Contract != "" {
			return "contract " + o.Contract
		}
		return "role " + o.Role
	}},
}

// checkGroups refuses groups without another side: a slash that was forgotten makes one group.
func checkGroups(o *Order) error {
	if len(o.Groups) == 0 || len(slices.Concat(o.Groups...)) == 0 {
		return refusal.New(CodeInvalid, "a partition names no node").At("groups")
	}
	last := len(o.Groups) - 1
	if last == 0 {
		return refusal.New(CodeInvalid, "a partition of %s alone does not say its other side", Divided(o.Groups...)).At("groups").
			Hint("Name another group, or add an empty one: it stands for the rest.")
	}
	if slices.ContainsFunc(o.Groups[:last], func(g []string) bool { return len(g) == 0 }) {
		return refusal.New(CodeInvalid, "a group of the partition is empty; only the last may be, and it stands for the rest").At("groups")
	}
	return nil
}

// Limits of faults of runners: what lasts longer is another fault.
const (
	MaxFlaps       = 1_000
	MaxRejoinAfter = 1_000_000 // blocks
	MaxOffers      = 64        // that one order adds or removes, with those before below the limit of a CapabilityDelta
	MaxOffer       = 256       // bytes of one
)

// PoolPrefix begins an offer that is an entitlement, a pool of runners, and not a
// capability.
const PoolPrefix = "entitlement:"

func checkOffers(o *Order) error {
	all := slices.Concat(o.Add, o.Remove)
	if len(all) == 0 || len(all) > MaxOffers {
		return refusal.New(CodeInvalid, "%d capabilities are added and removed, and not 1 to %d", len(all), MaxOffers).At("add")
	}
	for i, name := range all {
		field := "add"
		if i >= len(o.Add) {
			field = "remove"
		}
		switch printable := strings.IndexFunc(name, func(c rune) bool { return c <= ' ' || c > '~' }) < 0; {
		case name == "" || name == PoolPrefix || len(name) > MaxOffer || !printable:
			return refusal.New(CodeInvalid, "the capability %.40q does not have 1 to %d printable characters without spaces", name,
				MaxOffer).At(field)
		case slices.Contains(all[:i], name):
			return refusal.New(CodeInvalid, "the capability %.40q is named twice", name).At(field)
		}
	}
	return nil
}

// Instants of a process, at which crash_amid ends it. Its log and its store are on one disk. It appends votes to the log before it sends
// them (decision C5), and commits final blocks to the store.
const (
	BeforeAppend = "before append" // and before its log is rewritten
	TornAppend   = "torn append"   // some of its records survive, the last never does
	AfterAppend  = "after append"  // synced, and nothing more
	BeforeSend   = "before send"
	AfterSend    = "after send"
	BeforeCommit = "before commit"
	AfterCommit  = "after commit"
)

// instants are all of them.
var instants = []string{BeforeAppend, TornAppend, AfterAppend, BeforeSend, AfterSend, BeforeCommit, AfterCommit}

// Instants lists the instants of crash_amid.
func Instants() []string { return slices.Clone(instants) }

// MaxInstants bounds which instant from now ends a process: some minutes of sends.
const MaxInstants = 100_000

func checkAmid(o *Order) error {
	if !slices.Contains(instants, o.Instant) {
		return refusal.New(CodeInvalid, "there is no instant %.*q: they are %s", maxShown, o.Instant, listWords(instants, "and")).At("instant")
	}
	if o.Times < 1 || o.Times > MaxInstants {
		return refusal.New(CodeInvalid, "times %d is not within 1 and %d", o.Times, MaxInstants).At("times")
	}
	return nil
}

func checkDelay(o *Order) error { return checkAtLeast("delay", o.Delay, 0) }

func checkFlapping(o *Order) error {
	if err := checkAtLeast("up", o.Up, time.Millisecond); err != nil {
		return err
	}
	if err := checkAtLeast("down", o.Down, time.Millisecond); err != nil {
		return err
	}
	if o.Times < 1 || o.Times > MaxFlaps {
		return refusal.New(CodeInvalid, "times %d is not within 1 and %d", o.Times, MaxFlaps).At("times")
	}
	return nil
}

func checkRejoining(o *Order) error {
	if o.AfterBlocks > MaxRejoinAfter {
		return refusal.New(CodeInvalid, "after_blocks %d is above %d", o.AfterBlocks, MaxRejoinAfter).At("after_blocks")
	}
	return nil
}

func checkAtLeast(field string, d, least time.Duration) error {
	if d < least || d > MaxDelay {
		return refusal.New(CodeInvalid, "%s %v is not within %v and %v", field, d, least, MaxDelay).At(field)
	}
	return nil
}

func noNames(*Order) []string { return nil }
func acceptAny(*Order) error  { return nil }

func checkHow(o *Order) error {
	if err := CheckHost(o.How); err != nil {
		return refusal.New(CodeUnknownKind, "%v", err).At("how")
	}
	return nil
}

func checkEnds(o *Order) error {
	if o.A == o.B {
		return refusal.New(CodeInvalid, "%s has no link to itself", o.A).At("b")
	}
	return nil
}

func checkLink(o *Order) error {
	if err := o.Link.Check(); err != nil {
		return refusal.New(CodeInvalid, "link %s %s: %v", o.A, o.B, err)
	}
	return nil
}

// Honest is the kind of misbehave that ends it.
const Honest = "honest"

// kinds are the ways in which a validator can misbehave; package byzantine does
// them. Texts for people list them from here.
var kinds = []string{"equivocate", "withhold_votes", "silent_leader", "bad_state_root", "passes_over", "tamper_body",
	"withhold_body", "impersonate", "forge", "flood", "fabricate_presence", "suppress_presence", "misshape_presence", "choose_votes",
	"false_commit", "false_cancel", "withhold_result", "double_assign"}

// kindsOfRunners are the ways in which a runner can misbehave. no_reveal is to work
// and to say no result: who says one has its commitment revealed by validators.
var kindsOfRunners = []string{"wrong_result", "late_result", "duplicate_result", "no_reveal", "bad_signature", "replay_nonce", "reject"}

// listWords is a list in words: "a, b and c".
func listWords(words []string, last string) string {
	end := len(words) - 1
	return strings.Join(words[:end], ", ") + " " + last + " " + words[end]
}

// ScriptOf is Script for a kind of node: each has ways of its own to misbehave.
func (v *Verb) ScriptOf(kind Whose) string {
	if kind != Runners || len(v.Words) == 0 {
		return v.Script
	}
	return strings.Replace(v.Script, listWords(v.Words, "or"), listWords(KindsOf(kind), "or"), 1)
}

// KindsOf lists the ways in which a node of a kind can misbehave.
func KindsOf(kind Whose) []string {
	if kind == Runners {
		return slices.Clone(kindsOfRunners)
	}
	return slices.Clone(kinds)
}

// String is what nodes of the kind are called.
func (w Whose) String() string {
	if w == Runners {
		return "runners"
	}
	return "validators"
}

// CheckKind says why no node can misbehave in a way, or nil.
func CheckKind(kind string) error {
	if kind == Honest || slices.Contains(kinds, kind) || slices.Contains(kindsOfRunners, kind) {
		return nil
	}
	if near := typo.Suggestion(kind, slices.Concat(kinds, kindsOfRunners)); near != "" {
		return refusal.New(CodeUnknownKind, "there is no misbehaviour %.*q%s", maxShown, kind, near).At("kind")
	}
	return refusal.New(CodeUnknownKind, "there is no misbehaviour %.*q: they are %s, of a runner %s", maxShown, kind,
		listWords(kinds, "and"), listWords(kindsOfRunners, "and")).At("kind")
}
