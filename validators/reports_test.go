package validators

import (
	"errors"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// resultOf is a result of a runner that a validator brings; beatOf a heartbeat.
func resultOf(sender, runner, n byte, size int) report {
	return report{tx: &ledger.Checked{Sender: types.Address{sender}, Hash: types.Hash{sender, runner, n}, Size: size}, came: 5,
		runner: types.Address{runner}}
}

func beatOf(sender, runner, nonce byte, height types.Height) report {
	one := resultOf(sender, runner, nonce, 200)
	one.tx.Hash[3], one.beat = byte(height), &height
	return one
}

func (r *reports) takes(one report) bool {
	fresh, err := r.addReport(one)
	return fresh && err == nil
}

// J24: a runner has at most as many waiting results as are left to all others, in number
// and in bytes. So five floods keep no sixth runner's result out.
func TestJ24AFloodOfOneRunnerIsItsOwnLoss(t *testing.T) {
	for what, size := range map[string]int{"in number": 100, "in bytes": maxReportBytes / 300} {
		var r reports
		taken := 0
		for n := range 2000 {
			one := resultOf(1, 1, 0, size)
			one.tx.Hash[4], one.tx.Hash[5] = byte(n), byte(n>>8)
			if r.takes(one) {
				taken++
			}
		}
		if most := min(maxReports, maxReportBytes/size) / 2; taken != most {
			t.Errorf("%s: %d of one runner wait; want half of all, %d", what, taken, most)
		}
		for runner := byte(2); runner < 6; runner++ { // each floods too
			for n := range byte(255) {
				r.takes(resultOf(1, runner, n, size))
			}
		}
		if !r.takes(resultOf(1, 9, 0, size)) {
			t.Errorf("%s: five floods keep a sixth runner's result out", what)
		}
		if !r.takes(resultOf(2, 1, 0, size)) {
			t.Errorf("%s: one validator's flood keeps another's out", what)
		}
		_, err := r.addReport(resultOf(1, 1, 9, size))
		if full := (*ReportsFullError)(nil); !errors.As(err, &full) || full.Runner != (types.Address{1}) {
			t.Errorf("%s: the flooding runner is told %v", what, err)
		}
		r.confirmBlock(6, func(tx *ledger.Checked) bool { return tx.Hash[1] == 1 })
		if !r.takes(resultOf(1, 1, 9, size)) {
			t.Errorf("%s: what left made no room", what)
		}
	}
}

// J24: one heartbeat of a runner waits, the one of the highest block. Heartbeats take the
// room of no result, and come after results.
func TestJ24OneHeartbeatOfARunnerWaits(t *testing.T) {
	var r reports
	for height := types.Height(100); height < 100+5000; height++ {
		if !r.takes(beatOf(1, 7, byte(height>>8), height)) {
			t.Fatalf("the heartbeat at height %d is not taken", height)
		}
		if r.takes(beatOf(1, 7, 99, height)) || r.takes(beatOf(1, 7, 98, height-1)) {
			t.Fatalf("a second one is taken at height %d, or one of a lower height", height)
		}
	}
	if len(r.heartbeats) != 1 || len(r.known) != 1 || *r.heartbeats[0].beat != 5099 {
		t.Errorf("%d heartbeats wait, %d are known", len(r.heartbeats), len(r.known))
	}
	if !r.takes(beatOf(1, 8, 0, 3)) || !r.takes(resultOf(1, 8, 1, 100)) {
		t.Error("another runner's heartbeat or result is not taken")
	}
	first := true
	r.eachReport(func(tx *ledger.Checked) bool {
		if first && tx.Size != 100 {
			t.Error("a heartbeat comes before a result")
		}
		first = false
		return true
	})
}

// Reports that wait too long are given up and returned; included and dropped ones are not.
func TestReportsThatAgedAreReturned(t *testing.T) {
	var r reports
	aged, used, dropped := resultOf(1, 1, 1, 10), resultOf(1, 1, 2, 10), resultOf(2, 1, 3, 10)
	for _, one := range []report{aged, used, dropped, beatOf(1, 1, 4, 9)} {
		if !r.takes(one) {
			t.Fatal("not taken")
		}
	}
	if fresh, err := r.addReport(aged); fresh || err != nil || len(r.waiting) != 3 {
		t.Error("one that waits already is taken twice, or refused")
	}
	r.dropReport(dropped.tx.Hash)
	if gone := r.confirmBlock(6, func(c *ledger.Checked) bool { return c.Hash == used.tx.Hash }); len(gone) != 0 {
		t.Errorf("%d are said to be given up", len(gone))
	}
	if r.findReport(used.tx.Hash) != nil || r.findReport(dropped.tx.Hash) != nil || r.findReport(aged.tx.Hash) == nil {
		t.Error("a report is kept though a block includes it or none can hold it, or the wrong one was dropped")
	}
	gone := r.confirmBlock(5+reportAge, func(*ledger.Checked) bool { return false })
	if len(gone) != 2 || gone[0].Hash != aged.tx.Hash {
		t.Errorf("given up: %v", gone)
	}
	if len(r.waiting)+len(r.heartbeats)+len(r.known)+len(r.of) != 0 {
		t.Errorf("too old, and kept: %+v", r)
	}
}
