package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/cowboyinc/devnet/internal/scenario"
)

// Limits of the memory of a process that runs scenarios. Starlark's steps do not
// bound what a script holds on to.
const (
	// softRunBytes is from where on the collector works harder.
	softRunBytes = 512 << 20
	// hardRunBytes is where the process ends, and the run under way fails.
	hardRunBytes = 2 << 30
	// memoryEvery is how often the memory is looked at.
	memoryEvery = 20 * time.Millisecond
	// runGCPercent lets garbage gather: a run is short and allocates much.
	runGCPercent = 400
)

// memoryEnv is the environment variable that sets another hard limit, in bytes.
const memoryEnv = "DEVNET_RUN_MEMORY"

// limitMemory bounds this process until stop is called; exceed, called once, on
// another goroutine, must end the process.
func limitMemory(exceed func(limit uint64)) (stop func()) {
	hard := uint64(hardRunBytes)
	if n, err := strconv.ParseUint(os.Getenv(memoryEnv), 10, 63); err == nil && n > 0 {
		hard = n
	}
	oldLimit := debug.SetMemoryLimit(int64(min(hard, softRunBytes)))
	oldPercent := debug.SetGCPercent(runGCPercent)
	done := make(chan struct{})
	go func() {
		look := time.NewTicker(memoryEvery)
		defer look.Stop()
		for {
			select {
			case <-done:
				return
			case <-look.C:
				if scenario.Heap() > hard {
					exceed(hard)
					return
				}
			}
		}
	}()
	return func() {
		close(done)
		debug.SetMemoryLimit(oldLimit)
		debug.SetGCPercent(oldPercent)
	}
}

// outOfMemory is what such a run fails with.
func outOfMemory(limit uint64) string {
	return fmt.Sprintf("the run takes more than %d MiB of memory: does the script gather what it need not?", limit>>20)
}
