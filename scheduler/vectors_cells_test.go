package scheduler

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/fixtures/vectors"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// keeping is a state that notes what is written, not what is taken out.
type keeping struct {
	KV
	kept []keptPair
}

type keptPair struct{ Key, Value types.Bytes }

func (k *keeping) Set(key, value []byte) {
	if value != nil {
		k.kept = append(k.kept, keptPair{slices.Clone(key), slices.Clone(value)})
	}
	k.KV.Set(key, value)
}

// cellsStep is one call of a case of cip5/6.1-cells.json.
type cellsStep struct {
	Verb        string
	Now         types.Height `json:",string"`
	Actor       types.Address
	Height      types.Height `json:",string"`
	Payload     types.Bytes
	Handler     string
	GasLimit    *types.Cycles `json:"gas_limit,string"`
	ExpiresAt   *types.Height `json:"expires_at,string"`
	MaxFee      *types.Wei    `json:"max_fee_per_cycle"`
	MaxPriority *types.Wei    `json:"max_priority_fee_per_cycle"`
	GBA         *types.Address
	Watch       *types.Watch
	Sponsor     *struct {
		Transaction types.Hash
		Signer      types.Address
		Most        types.Wei
	}
	ID     types.TimerID
	Writes []keptPair
	Cells  types.Cells `json:",string"`
}

// do makes the call at its height, and says what was written and counted.
func (s *cellsStep) do(w *world, owner types.Address) ([]keptPair, types.Cells, error) {
	w.head = s.Now - 1
	block := w.blockNow()
	block.Maintain()
	noted := &keeping{KV: w.kv}
	written := &Written{KV: noted}
	block.KV = written
	if s.Verb == "extend" {
		_, err := block.Extend(owner, s.ID, *s.ExpiresAt)
		return noted.kept, written.Cells, err
	}
	req := program.TimerRequest{Height: s.Height, Payload: s.Payload, Handler: s.Handler, GasLimit: s.GasLimit, ExpiresAt: s.ExpiresAt,
		MaxFeePerCycle: s.MaxFee, MaxPriorityFeePerCycle: s.MaxPriority, GBA: s.GBA, Watch: s.Watch}
	var signed *types.Sponsorship
	if s.Sponsor != nil {
		signed = &types.Sponsorship{Signer: s.Sponsor.Signer, Most: s.Sponsor.Most, Transaction: s.Sponsor.Transaction}
		req.FeePayer = &s.Sponsor.Signer
	}
	_, _, err := block.Schedule(s.Actor, signed, req)
	return noted.kept, written.Cells, err
}

func TestT29VectorsOfCells(t *testing.T) {
	for _, c := range vectors.Cases[struct {
		Name  string
		Steps []cellsStep
	}](t, "cip5/6.1-cells.json") {
		w := rich()
		w.p.Policy, w.fees.Lane = EIP1559, types.WeiOf(1000)
		for i := range c.Steps {
			s := &c.Steps[i]
			kept, cells, err := s.do(w, c.Steps[0].Actor)
			slices.SortFunc(kept, func(a, b keptPair) int { return bytes.Compare(a.Key, b.Key) })
			if err != nil || cells != s.Cells {
				t.Errorf("%s, step %d: %d cells, want %d; %v", c.Name, i, cells, s.Cells, err)
			}
			if !slices.EqualFunc(kept, s.Writes, func(a, b keptPair) bool {
				return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
			}) {
				t.Errorf("%s, step %d: %s writes %s, want %s", c.Name, i, s.Verb, kept, s.Writes)
			}
		}
	}
}
