package scheduler

import (
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/convention"
)

func TestVectorsOfTimerIDs(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Actor         types.Address
		Height, Nonce uint64 `json:",string"`
		Payload       types.Bytes
		ID            types.TimerID
	}](t, "cip5/3.3-timer-id.json") {
		if got := TimerID(c.Actor, types.Height(c.Height), c.Payload, c.Nonce); got != c.ID {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestVectorsOfPayloads(t *testing.T) {
	for _, c := range vectors.Cases[struct{ Payload, Handler, Inner types.Bytes }](t, "cip5/4.2-payload.json") {
		handler, inner, ok := convention.Read(c.Payload)
		if !ok {
			handler, inner = DefaultHandler, c.Payload
		}
		if handler != string(c.Handler) || string(inner) != string(c.Inner) {
			t.Errorf("%q: %q with %q, want %q with %q", string(c.Payload), handler, inner, string(c.Handler), string(c.Inner))
		}
	}
}

func TestVectorsOfMaxCost(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		GasLimit     uint64    `json:"gas_limit,string"`
		MaxCells     uint64    `json:"max_cells_per_fire,string"`
		BaseFeeCycle types.Wei `json:"basefee_cycle"`
		BaseFeeCell  types.Wei `json:"basefee_cell"`
		MaxCost      types.Wei `json:"max_cost"`
	}](t, "cip5/6-max-cost.json") {
		w := newWorld()
		w.p.MaxCyclesPerFire, w.p.MaxCellsPerFire = types.Cycles(c.GasLimit), types.Cells(c.MaxCells)
		w.fees = Fees{Cycle: c.BaseFeeCycle, Cell: c.BaseFeeCell}
		if got := w.blockNow().MaxCost(&types.Timer{GasLimit: types.Cycles(c.GasLimit)}); got != c.MaxCost {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
