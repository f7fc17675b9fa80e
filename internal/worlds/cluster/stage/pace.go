package stage

import (
	"runtime"
	"time"
)

// eachPair is the time of a core that a block takes for each pair of validators that run
// apart: they share no result, so that each checks every other's votes itself. It is some
// 0.7 ms in processes; the rest is for containers, starts and whatever else the machine does.
const eachPair = 2 * time.Millisecond

// LeastBlockTime is the shortest time between blocks, in whole milliseconds, that so many
// validators keep in processes or containers of their own on this machine.
func LeastBlockTime(validators int) time.Duration {
	return leastBlockTime(validators, runtime.NumCPU())
}

func leastBlockTime(validators, cores int) time.Duration {
	pairs := time.Duration(validators * validators)
	return (pairs * eachPair / time.Duration(cores)).Round(time.Millisecond)
}
