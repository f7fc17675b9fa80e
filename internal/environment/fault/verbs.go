package fault

// Verb describes a verb to every face: its arguments, and its texts in scripts, the
// HTTP API and the command line.
type Verb struct {
	Name  string
	Takes []Argument // in the order in which they are given
	// The kinds of node that can have this fault, and whose name is Node; it is
	// their verb in scripts. A verb of no kind is a verb of links.
	Of Whose
	// Mends means that it ends the effect of others, and has no effect that could be
	// idle.
	Mends bool
	// Hidden says that POST /devnet/fault does not take it.
	Hidden bool
	// Needs is what its node must be for it.
	Needs State
	// Lasts is until when its effect lasts, if no order ends it before.
	Lasts Lasting
	// Unsound says whether a validator cannot be expected to keep up from then on; nil
	// leaves that as it was. Of runners nothing is expected.
	Unsound func(*Order) bool
	// Unit is what it counts where others count frames or packets; "" of most.
	Unit string
	// Part is the part of the node's machine that has it. Only simulated networks fault
	// another part than the process.
	Part Part
	// Script is its sentence in the reference of scripts, and Words are the values of
	// its kind there, for a validator.
	Script string
	Words  []string
	// Command is its phrase on the command line, "" if it has none; Example holds its
	// arguments in an example, and Note is a further remark.
	Command, Example, Note string
}

// Whose lists the kinds of node of a fault.
type Whose uint8

// The kinds of node.
const (
	Validators Whose = 1 << iota
	Runners
)

// Has reports whether a fault applies to a kind of node.
func (w Whose) Has(kind Whose) bool { return w&kind != 0 }

// MarshalText writes a verb by its name.
func (v *Verb) MarshalText() ([]byte, error) { return []byte(v.Name), nil }

// OfNode reports that a verb applies to one node, and not to links.
func (v *Verb) OfNode() bool { return v.Of != 0 }

// Part is a part of a node's machine.
type Part int

// The parts.
const (
	ByProcess Part = iota
	Disk
	Processor
	Clock
)

// State is the state that a verb requires of its node.
type State int

// The states.
const (
	Any State = iota
	Running
	Down
)

// Lasting is until when a fault of a node is in force.
type Lasting int

// The ends of faults.
const (
	AtOnce  Lasting = iota // it is over when it is done, or says itself when it is
	Process                // it ends with the process of its node
	Machine                // it outlives processes: an order ends it
)

// alwaysUnsound and never are Unsound of verbs that leave no doubt.
func alwaysUnsound(*Order) bool { return true }
func neverUnsound(*Order) bool  { return false }

