package ledger

import (
	"fmt"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// lane is a part of a block's cycles that some of the block's executions share
// (CIP-3). A limit is reserved before something runs, its use counted after.
type lane uint8

// The lanes. A transaction belongs to one (Checked.lane); the comments below name
// the content of the others.
const (
	laneUser    lane = iota // transfer, deploy, execute
	laneRunner              // runner transactions, which are free
	laneSystem              // system instructions, then deferred messages, which may also take what the user lane leaves
	laneTimer               // fires, before the transactions under gba, otherwise after (decision T3)
	laneBidders             // questions to gas bidding agents (decision T15): no part of the block's limit
	lanes
)

// laneTable has of each lane its name and its limit in a block. The limits of
// all but the bidders' are parts of the block's (params.Check). The scheduler
// keeps to those of timer and bidders as it goes; spend holds it to them.
var laneTable = [lanes]struct {
	name  string
	limit func(*params.Params) types.Cycles
}{
	laneUser:    {"user", func(p *params.Params) types.Cycles { return p.LaneUserCycles }},
	laneRunner:  {"runner", func(p *params.Params) types.Cycles { return p.LaneRunnerCycles }},
	laneSystem:  {"system", func(p *params.Params) types.Cycles { return p.LaneSystemCycles }},
	laneTimer:   {"timer", func(p *params.Params) types.Cycles { return p.LaneTimerCycles }},
	laneBidders: {"bidders", func(p *params.Params) types.Cycles { return p.GBABlockCycles }},
}

// String returns the lane's name, as refusals say it.
func (l lane) String() string { return laneTable[l].name }

// cycleLimit is the number of a block's cycles that the lane may use.
func (l lane) cycleLimit(p *params.Params) types.Cycles { return laneTable[l].limit(p) }

// use is a block's use so far.
type use struct {
	cycles [lanes]types.Cycles
	cells  types.Cells
}

// totalCycles is the cycles of all lanes.
func (u *use) totalCycles() (sum types.Cycles) {
	for _, used := range u.cycles {
		sum += used
	}
	return sum
}

// cyclesLeft is the number of unused cycles of a lane.
func (r *run) cyclesLeft(l lane) types.Cycles { return l.cycleLimit(r.params).Sub(r.used.cycles[l]) }

// spendCycles counts what was used in a lane, which had room for it.
func (r *run) spendCycles(l lane, cycles types.Cycles) {
	if cycles > r.cyclesLeft(l) {
		panic(fmt.Sprintf("ledger: %d cycles in the %s lane, which has %d left", cycles, l, r.cyclesLeft(l)))
	}
	r.used.cycles[l] += cycles
}
