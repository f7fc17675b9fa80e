package main

import (
	"context"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	live "github.com/cowboyinc/devnet/internal/worlds/box/stage"
	simulated "github.com/cowboyinc/devnet/internal/worlds/sim/stage"
)

// The backends of a scenario.
const (
	backendSim    = "sim"
	backendLive   = "live"
	backendDocker = "docker"
)

// world is where scenarios run, as the command line says: it holds for all runs
// of a plan.
type world struct {
	Backend   string `json:"backend"`
	BlockTime string `json:"block_time,omitempty"` // "": the script's own
}

// judge refuses a world that is not there.
func (w world) judge() error {
	switch w.Backend {
	case backendSim, backendLive:
	case backendDocker:
		return usage("There are: sim, live.", "--backend docker comes with the containers, and is not there yet")
	default:
		return usage("There are: sim, live.", "--backend: there is no %q", w.Backend)
	}
	if _, err := w.pace(); err != nil {
		return usage("Leave it out for the script's own.", "--block-time is %v", err)
	}
	return nil
}

// pace is what --block-time asks for, nil for the script's own.
func (w world) pace() (*scenario.Pace, error) {
	if w.BlockTime == "" {
		return nil, nil
	}
	pace, err := scenario.ParsePace(w.BlockTime)
	return &pace, err
}

// flags name the world where it is not that of devnet run without flags.
func (w world) flags() (words []string) {
	if w.BlockTime != "" {
		words = append(words, "--block-time", w.BlockTime)
	}
	if w.Backend != backendSim {
		words = append(words, "--backend", w.Backend)
	}
	return words
}

// openSimulated is a variable so that a test can plant a world that is not the
// function of its seed.
var openSimulated scenario.Open = simulated.Open

// opener makes worlds of the backend.
func (w world) opener(ctx context.Context) scenario.Open {
	if w.Backend == backendLive {
		return live.Opener(ctx)
	}
	return openSimulated
}
