package api

import (
	"context"
	"net/http"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// Holding is a simulated run that is held at a moment, and that a request moves. Only the holder of the server's
// lock of its world calls it.
type Holding interface {
	Held() model.Held
	// Moment is the name of where it is.
	Moment() string
	// Step goes on, Back plays the run again from its seed to an earlier moment, Go does either.
	Step(model.StepRequest) (model.Held, error)
	Back(model.StepRequest) (model.Held, error)
	Go(model.GoRequest) (model.Held, error)
	// Networks counts the networks that the run had, also as it was played again: what was
	// remembered of one holds for no other.
	Networks() uint64
}

// exampleHeld is a run that has just failed.
var exampleHeld = model.Held{Moment: "lane.star@6:end", Step: 18231, Height: 57, TimeMS: 3_658_204,
	Digest: types.Keccak([]byte("a digest")), Ended: true, Failure: "lane.star:12:1: 3 timers wait, and 0 were expected", From: 18231,
	Happened: []string{}}

func (s *Server) registerHeld() {
	conflict := []int{http.StatusConflict}
	serveRoute(s, operation{id: "held", path: "/hold", tag: tagHeld, summary: "The moment at which a simulated run is held",
		description: "409 (not_held) for a network whose time passes by itself.", errors: conflict, response: exampleHeld},
		func(context.Context, *struct{}) (m model.Held, err error) {
			if s.held == nil {
				return m, errNoHeldRun()
			}
			return s.held.Held(), nil
		})
	stepped := exampleHeld
	stepped.Moment, stepped.Step, stepped.Happened = "lane.star@6:18232", 18232, []string{"v2/consensus stepped"}
	serveBody(s, operation{id: "hold_step", path: "/hold/step", tag: tagHeld,
		summary: "Let a held run go on: by steps of roles, to the next final block, to the next fire of a timer, or to its script's end",
		description: "The script goes on with it. After the script's end the network goes on alone: " +
			"409 (not_reached) if it does not come to the block or the fire in ten minutes of its time.",
		errors: conflict, request: model.StepRequest{Unit: model.UnitStep, Count: 1}, response: stepped},
		func(_ context.Context, in *model.StepRequest) (model.Held, error) {
			return moveRun(s, in, Holding.Step)
		})
	back := exampleHeld
	back.Moment, back.Step, back.Ended, back.Failure = "lane.star@6:18230", 18230, false, ""
	serveBody(s, operation{id: "hold_back", path: "/hold/back", tag: tagHeld,
		summary: "Play a held run again from its seed, to an earlier moment",
		description: "What was done to the network by hand is gone. The digests of the run are compared with those of before: " +
			"500 (not_reproducible) where they differ, since the script has changed or one seed is not one run.",
		errors: conflict, request: model.StepRequest{Unit: model.UnitBlock, Count: 1}, response: back},
		func(_ context.Context, in *model.StepRequest) (model.Held, error) {
			return moveRun(s, in, Holding.Back)
		})
	serveBody(s, operation{id: "hold_go", path: "/hold/go", tag: tagHeld,
		summary: "Move a held run to a moment by its name, on or back", errors: conflict,
		request: model.GoRequest{To: "lane.star@6:18230"}, response: back},
		func(_ context.Context, in *model.GoRequest) (model.Held, error) {
			return moveRun(s, in, Holding.Go)
		})
}

// moveRun moves the held run. What the server remembers of another network is forgotten.
func moveRun[R any](s *Server, r *R, move func(Holding, R) (model.Held, error)) (m model.Held, err error) {
	if s.held == nil {
		return m, errNoHeldRun()
	}
	before := s.held.Networks()
	m, err = move(s.held, *r)
	if s.held.Networks() != before {
		s.Reverted()
	}
	return m, err
}

// errNoHeldRun refuses to move a network whose time passes by itself.
func errNoHeldRun() error {
	return Refuse(http.StatusConflict, "not_held", "this network is no held run of a script: its time passes by itself").
		Hint("devnet run SCRIPT --seed N --hold holds one. devnet advance moves a live network on, and no network goes back.")
}
