package clustered

import (
	"testing"
	"time"
)

// On two cores the library's networks of four and ten processes keep their 100 ms, and those of
// thirty-one do not.
func TestTheLeastBlockTimeGrowsWithThePairs(t *testing.T) {
	for _, one := range []struct {
		validators, cores int
		want              time.Duration
	}{{1, 2, time.Millisecond}, {4, 2, 16 * time.Millisecond}, {10, 2, 100 * time.Millisecond}, {31, 2, 961 * time.Millisecond},
		{31, 16, 120 * time.Millisecond}} {
		if least := leastBlockTime(one.validators, pairOfProcesses, one.cores); least != one.want {
			t.Errorf("%d validators on %d cores: %v, not %v", one.validators, one.cores, least, one.want)
		}
	}
}
