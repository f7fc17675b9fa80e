package api

import (
	"context"
	"net/http"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
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
	// Frames are the frames between validators that it had of some views, the earliest first, as far as they are kept: of lost, those that
	// did not arrive as usual.
	Frames(from, to types.View, lost bool) []model.Frame
}

// maxFrames bounds the frames of one answer.
const maxFrames = 4000

// exampleFrame is a vote that a partition cut off.
var exampleFrame = model.Frame{SentMS: 8_012, From: "v1", To: "v2", What: "vote", Vote: "finalize", View: 17, Height: 12, Size: 312,
	Data: types.Bytes{2, 131}, Why: "cut", By: "partition v0,v1 / v2,v3"}

// exampleHeld is a run that has just failed.
var exampleHeld = model.Held{Moment: "lane.star@6:end", Step: 18231, Height: 57, TimeMS: 3_658_204,
	Digest: types.Keccak([]byte("a digest")), Ended: true, Failure: "lane.star:12:1: 3 timers wait, and 0 were expected", From: 18231,
	Happened: []string{}}

func (s *Server) registerHeld() {
	conflict := []int{http.StatusConflict}
	serveRoute(s, operation{id: "held", path: "/hold", tag: tagHeld,
		client: "Held() returns the moment at which a simulated run is held, by devnet run --hold. Another network refuses it " +
			"(not_held).",
		summary:     "The moment at which a simulated run is held",
		description: "409 (not_held) for a network whose time passes by itself.", errors: conflict, response: exampleHeld},
		func(context.Context, *struct{}) (m model.Held, err error) {
			if s.held == nil {
				return m, errNoHeldRun()
			}
			return s.held.Held(), nil
		})
	serveRoute(s, operation{id: "hold_frames", path: "/hold/frames", tag: tagHeld,
		client: "Frames(from View, to View, lost bool) returns the frames between validators that a held run had of some views; " +
			"to = 0: up to the latest. Of lost, those that did not arrive as usual.",
		summary: "The frames between validators of a held run: of proposals, votes and certificates of some views",
		description: "A frame that was lost, or came late, says why, and which fault did it. The latest 65,536 that were lost are kept, " +
			"32,768 that came late, and 32,768 that arrived as usual. 409 (not_held) for a network whose time passes by itself.",
		errors: []int{http.StatusBadRequest, http.StatusConflict}, response: model.Frames{Frames: []model.Frame{exampleFrame}}}, s.heldFrames)
	stepped := exampleHeld
	stepped.Moment, stepped.Step, stepped.Happened = "lane.star@6:18232", 18232, []string{"v2/consensus stepped"}
	serveBody(s, operation{id: "hold_step", path: "/hold/step", tag: tagHeld,
		client:  "Step(r StepRequest) lets a held run go on.",
		summary: "Let a held run go on: by steps of roles, to the next final block, to the next fire of a timer, or to its script's end",
		description: "The script goes on with it. After the script's end the network goes on alone: " +
			"409 (not_reached) if it does not come to the block or the fire in ten minutes of its time.",
		errors: conflict, request: model.StepRequest{Unit: model.UnitStep, Count: 1}, response: stepped},
		moveRun(s, Holding.Step))
	back := exampleHeld
	back.Moment, back.Step, back.Ended, back.Failure = "lane.star@6:18230", 18230, false, ""
	serveBody(s, operation{id: "hold_back", path: "/hold/back", tag: tagHeld,
		client:  "StepBack(r StepRequest) plays a held run again from its seed, to an earlier moment.",
		summary: "Play a held run again from its seed, to an earlier moment",
		description: "What was done to the network by hand is gone. The digests of the run are compared with those of before: " +
			"500 (not_reproducible) where they differ, since the script has changed or one seed is not one run.",
		errors: conflict, request: model.StepRequest{Unit: model.UnitBlock, Count: 1}, response: back},
		moveRun(s, Holding.Back))
	serveBody(s, operation{id: "hold_go", path: "/hold/go", tag: tagHeld,
		client:  "GoToMoment(moment string) moves a held run to a moment by its name, on or back.",
		summary: "Move a held run to a moment by its name, on or back", errors: conflict,
		request: model.GoRequest{To: "lane.star@6:18230"}, response: back},
		moveRun(s, Holding.Go))
}

// framesInput says which frames are asked for.
type framesInput struct {
	From optional[types.View] `query:"from" doc:"First view; where absent, the first that is kept."`
	To   optional[types.View] `query:"to" doc:"Last view; where absent, the latest."`
	Lost bool                 `query:"lost" doc:"Only frames that did not arrive as usual."`
}

// heldFrames are the frames of some views of the held run. Where they are too many, those that tell least are left out first.
func (s *Server) heldFrames(_ context.Context, in *framesInput) (m model.Frames, err error) {
	from, to := in.From.orElse(0), in.To.orElse(noEnd)
	switch {
	case s.held == nil:
		return m, errNoHeldRun()
	case to < from:
		return m, errBackwards()
	}
	all := s.held.Frames(from, to, in.Lost)
	var places [3]int // for each rank
	for i := range all {
		places[rankFrame(&all[i])]++
	}
	free := maxFrames
	for rank := range places {
		places[rank] = min(places[rank], free)
		free -= places[rank]
	}
	m.Frames = []model.Frame{}
	for i := range all {
		rank := rankFrame(&all[i])
		if places[rank] == 0 {
			m.Omitted++
			continue
		}
		places[rank]--
		m.Frames = append(m.Frames, all[i])
	}
	return m, nil
}

// rankFrame is how much a frame tells, 0 most: one that never arrived or that a fault made late, one that was late, and one that arrived as
// usual.
func rankFrame(f *model.Frame) int {
	switch {
	case f.Why == "":
		return 2
	case f.ArrivesMS != nil && f.By == "":
		return 1
	}
	return 0
}

// moveRun returns the handler that moves the held run. What the server remembers of another network is forgotten.
func moveRun[R any](s *Server, move func(Holding, R) (model.Held, error)) func(context.Context, *R) (model.Held, error) {
	return func(_ context.Context, r *R) (m model.Held, err error) {
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
}

// errNoHeldRun refuses to move a network whose time passes by itself.
func errNoHeldRun() error {
	return Refuse(http.StatusConflict, "not_held", "this network is no held run of a script: its time passes by itself").
		Hint("devnet run SCRIPT --seed N --hold holds one. devnet advance moves a live network on, and no network goes back.")
}
