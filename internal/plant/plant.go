// Package plant holds faults of the protocol's code that are made on purpose,
// to prove that scenarios and campaigns find such faults: `make plants` builds
// devnet with each, one at a time, and fails where no seed finds it. A build
// without one of the tags below has none of them: the constant Planted is then
// empty, and the compiler drops every branch on it.
//
//	plant_votes_twice         a validator that restarts knows nothing of its votes (C1, C5)
//	plant_forgets_carried     a timer that is deferred a second time is dropped (T9)
//	plant_refunds_twice       what a transaction did not use is returned twice (C14, C15)
//	plant_loses_last_write    a log that is read again lacks its last record (C5)
//	plant_map_order           due timers fire in the order of a Go map (T27)
package plant

// Fault names a planted fault, like its build tag without plant_.
type Fault string

// The faults.
const (
	None           Fault = ""
	VotesTwice     Fault = "votes_twice"
	ForgetsCarried Fault = "forgets_carried"
	RefundsTwice   Fault = "refunds_twice"
	LosesLastWrite Fault = "loses_last_write"
	MapOrder       Fault = "map_order"
)

// Shuffled returns what it is given in the order of a Go map, which is another
// one each time.
func Shuffled(in []int) []int {
	set := make(map[int]bool, len(in))
	for _, one := range in {
		set[one] = true
	}
	out := make([]int, 0, len(in))
	for one := range set { // order: none, which is the fault
		out = append(out, one)
	}
	return out
}
