package selection

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// TestJ12PlacesAreThoseOfAMap: places are what a map of them is, whatever is taken and
// freed, and none that was handed out changes.
func TestJ12PlacesAreThoseOfAMap(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type version struct {
			places Places
			twin   map[int]types.Height
		}
		versions := []version{{twin: map[int]types.Height{}}}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			from := rapid.SampledFrom(versions).Draw(rt, "from")
			place := rapid.SampledFrom([]int{0, 1, 255, 256, 700, MaxRunners - 1}).Draw(rt, "place")
			since := rapid.Uint64Range(0, 3).Draw(rt, "since")
			next := version{twin: maps.Clone(from.twin)}
			at, held := from.twin[place]
			if rapid.Bool().Draw(rt, "take") {
				next.places = from.places.With(place, types.Height(since))
				if !held || at < types.Height(since) {
					next.twin[place] = types.Height(since)
				}
			} else {
				next.places = from.places.Without(place, types.Height(since))
				if held && at == types.Height(since) {
					delete(next.twin, place)
				}
			}
			versions = append(versions, next)
		}
		for _, v := range versions {
			for _, place := range []int{0, 1, 2, 255, 256, 700, 701, MaxRunners - 1, MaxRunners} {
				since, held := v.places.Since(place)
				if at, is := v.twin[place]; at != since || is != held {
					rt.Fatalf("place %d is held: %t since %d; want %t, %d", place, held, since, is, at)
				}
			}
		}
	})
}
