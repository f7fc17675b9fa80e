package readmodel

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/gateway"
)

func progress(job byte, runner byte) gateway.Progressed {
	return gateway.Progressed{Runner: types.Address{runner}, Assignment: gateway.AssignmentID{Job: types.Hash{job}}}
}

// Decision J22: a node with many sightings crowds out only its own.
func TestJ22OneThatSaysMuchCrowdsOutItself(t *testing.T) {
	s := new(Sightings)
	v := types.Address{9}
	s.Saw(1, v, gateway.Pushed{Assignment: gateway.AssignmentID{Job: types.Hash{1}}})
	s.Saw(1, v, gateway.Pressed{Runner: types.Address{2}, Load: gateway.Load{Reason: "full"}})
	for i := range 3 * MaxSightings {
		s.Saw(types.Height(1+i/100), v, progress(1, 1))
		s.Saw(types.Height(1+i/100), v, gateway.Refused{Peer: types.Address{3, byte(i), byte(i >> 8)}})
		s.Saw(types.Height(1+i/100), v, gateway.Left{Runner: types.Address{1}})
	}
	if got := s.ofJob(types.Hash{1}); len(got) != 1+maxProgressOfJob || got[0].What != model.JobPushed {
		t.Errorf("of the job %d entries", len(got))
	}
	if got := s.ofRunner(types.Address{2}); len(got) != 1 || got[0].Reason != "full" || got[0].Validator != v {
		t.Errorf("of the quiet runner %+v", got)
	}
	if got := s.ofRunner(types.Address{1}); len(got) != maxOfRunner {
		t.Errorf("of the loud runner %d entries", len(got))
	}
	if n := len(s.runners.all); n != 1+2*maxOfRunner {
		t.Errorf("%d entries of runners: strangers are to share one place", n)
	}
}

// The shelf equals a slice that counts again each time.
func TestTheShelfIsWhatTheDumbTwinSays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var s shelf[byte, int]
	var twin []sightingOf[byte, int]
	for i := range 20_000 {
		one := sightingOf[byte, int]{types.Height(i / 7), byte(random.IntN(5)), random.IntN(2) == 0, i}
		s.putEntry(one, 3)
		like := func(o sightingOf[byte, int]) bool { return o.of == one.of && o.idle == one.idle }
		twin = append(twin, one)
		for n := len(slices.Collect(func(yield func(int) bool) {
			for j := range twin {
				if like(twin[j]) && !yield(j) {
					return
				}
			}
		})); n > 3; n-- {
			at := slices.IndexFunc(twin, like)
			twin = slices.Delete(twin, at, at+1)
		}
		if i%50 == 0 {
			kept := slices.Clone(s.all)
			s.putEntry(sightingOf[byte, int]{of: 200}, 3)
			s.restoreAll(kept)
		}
	}
	if !slices.Equal(s.all, twin) {
		t.Errorf("%v, want %v", s.all, twin)
	}
}

// A result without a connection may come from anyone, for any job: the story of that job
// leaves it out.
func TestJ22AResultOfAStrangerIsInNoStory(t *testing.T) {
	s, of := new(Sightings), gateway.AssignmentID{Job: types.Hash{1}}
	s.Saw(1, types.Address{9}, gateway.NotTaken{Assignment: of, Why: "over", Polled: true})
	s.Saw(1, types.Address{9}, gateway.NotTaken{Assignment: of, Why: "too long"})
	if got := s.ofJob(of.Job); len(got) != 1 || *got[0].Detail != "too long" {
		t.Errorf("%+v", got)
	}
}
