package clustered

import (
	"runtime"
	"time"
)

// The time of a core that a block gets for each pair of validators in separate processes.
// They share no result, so each checks the votes of all others itself. It takes some 0.7 ms
// in processes; the rest is for starts and whatever else the machine does, and in
// containers for the engine's network.
const (
	pairOfProcesses  = 2 * time.Millisecond
	pairOfContainers = 4 * time.Millisecond
)

// LeastInProcesses returns the shortest time between blocks, in whole milliseconds, that
// the given number of validators keep in separate processes on this machine.
func LeastInProcesses(validators int) time.Duration {
	return leastBlockTime(validators, pairOfProcesses, runtime.NumCPU())
}

// LeastInContainers is LeastInProcesses of containers.
func LeastInContainers(validators int) time.Duration {
	return leastBlockTime(validators, pairOfContainers, runtime.NumCPU())
}

func leastBlockTime(validators int, pair time.Duration, cores int) time.Duration {
	return (time.Duration(validators*validators) * pair / time.Duration(cores)).Round(time.Millisecond)
}
