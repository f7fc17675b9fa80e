package scheduler

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler/convention"
)

// cases reads a file of CIP-5's vectors and fails where it holds none.
func cases[T any](t *testing.T, name string) []T {
	t.Helper()
	return casesOf[T](t, "cip5/"+name)
}

func casesOf[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile("../fixtures/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []T }
	if err := json.Unmarshal(data, &file); err != nil || len(file.Cases) < 10 {
		t.Fatalf("%s: %d cases, %v", name, len(file.Cases), err)
	}
	return file.Cases
}

func TestVectorsOfTimerIDs(t *testing.T) {
	for _, c := range cases[struct {
		Actor         types.Address
		Height, Nonce uint64 `json:",string"`
		Payload       types.Bytes
		ID            types.TimerID
	}](t, "3.3-timer-id.json") {
		if got := TimerID(c.Actor, types.Height(c.Height), c.Payload, c.Nonce); got != c.ID {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestVectorsOfPayloads(t *testing.T) {
	for _, c := range cases[struct{ Payload, Handler, Inner types.Bytes }](t, "4.2-payload.json") {
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
	for _, c := range cases[struct {
		GasLimit     uint64    `json:"gas_limit,string"`
		MaxCells     uint64    `json:"max_cells_per_fire,string"`
		BaseFeeCycle types.Wei `json:"basefee_cycle"`
		BaseFeeCell  types.Wei `json:"basefee_cell"`
		MaxCost      types.Wei `json:"max_cost"`
	}](t, "6-max-cost.json") {
		w := newWorld()
		w.p.MaxCyclesPerFire, w.p.MaxCellsPerFire = types.Cycles(c.GasLimit), types.Cells(c.MaxCells)
		w.fees = Fees{Cycle: c.BaseFeeCycle, Cell: c.BaseFeeCell}
		if got := w.blockNow().MaxCost(&types.Timer{GasLimit: types.Cycles(c.GasLimit)}); got != c.MaxCost {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
