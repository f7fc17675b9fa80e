package validators

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Results that consensus no longer holds are forgotten, and no others.
func TestForgottenResultsAreGone(t *testing.T) {
	e := &execution{results: map[types.Hash]*ledger.Result{{1}: {}, {2}: {}, {3}: {}}}
	e.forgetResults(forget{[]types.Hash{{3}, {1}, {9}}})
	if len(e.results) != 1 || e.results[types.Hash{2}] == nil {
		t.Errorf("%v is left", e.results)
	}
}
