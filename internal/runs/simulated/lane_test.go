package simulated

import (
	"os"
	"path/filepath"
	"testing"
)

// unexamined has five timers due in a lane that examines two a block and fires
// one of them: each block says of all that wait why they do.
const unexamined = `
net = network(validators = 4, block_time = "500ms", policy = "fifo",
    params = {"cip1.max_examined_timers": 2, "cip1.lane_timer_cycles": 550000})
storm = net.deploy("go:storm", name = "storm", fund = "100 CBY")
order = bytes('{"count": 5, "in": 2, "gas_limit": 550000, "use": 500000}')
made = net.call(storm, "make", order, cycles = 1000000, cells = 500000)
expect_eq(made.error, None)
net.run(blocks = 9)
told = {b.height: {d.reason: d.count for d in b.deferred_for} for b in net.lane(last = 9)}
due = made.height + 2
expect_eq([told[due + i] for i in range(5)], [
    {"lane_full": 1, "not_examined": 3},
    {"lane_full": 1, "not_examined": 2},
    {"lane_full": 1, "not_examined": 1},
    {"lane_full": 1},
    {},
])
expect_eq([b.deferred for b in net.lane(last = 9) if b.height >= due][:5], [4, 3, 2, 1, 0])
`

// Decision T9: deferred is every due timer that did not end, also one that the
// block did not come to (T16).
func TestALaneCountsWhatItDidNotExamine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unexamined.star")
	if err := os.WriteFile(path, []byte(unexamined), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, out, err := play(path, 1); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
