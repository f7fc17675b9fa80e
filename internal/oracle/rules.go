package oracle

import "github.com/cowboyinc/devnet/internal/base/types"

// LaneRules are a block's parameters for the timer lane and the base fees. An
// Observation shows those of its block, and Rules those of genesis.
type LaneRules struct {
	Policy string // decision T25

	SystemCycles                                             types.Cycles // of the deferred messages
	CyclesLimit, LaneBudget, GCBudget, GCPerTimer, AskBudget types.Cycles
	CellsLimit                                               types.Cells
	FeeDivisor, LaneFeeDivisor                               uint64
	LaneFeeGain                                              uint64 // in thousandths; 0: the fee is still
	MinBaseFee                                               types.Wei
	FeePermille                                              uint64 // of the lane's base fee, that a cycle pays

	FireCycles, FireCyclesAuction types.Cycles // one fire may use, by CIP-5 and under eip1559
	FireCells                     types.Cells
	Examined, Arrears             uint64 // due timers that a block examines, and of these in arrears

	PriorityFloor        types.Wei
	TieByAge             bool
	Window               uint64 // blocks over which fires are counted
	ByMean               bool   // measured by the mean and not by the median
	ByDeployer           bool   // the fires of a deployer's actors weigh together
	Smoothing            uint64 // thousandths by which a block's own center moves the one that counts; 0 and 1000: wholly
	WeightMin, WeightMax uint64

	Reserve                types.Wei // of the auctions
	FiresBlock, FiresActor uint64
}

// The policies, by the protocol's names.
const (
	fifo           = "fifo"
	eip1559        = "eip1559"
	firstRevision  = "gba"
	secondPrice    = "bias-vcg"
	firstPrice     = "bias-first-price"
	reasonLaneFull = "lane_full"
	reasonCells    = "block_cells_full"
	reasonGC       = "gc_lane_full"
)

func (l *LaneRules) isAuction() bool { return l.Policy == secondPrice || l.Policy == firstPrice }

// limitOfFire is what a fire of a timer may use (decision T5).
func (l *LaneRules) limitOfFire(t *types.Timer) types.Cycles {
	most := l.FireCycles
	if l.Policy == eip1559 && l.FireCyclesAuction < most {
		most = l.FireCyclesAuction
	}
	if t.GasLimit == 0 || t.GasLimit > most { // none was stated, or the cap fell since
		return most
	}
	return t.GasLimit
}
