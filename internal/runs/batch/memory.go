package batch

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
)

// Limits of the memory of a process that runs scenarios. Starlark's steps do not
// bound what a script holds on to.
const (
	// softRunBytes is from where on the collector works harder.
	softRunBytes = 512 << 20
	// hardRunBytes is where the process ends, and the run under way fails.
	hardRunBytes = 2 << 30
	// runGCPercent lets garbage gather: a run is short and allocates much.
	runGCPercent = 400
)

// memoryEnv is the environment variable that sets another hard limit, in bytes.
const memoryEnv = "DEVNET_RUN_MEMORY"

// limitMemory sets the collector's limit for this process until restore is called,
// and returns the size at which the process is to end, in bytes.
func limitMemory() (hard uint64, restore func()) {
	hard = hardRunBytes
	if n, err := strconv.ParseUint(os.Getenv(memoryEnv), 10, 63); err == nil && n > 0 {
		hard = n
	}
	oldLimit := debug.SetMemoryLimit(int64(min(hard, softRunBytes)))
	oldPercent := debug.SetGCPercent(runGCPercent)
	return hard, func() {
		debug.SetMemoryLimit(oldLimit)
		debug.SetGCPercent(oldPercent)
	}
}

// outOfMemory is what such a run fails with.
func outOfMemory(limit uint64) string {
	return fmt.Sprintf("the run takes more than %d MiB of memory: does the script gather what it need not?", limit>>20)
}
