package plant

import "testing"

// A build that nobody asked a fault of has none.
func TestNothingIsPlantedUnasked(t *testing.T) {
	if Planted != None {
		t.Skipf("this build was asked for %s", Planted)
	}
	if len(Shuffled([]int{1, 2, 3})) != 3 {
		t.Error("Shuffled loses what it is given")
	}
}
