package validators

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

func reportOf(sender, n byte, size int) *ledger.Checked {
	return &ledger.Checked{Sender: types.Address{sender}, Hash: types.Hash{sender, n}, Size: size}
}

// One validator's flood of runner transactions is its own loss, and whatever left
// makes room again.
func TestReportsAreBoundedForEachValidator(t *testing.T) {
	var r reports
	for n := range byte(4) {
		if err := r.add(5, reportOf(1, n, maxReportBytes/4)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.add(5, reportOf(1, 9, 1)); err == nil {
		t.Error("one validator holds more than its bytes")
	}
	if err := r.add(5, reportOf(1, 2, 1)); err != nil || len(r.waiting) != 4 {
		t.Error("one that waits already is taken twice, or refused")
	}
	if err := r.add(6, reportOf(2, 1, 100)); err != nil {
		t.Error("one validator's flood keeps another out")
	}
	r.drop(types.Hash{1, 3})
	r.confirm(7, func(c *ledger.Checked) bool { return c.Hash == types.Hash{1, 0} })
	if r.get(types.Hash{1, 0}) != nil || r.get(types.Hash{1, 3}) != nil || r.get(types.Hash{1, 1}) == nil {
		t.Error("what a block includes, or none can hold, is kept; or another was taken for it")
	}
	if err := r.add(7, reportOf(1, 9, maxReportBytes/2)); err != nil {
		t.Error("what left made no room")
	}
	r.confirm(7+reportAge, func(*ledger.Checked) bool { return false })
	if len(r.waiting)+len(r.known)+len(r.count)+len(r.bytes) != 0 {
		t.Errorf("too old, and kept: %+v", r)
	}
}
