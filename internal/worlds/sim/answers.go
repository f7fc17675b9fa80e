package sim

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Answers are what runners of a network bring for jobs whose results a seed does not
// have: a test says them. A network that has Answers has runners of all kinds.
type Answers struct{ given []*scriptedAnswer }

// Answer says what runners bring for some jobs.
type Answer struct {
	Kind   push.JobKind
	Match  string // is within what the job asks for (push.JobType.Text); "": any job of the kind
	Runner string // that brings it; "": any
	// Turns are the results in the order of the jobs that are answered; the last repeats.
	Turns []Turn
}

// Turn is the end of one job's work.
type Turn struct {
	Result []byte
	Fails  string // why there is no result; "": there is
}

// scriptedAnswer is an answer, and which job has which of its turns.
type scriptedAnswer struct {
	Answer
	turns map[types.Hash]int // looked up only
}

// Give adds an answer, which is looked for before those that were given earlier.
func (a *Answers) Give(one Answer) {
	a.given = append(a.given, &scriptedAnswer{one, map[types.Hash]int{}})
}

// Len is how many were given.
func (a *Answers) Len() int { return len(a.given) }

// Clone is the answers as they are now.
func (a *Answers) Clone() *Answers {
	kept := &Answers{}
	for _, g := range a.given {
		kept.given = append(kept.given, &scriptedAnswer{g.Answer, maps.Clone(g.turns)})
	}
	return kept
}

// answerFor returns a runner's answer for a job; false without one.
func (a *Answers) answerFor(runner string, job types.Hash, spec *push.JobSpec) (Turn, bool) {
	for _, g := range slices.Backward(a.given) {
		if g.Kind != spec.JobType.Kind() || g.Runner != "" && g.Runner != runner || !strings.Contains(spec.JobType.Text(), g.Match) {
			continue
		}
		turn, known := g.turns[job]
		if !known {
			turn = min(len(g.turns), len(g.Turns)-1)
			g.turns[job] = turn
		}
		return g.Turns[turn], true
	}
	return Turn{}, false
}

// errUnanswered is the failure of a job that has no given answer.
var errUnanswered = errors.New("the test gives no answer for this job: chain.mock_runner does")
