package neighbours

import (
	"strings"
	"testing"
)

// The numbers were counted in the tables of a running network: 31 validators and 6
// runners overflow the 1024 that Linux begins with, 10 and 6 do not.
func TestContainersNeedRoomForTheirNeighbours(t *testing.T) {
	for _, one := range []struct{ validators, runners, want int }{{1, 0, 2}, {1, 1, 6}, {4, 4, 60}, {10, 6, 242}, {31, 6, 1376}} {
		if n := neededEntries(one.validators, one.runners); n != one.want {
			t.Errorf("%d and %d nodes: %d neighbours, not %d", one.validators, one.runners, n, one.want)
		}
	}
	err := tooMany(31, 6, 1024)
	for _, want := range []string{"37 containers", "1376", "1024", "sysctl -w net.ipv4.neigh.default.gc_thresh3=4096"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not said: %v", want, err)
		}
	}
	if err := Crowded(1, 0); err != nil {
		t.Errorf("one container: %v", err)
	}
}
