package system

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// tenant is a runner of the twin, with the blocks in which it registered and left, and in
// which its stake returned; 0 for events that have not happened.
type tenant struct {
	name                    string
	place                   int
	entered, left, returned types.Height
}

// lodging is the twin of the registry: a list of all runners that ever were, gone through
// for each question.
type lodging struct {
	all  []*tenant
	most int
	wait types.Height
}

// at is the runner that held a place at the end of a block; nil if it was free.
func (l *lodging) at(place int, height types.Height) *tenant {
	for _, one := range l.all {
		if one.place == place && one.entered <= height && (one.returned == 0 || one.returned > height) {
			return one
		}
	}
	return nil
}

// free is the lowest place without a runner in a block, -1 if all are held.
func (l *lodging) free(height types.Height) int {
	for place := range l.most {
		if l.at(place, height) == nil {
			return place
		}
	}
	return -1
}

// size is one more than the highest place that is held at the end of a block.
func (l *lodging) size(height types.Height) int {
	for place := l.most; place > 0; place-- {
		if l.at(place-1, height) != nil {
			return place
		}
	}
	return 0
}

// end returns the stakes whose time has come.
func (l *lodging) end(height types.Height) {
	for _, one := range l.all {
		if one.left > 0 && one.returned == 0 && height >= one.left+l.wait {
			one.returned = height
		}
	}
}

// TestAnyLifeOfPlaces: in any order of registrations and leavings a runner gets the lowest
// free place, and each held place has a stake in the registry. A place is free two epochs
// after its runner left, and not before. Bitmaps end at the last held place. The runner of
// a bit in any past block is known.
func TestAnyLifeOfPlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		twin := &lodging{most: rapid.IntRange(1, 6).Draw(rt, "places")}
		w := newWorld(t, func(p *params.Params) {
			p.MaxRunners, p.EpochBlocks = uint64(twin.most), rapid.Uint64Range(1, 3).Draw(rt, "epoch")
			p.StakeReturnEpochs = rapid.Uint64Range(1, 3).Draw(rt, "epochs")
			twin.wait = types.Height(p.EpochBlocks * p.StakeReturnEpochs)
		})
		sizes := map[types.Height]int{0: 0}
		for range rapid.IntRange(10, 80).Draw(rt, "steps") {
			height := w.block.Height
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0, 1:
				name, place := fmt.Sprintf("r%d", len(twin.all)), twin.free(height)
				code := w.registry("alice", "register", w.registration("alice", name))
				if (code == "") != (place >= 0) || code != "" && code != "registry_full" {
					rt.Fatalf("block %d: %s registers: %q; place %d is free", height, name, code, place)
				}
				if code != "" {
					continue
				}
				if got := w.runner(name).Index; int(got) != place {
					rt.Fatalf("%s has place %d; the lowest free one is %d", name, got, place)
				}
				twin.all = append(twin.all, &tenant{name: name, place: place, entered: height})
			case 2:
				if len(twin.all) == 0 {
					continue
				}
				one := rapid.SampledFrom(twin.all).Draw(rt, "runner")
				if code := w.registry("alice", "deregister", Naming{Runner: w.address(one.name)}); (code == "") != (one.left == 0) {
					rt.Fatalf("%s leaves: %q", one.name, code)
				} else if code == "" {
					one.left = height
				}
			default:
				w.end()
				twin.end(height)
				sizes[height] = twin.size(height)
				twin.judge(rt, w, height, sizes)
			}
		}
	})
}

// judge holds the registry after a block against the twin.
func (l *lodging) judge(rt *rapid.T, w *world, height types.Height, sizes map[types.Height]int) {
	size, stakes := Registered(w.state), types.Wei{}
	if int(size.Count) != sizes[height] || int(size.AtParent(height)) != sizes[height-1] {
		rt.Fatalf("block %d: %+v; want %d places, and %d before", height, size, sizes[height], sizes[height-1])
	}
	for place := range l.most {
		since, held := w.roster.Places().Since(place)
		one := l.at(place, height)
		if held != (one != nil) || held && since != one.entered {
			rt.Fatalf("block %d: place %d is held: %t since %d; want %+v", height, place, held, since, one)
		}
		if held {
			stakes = stakes.Add(w.params.MinStake)
		}
		for past := types.Height(1); past <= height; past++ {
			named, ok := HolderAt(w.state, uint32(place), past)
			if was := l.at(place, past-1); ok != (was != nil) || ok && w.name(named) != was.name {
				rt.Fatalf("in votes on block %d place %d names %s, %t; want %+v", past, place, w.name(named), ok, was)
			}
		}
	}
	if got := w.balance(types.RegistryAddress); got != stakes {
		rt.Fatalf("block %d: the registry holds %s wei; the stakes of held places are %s", height, got, stakes)
	}
}
