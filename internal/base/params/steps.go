package params

import "github.com/cowboyinc/devnet/internal/base/types"

// StepCosts is the part of CIP-3's table that a host of programs charges for a
// program's own steps, in the order of its names (internal/environment/pyhost/protocol.go).
type StepCosts [16]types.Cycles

// StepCosts takes that part from the parameters in force.
func (p *Params) StepCosts() StepCosts {
	return StepCosts{
		p.CostArithmetic, p.CostCall, p.CostDict, p.CostList, p.CostStringChar, p.CostLen, p.CostReduceBase, p.CostSortBase,
		p.CostStrBase, p.CostListBase, p.CostSetBase, p.CostDictBase, p.CostImportFirst, p.CostImport, p.CostSerialise,
		p.CostKeccakWord,
	}
}
