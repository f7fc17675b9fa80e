package main

import (
	"fmt"
	"os"
	"time"

	"github.com/cowboyinc/devnet/internal/scenario"
)

// stepEvery is how often the script is looked at.
const stepEvery = 20 * time.Millisecond

// stepEnv is the environment variable that sets another limit than
// scenario.MaxStepTime, as a duration.
const stepEnv = "DEVNET_RUN_STEP"

// limitSteps bounds what one step of a script takes until stop is called; exceed,
// called once, on another goroutine, must end the process.
func limitSteps(pulse *scenario.Pulse, exceed func(at scenario.Position, limit time.Duration)) (stop func()) {
	limit := scenario.MaxStepTime
	if d, err := time.ParseDuration(os.Getenv(stepEnv)); err == nil && d > 0 {
		limit = d
	}
	done := make(chan struct{})
	go func() {
		look := time.NewTicker(stepEvery)
		defer look.Stop()
		last, since := uint64(0), time.Now()
		for {
			select {
			case <-done:
				return
			case <-look.C:
				beats, alone, at := pulse.Look()
				switch {
				case !alone || beats != last:
					last, since = beats, time.Now()
				case time.Since(since) > limit:
					exceed(at, limit)
					return
				}
			}
		}
	}()
	return func() { close(done) }
}

// stuck is what such a run fails with.
func stuck(at scenario.Position, limit time.Duration) string {
	return fmt.Sprintf("%s: one step of the script takes more than %v: does it compare, hash or print a list that holds itself many times over, or reckon with huge numbers?", at, limit)
}
