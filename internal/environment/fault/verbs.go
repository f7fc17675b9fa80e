package fault

// Verb describes a verb to every face: what it takes, and how scripts, the HTTP
// API and the command line tell of it.
type Verb struct {
	Name  string
	Takes []Argument // in the order in which they are given
	// OfNode says that it is a fault of the validator Node: a verb of validators in
	// scripts. The others are of links.
	OfNode bool
	// Mends says that it ends what others did, and has no effect that could be idle.
	Mends bool
	// Hidden says that POST /devnet/fault does not take it.
	Hidden bool
	// Needs is what its validator must be for it.
	Needs State
	// Unsound says whether its validator cannot be expected to keep up from then on;
	// nil leaves that as it was.
	Unsound func(*Order) bool
	// NotLive is why a live network does not have it; "" where it does.
	NotLive string
	// Script is its sentence in the reference of scripts, and Words are what its kind
	// may be there.
	Script string
	Words  []string
	// Command is its phrase on the command line, "" where it is not there; Example are
	// its arguments in an example, and Note is what is said besides.
	Command, Example, Note string
}

// State is what a verb needs of its validator.
type State int

// The states.
const (
	Any State = iota
	Running
	Down
)

// always and never are Unsound of verbs that leave no doubt.
func always(*Order) bool { return true }
func never(*Order) bool  { return false }

// verbs is the table of all verbs, in the order in which they are told.
var verbs = []Verb{
	{Name: "crash", OfNode: true, Takes: []Argument{Node}, Needs: Running, Unsound: never,
		Script:  "Ends its process as kill -9 and a power cut do.",
		Command: "end a validator as kill -9 ends a process", Example: "v2"},
	{Name: "restart", OfNode: true, Takes: []Argument{Node}, Mends: true, Unsound: never,
		Script:  "Starts it again on what its disk kept; one that runs is crashed first.",
		Command: "start one that is down; it goes on from its files", Example: "v2"},
	{Name: "freeze", OfNode: true, Takes: []Argument{Node}, Needs: Running, Unsound: always,
		Script:  "Stops its process from running, while frames and time go on.",
		Command: "stop a validator's roles; frames wait for it", Example: "v2"},
	{Name: "thaw", OfNode: true, Takes: []Argument{Node}, Mends: true, Unsound: never,
		Script:  "Lets it run on.",
		Command: "let a frozen validator go on", Example: "v2"},
	{Name: "wipe", OfNode: true, Takes: []Argument{Node}, Needs: Down,
		Script:  "Empties the disk of one that was crashed.",
		Command: "lose the files of a validator that is down", Example: "v2"},
	{Name: "disk_fail", OfNode: true, Takes: []Argument{Node, On}, Unsound: func(o *Order) bool { return o.On },
		NotLive: "a live node writes to this machine's disk, which does not fail on demand; it is there with --backend sim",
		Script:  "Every use of its disk fails, until called with False."},
	{Name: "host_fail", OfNode: true, Takes: []Argument{Node, Over}, Hidden: true,
		Script: "Its host of programs fails over an actor: it crashes, or hangs until it is given up; \"works\" ends it.",
		Words:  []string{HostCrashes, HostHangs, HostWorks}},
	{Name: "clock_skew", OfNode: true, Takes: []Argument{Node, Skew},
		NotLive: "live nodes share this machine's clock; it is there with --backend sim",
		Script:  "Sets its clock ahead of the others, or behind."},
	{Name: "misbehave", OfNode: true, Takes: []Argument{Node, Kind}, Unsound: func(o *Order) bool { return o.Kind != Honest },
		Script: "Makes it Byzantine: equivocate, withhold_votes, fabricate_presence, suppress_presence, bad_state_root, silent_leader, " +
			"tamper_body, withhold_body, impersonate, forge, flood or passes_over; \"\" ends it.",
		Words: []string{"equivocate", "withhold_votes", "fabricate_presence", "suppress_presence", "bad_state_root", "silent_leader",
			"tamper_body", "withhold_body", "impersonate", "forge", "flood", "passes_over"},
		Command: "make a validator lie to the others", Example: "v2 equivocate",
		Note: "The kinds are equivocate, withhold_votes, silent_leader, bad_state_root, tamper_body, withhold_body,\n" +
			"impersonate, passes_over, forge and flood, and honest, which ends it."},
	{Name: "partition", Takes: []Argument{Groups},
		Script:  "Nodes reach those of their own group only; those not named form one more. Replaces the partition or bridge before.",
		Command: "let nodes reach those of their own group only", Example: "v0,v1 / v2,v3",
		Note: "Nodes that are not named form one more group. It replaces the partition or bridge before."},
	{Name: "bridge", Takes: []Argument{Node, Sides},
		Script:  "Cuts left from right; the node reaches both.",
		Command: "cut two sides apart, but for a node that reaches both", Example: "v0 v1 / v2,v3",
		Note: "It replaces the partition or bridge before."},
	{Name: "link", Takes: []Argument{Ends, Properties},
		Script:  "Sets the link between two nodes, with one_way that from a to b.",
		Command: "set what happens to packets between two nodes", Example: "v0 v1 --latency 80ms --jitter 20ms --loss 0.05"},
	{Name: "heal", Mends: true, Hidden: true,
		Script: "Mends all links. Nodes that are down or frozen stay so."},
}

// Verbs lists the verbs in the order in which they are told. The list is not
// changed.
func Verbs() []Verb { return verbs }

// Lookup is the verb of a name, or nil.
func Lookup(name string) *Verb {
	for i := range verbs {
		if verbs[i].Name == name {
			return &verbs[i]
		}
	}
	return nil
}
