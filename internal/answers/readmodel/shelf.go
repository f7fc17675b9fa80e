package readmodel

import (
	"slices"
	"sort"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// Limits of the kept sightings. Beyond a bound the oldest is forgotten first.
const (
	// MaxSightings bounds what is remembered of all jobs, and of all runners.
	MaxSightings = 16_384
	// maxOfJob bounds what is remembered of one job: a committee of eight, each pushed to
	// by eight validators, with its ack.
	maxOfJob = 256
	// maxProgressOfJob bounds the words of progress among them, which a runner may send
	// ten times a second on each connection.
	maxProgressOfJob = 32
	// maxOfRunner bounds what is remembered of one runner, and of all strangers together.
	maxOfRunner = 32
)

// sightingOf is one sighting, with its subject, sent with the block of a height.
type sightingOf[K comparable, E any] struct {
	height types.Height
	of     K
	idle   bool // it changes nothing: such sightings have a separate bound
	event  E
}

// shelf keeps what was seen in the order of heights, within the bounds above.
type shelf[K comparable, E any] struct {
	all   []sightingOf[K, E]
	count map[K]keyCount
}

// keyCount is the number of entries of one key.
type keyCount struct{ idle, other int }

// putEntry adds one, whose like of the same key are at most bound.
func (s *shelf[K, E]) putEntry(one sightingOf[K, E], bound int) {
	n := s.count[one.of]
	if one.idle && n.idle >= bound || !one.idle && n.other >= bound {
		s.removeAt(slices.IndexFunc(s.all, func(o sightingOf[K, E]) bool { return o.of == one.of && o.idle == one.idle }))
	}
	if len(s.all) >= MaxSightings {
		s.restoreAll(slices.Clone(s.all[len(s.all)-MaxSightings*3/4:]))
	}
	s.all = append(s.all, one)
	s.tallyKey(one, 1)
}

func (s *shelf[K, E]) removeAt(at int) {
	s.tallyKey(s.all[at], -1)
	s.all = slices.Delete(s.all, at, at+1)
}

// tallyKey counts one, or one less.
func (s *shelf[K, E]) tallyKey(one sightingOf[K, E], by int) {
	if s.count == nil {
		s.count = map[K]keyCount{}
	}
	n := s.count[one.of]
	if one.idle {
		n.idle += by
	} else {
		n.other += by
	}
	if s.count[one.of] = n; n == (keyCount{}) {
		delete(s.count, one.of)
	}
}

// restoreAll keeps these and nothing else.
func (s *shelf[K, E]) restoreAll(all []sightingOf[K, E]) {
	s.all, s.count = slices.Clone(all), nil
	for _, one := range s.all {
		s.tallyKey(one, 1)
	}
}

// listBetween lists those above a height, up to another. The result may change later.
func (s *shelf[K, E]) listBetween(above, upTo types.Height) []sightingOf[K, E] {
	at := func(h types.Height) int {
		return sort.Search(len(s.all), func(i int) bool { return s.all[i].height > h })
	}
	return s.all[at(above):at(upTo)]
}

// listOf lists those of a key.
func (s *shelf[K, E]) listOf(key K) (events []E) {
	if s.count[key] == (keyCount{}) {
		return nil
	}
	for i := range s.all {
		if s.all[i].of == key {
			events = append(events, s.all[i].event)
		}
	}
	return events
}
