package network

import (
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// Capability is a set of abilities that some networks lack.
type Capability uint16

// The capabilities.
const (
	Faults Capability = 1 << iota
	Links
	Disks
	Processors
	Clocks
	Pausing
	Travelling
	SystemKey
	Answers
	Members
	OwnRunners
	Snapshots
)

// The capabilities of networks.
const (
	Simulated = Snapshots<<1 - 1 // all
	Live      = Simulated &^ (Disks | Processors | Clocks | Snapshots)
	Alone     = Faults | SystemKey | Answers // of a node whose network runs in other processes
)

// Row describes a capability.
type Row struct {
	Is     Capability
	Name   string // in a list of capabilities
	words  string // what a caller asks for
	why    string // why a network lacks it that is not strict and has all its nodes
	remedy string
}

const onSim = "Run a scenario with --backend sim."

// Rows is the table of capabilities.
var Rows = []Row{
	{Is: Faults, Name: "faults of nodes", words: "a fault"},
	{Is: Links, Name: "faults of links", words: "a fault of links"},
	{Is: Disks, Name: "faults of disks", words: "a fault of a disk", remedy: onSim,
		why: "a live node writes to this machine's disk, which fails and slows down by itself only"},
	{Is: Processors, Name: "slow processors", words: "a slow processor", remedy: onSim,
		why: "live nodes share this machine's processors, which are not slowed for one of them"},
	{Is: Clocks, Name: "skewed clocks", words: "a skewed clock", remedy: onSim, why: "live nodes share this machine's clock"},
	{Is: Pausing, Name: "pause", words: "a pause"},
	{Is: Travelling, Name: "time travel", words: "time travel"},
	{Is: SystemKey, Name: "the system key's instructions", words: "signing by the devnet's keys"},
	{Is: Answers, Name: "jobs answered by hand", words: "answering jobs by hand"},
	{Is: Members, Name: "a validator joins", words: "starting a validator that joins"},
	{Is: OwnRunners, Name: "a runner joins", words: "starting a runner without its own key",
		why: "this network lets no runners in", remedy: "Make it with runners, or open to them."},
	{Is: Snapshots, Name: "snapshot of a running network", words: "a snapshot", remedy: onSim,
		why: "a live network cannot be made what it was"},
}

// Capabilities are what one network can do, and why it cannot do the rest.
type Capabilities struct {
	Can    Capability
	Strict bool   // it has no cheats
	Here   string // the only one of its nodes that runs in this process; "": all do, or obey it
	Whole  string // with Here, the URL of the API of the whole network; "": unknown
}

// Need refuses what takes a capability that the network lacks, by a *refusal.Error.
func (w *Orders) Need(what Capability) error { return w.backend.Capabilities().requireCapability(what) }

func (c Capabilities) requireCapability(what Capability) error {
	if c.Can&what != 0 && !c.Strict {
		return nil
	}
	row := rowOf(what)
	switch {
	case c.Strict:
		return ErrStrict(row.words)
	case c.Here != "" && Live&what != 0:
		refused := refusal.New("elsewhere", "%s takes a whole network, and only %s runs in this process", row.words, c.Here)
		if c.Whole != "" {
			return refused.Hint("Ask the whole network: --http %s.", c.Whole)
		}
		return refused.Hint("A network that devnet up brings up has all its nodes in one process.")
	}
	return refusal.New("unsupported", "%s is not possible here: %s", row.words, row.why).Hint("%s", row.remedy)
}

func rowOf(what Capability) *Row {
	for i := range Rows {
		if Rows[i].Is == what {
			return &Rows[i]
		}
	}
	panic("network: no row has this capability")
}

// NeededBy is the capability that a verb of faults takes.
func NeededBy(v *fault.Verb) Capability {
	switch {
	case v.Part == fault.Disk:
		return Disks
	case v.Part == fault.Processor:
		return Processors
	case v.Part == fault.Clock:
		return Clocks
	case !v.OfNode():
		return Links
	}
	return Faults
}
