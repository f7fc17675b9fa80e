package api

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/params"
)

// Decision J23: no draft defines an economic bond, so it is not replaced by another
// mode; the error names the mode.
func TestJ23AnEconomicBondIsRefused(t *testing.T) {
	p := params.Defaults()
	_, err := JobSpec(&model.JobRequest{Kind: "custom", Executor: "echo", Mode: "economic_bond"}, &p, nil)
	refused, is := err.(*Error)
	if !is || refused.Body.Code != "unsupported_mode" || refused.Body.Field != "mode" {
		t.Errorf("%v", err)
	}
}