// The verbs.
var (
	Crash = &Verb{Name: "crash", Of: Validators, Takes: []Argument{Node}, Lasts: Machine, Needs: Running, Unsound: neverUnsound,
		Script:  "Ends its process as kill -9 and a power cut do.",
		Command: "end a validator as kill -9 ends a process", Example: "v2"}
	Restart = &Verb{Name: "restart", Of: Validators | Runners, Takes: []Argument{Node}, Mends: true, Unsound: neverUnsound,
		Script:  "Starts it again on the contents of its disk; a running one is crashed first.",
		Command: "start a stopped node; a validator continues from its files", Example: "v2"}
	Freeze = &Verb{Name: "freeze", Of: Validators | Runners, Takes: []Argument{Node}, Lasts: Process, Needs: Running,
		Unsound: alwaysUnsound,
		Script:  "Stops its process, while frames and time continue.",
		Command: "stop a node's roles; frames wait for it", Example: "v2"}
	Thaw = &Verb{Name: "thaw", Of: Validators | Runners, Takes: []Argument{Node}, Mends: true, Unsound: neverUnsound,
		Script:  "Lets it run on.",
		Command: "resume a frozen node", Example: "v2"}
	Wipe = &Verb{Name: "wipe", Of: Validators, Takes: []Argument{Node}, Needs: Down,
		Script:  "Empties the disk of one that was crashed.",
		Command: "lose the files of a validator that is down", Example: "v2"}
	DiskFail = &Verb{Name: "disk_fail", Of: Validators, Takes: []Argument{Node, On}, Lasts: Machine,
		Unsound: func(o *Order) bool { return o.On },
		Part:    Disk,
		Script:  "Every use of its disk fails, until called with False."}
	DiskSlow = &Verb{Name: "disk_slow", Of: Validators, Takes: []Argument{Node, Delay}, Lasts: Machine,
		Unsound: func(o *Order) bool { return o.Delay > 0 },
		Part:    Disk,
		Script:  "Lengthens the sync of each write to its disk by the given time; 0 ends it."}
	CPUSlow = &Verb{Name: "cpu_slow", Of: Validators, Takes: []Argument{Node, Delay}, Lasts: Machine,
		Unsound: func(o *Order) bool { return o.Delay > 0 },
		Part:    Processor,
		Script:  "Lengthens each step of its roles by the given time; 0 ends it."}
	SyncLies = &Verb{Name: "sync_lies", Of: Validators, Takes: []Argument{Node, On}, Lasts: Machine,
		Unsound: func(o *Order) bool { return o.On },
		Part:    Disk,
		Script:  "Its disk reports writes as synced and does not sync them: a crash loses them. Called with False, it syncs them."}
	CrashAmid = &Verb{Name: "crash_amid", Of: Validators, Takes: []Argument{Node, Amid}, Lasts: Process, Needs: Running,
		Unsound: alwaysUnsound,
		Part:    Disk,
		Script: "Ends its process, as crash does, within a step: " + listWords(instants, "or") + ", at the nth such instant from now. It " +
			"appends to its log, and commits to its store.",
		Words: instants}
	HostFail = &Verb{Name: "host_fail", Of: Validators, Takes: []Argument{Node, Over}, Lasts: Machine,
		Script:  "The host of programs fails on an actor: it crashes, or hangs until the validator gives it up; \"works\" ends the fault.",
		Words:   []string{HostCrashes, HostHangs, HostCrawls, HostWorks},
		Command: "have a validator's host of programs fail on an actor", Example: "v2 heartbeat crash",
		Note: "HOW is crash, hang, crawl, or works, which ends it. A host that hangs uses its whole allowance of\n" +
			"CPU time; one that crawls uses little, and the validator's clock ends it. The fault survives restarts."}
	Panic = &Verb{Name: "panic", Of: Validators | Runners, Takes: []Argument{Node, Victim}, Needs: Running,
		Script: "One of its actors panics: a role, the parent of the roles, or with its next message a contract. The " +
			"argument supervision of network(…) decides what follows; a contract is always made again, and its execution is repeated.",
		Command: "have a role or a contract of a node panic", Example: "v2 --role consensus",
		Note: "The roles of a validator are archive, execution, consensus, intake, gateway and parent, those of a runner\n" +
			"runner and parent. The contracts are registry, dispatcher, verifier, treasury and governance; one panics\n" +
			"with its next message. The setting supervision decides what follows a panic of a role."}
	Hang = &Verb{Name: "hang", Of: Validators | Runners, Takes: []Argument{Node, Delay, Victim}, Needs: Running,
		Script: "One of its actors hangs for the given time. A role, or the parent of the roles, does nothing; a contract takes that much " +
			"longer for its next message.",
		Command: "have a role or a contract of a node hang for a time", Example: "v2 2s --role execution",
		Note: "It takes the roles and contracts that panic takes. A time is at most 1m0s."}
	ClockSkew = &Verb{Name: "clock_skew", Of: Validators, Takes: []Argument{Node, Skew}, Lasts: Machine,
		Part:   Clock,
		Script: "Sets its clock ahead of the others, or back."}
	Misbehave = &Verb{Name: "misbehave", Of: Validators | Runners, Takes: []Argument{Node, Kind}, Lasts: Process,
		Unsound: func(o *Order) bool { return o.Kind != Honest },
		Script:  "Makes it Byzantine: " + listWords(kinds, "or") + "; \"\" ends it.",
		Words:   kinds,
		Command: "make a node lie to the others", Example: "v2 equivocate",
		Note: "The kinds are " + listWords(kinds, "and") + ", of a runner " + listWords(kindsOfRunners, "and") + ", and honest, which ends it."}
	Twin = &Verb{Name: "twin", Of: Validators, Takes: []Argument{Node, On}, Lasts: Process, Needs: Running,
		Unsound: func(o *Order) bool { return o.On },
		Script: "Starts a second process with its key and an empty home, beside it and behind its address; called with False, " +
			"stops that. The second votes for nothing while the first answers the others.",
		Command: "start a second process with a validator's key", Example: "v1",
		Note: "Its home is empty, and it shares the address of the first. It votes for nothing while the first answers (C5)."}
	Drop = &Verb{Name: "drop", Of: Runners, Takes: []Argument{Node}, Lasts: Machine, Needs: Running,
		Script:  "Ends its process; its connections close without a Goodbye.",
		Command: "end a runner's process, and with it its connections", Example: "r1"}
	Blackhole = &Verb{Name: "blackhole", Of: Runners, Takes: []Argument{Node, On}, Lasts: Process, Needs: Running,
		Script:  "It keeps pinging and answers no job, until called with False.",
		Command: "leave a runner's jobs without an answer", Example: "r1"}
	Slow = &Verb{Name: "slow", Of: Runners, Takes: []Argument{Node, Delay}, Lasts: Process, Needs: Running, Unit: "result",
		Script:  "Its work on each job takes longer by the given time; 0 ends it.",
		Command: "delay the work of a runner on each job; 0s ends it", Example: "r1 2s"}
	Flap = &Verb{Name: "flap", Of: Runners, Takes: []Argument{Node, Flapping}, Lasts: Process, Needs: Running,
		Script:  "Its connections come and go: up for the one time, down for the other, as often as given.",
		Command: "let a runner's connections come and go", Example: "r1 2s 1s 5",
		Note: "They are up for UP and down for DOWN, TIMES times."}
	Saturate = &Verb{Name: "saturate", Of: Runners, Takes: []Argument{Node, On}, Lasts: Process, Needs: Running,
		Script:  "It says that it takes no new jobs, and takes none, until called with False.",
		Command: "make a runner refuse new jobs", Example: "r1"}
	Capability = &Verb{Name: "capability", Of: Runners, Takes: []Argument{Node, Offers}, Lasts: Process, Needs: Running,
		Script: "It says on its connections that it offers what add names and no longer what remove names; entitlement:NAME is a pool. " +
			"Registry, votes and draws stay as they are.",
		Command: "have a runner say that it offers more, or less", Example: "r1 --add model:small --remove llm",
		Note: "It sends each validator a CapabilityDelta, which changes neither registry nor draws (CIP-11 6.5).\n" +
			"A name is a capability, or with entitlement: before it a pool."}
	Rejoin = &Verb{Name: "rejoin", Of: Runners, Takes: []Argument{Node, Rejoining}, Lasts: Machine, Needs: Running,
		Script: "Ends its process, as drop does, and starts it again after the given number of blocks. With new_identity it starts and " +
			"registers under another key.",
		Command: "end a runner's process, and start it again some blocks later", Example: "r1 10 --new-identity"}
	Partition = &Verb{Name: "partition", Takes: []Argument{Groups},
		Script: "Nodes reach only nodes of the same group; those not named form one more, which an empty last group stands for. " +
			"Runners reach all where none is named. Replaces the partition or bridge before.",
		Command: "split the nodes into groups that do not reach each other", Example: "v0,v1 / v2,v3",
		Note: "Nodes that are not named form one more group: v0 / cuts v0 off from the other validators. Runners reach\n" +
			"every node, unless one of them is named. It replaces the partition or bridge before."}
	Bridge = &Verb{Name: "bridge", Takes: []Argument{Node, Sides},
		Script:  "Cuts left from right; the node reaches both.",
		Command: "cut two sides apart, but for a node that reaches both", Example: "v0 v1 / v2,v3",
		Note: "It replaces the partition or bridge before."}
	SetLink = &Verb{Name: "link", Takes: []Argument{Ends, Properties},
		Script:  "Sets the link between two nodes, with one_way that from a to b.",
		Command: "set what happens to packets between two nodes", Example: "v0 v1 --latency 80ms --jitter 20ms --loss 0.05"}
	Heal = &Verb{Name: "heal", Mends: true, Hidden: true,
		Script: "Removes the faults of all links. Nodes that are down or frozen stay so."}
)

// verbs is the table of all verbs, in the order in which they are told.
var verbs = []*Verb{
	Crash, Restart, Freeze, Thaw, Wipe, DiskFail, DiskSlow, CPUSlow, SyncLies, CrashAmid, HostFail, Panic, Hang, ClockSkew,
	Misbehave, Twin, Drop, Blackhole, Slow, Flap, Saturate, Capability, Rejoin, Partition, Bridge, SetLink, Heal,
}

// Verbs lists the verbs in the order in which they are told. The list is not
// changed.
func Verbs() []*Verb { return verbs }

// Lookup is the verb of a name, or nil.
func Lookup(name string) *Verb {
	for _, v := range verbs {
		if v.Name == name {
			return v
		}
	}
	return nil
}
