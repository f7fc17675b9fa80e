package api

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Decision J23: no draft says what an economic bond is, so that nobody is given none by
// another name; and the mode says so.
func TestJ23AnEconomicBondIsRefused(t *testing.T) {
	p := params.Defaults()
	_, err := JobSpec(&model.JobRequest{Kind: "custom", Executor: "echo", Mode: "economic_bond"}, &p, nil)
	refused, is := err.(*Error)
	if !is || refused.Body.Code != "unsupported_mode" || refused.Body.Field != "mode" {
		t.Errorf("%v", err)
	}
}
