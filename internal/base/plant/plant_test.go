package plant

import "testing"

// A build without a tag has no planted fault.
func TestNothingIsPlantedUnasked(t *testing.T) {
	if Planted != None {
		t.Skipf("this build was asked for %s", Planted)
	}
	if len(Shuffled([]int{1, 2, 3})) != 3 {
		t.Error("Shuffled loses what it is given")
	}
}
