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

// sighted is one sighting, with its subject, sent with the block of a height.
type sighted[K comparable, E any] struct {
	height types.Height
	of     K
	idle   bool // it changes nothing: such sightings have a separate bound
	event  E
}

// shelf keeps what was seen in the order of heights, within the bounds above.
type shelf[K comparable, E any] struct {
	all   []sighted[K, E]
	count map[K]counted
}

// counted is the number of entries of one key.
type counted struct{ idle, other int }

// put adds one, whose like of the same key are at most bound.
func (s *shelf[K, E]) put(one sighted[K, E], bound int) {
	n := s.count[one.of]
	if one.idle && n.idle >= bound || !one.idle && n.other >= bound {
		s.remove(slices.IndexFunc(s.all, func(o sighted[K, E]) bool { return o.of == one.of && o.idle == one.idle }))
	}
	if len(s.all) >= MaxSightings {
		s.restore(slices.Clone(s.all[len(s.all)-MaxSightings*3/4:]))
	}
	s.all = append(s.all, one)
	s.tally(one, 1)
}

func (s *shelf[K, E]) remove(at int) {
	s.tally(s.all[at], -1)
	s.all = slices.Delete(s.all, at, at+1)
}

// tally counts one, or one less.
func (s *shelf[K, E]) tally(one sighted[K, E], by int) {
	if s.count == nil {
		s.count = map[K]counted{}
	}
	n := s.count[one.of]
	if one.idle {
		n.idle += by
	} else {
		n.other += by
	}
	if s.count[one.of] = n; n == (counted{}) {
		delete(s.count, one.of)
	}
}

// restore keeps these and nothing else.
func (s *shelf[K, E]) restore(all []sighted[K, E]) {
	s.all, s.count = slices.Clone(all), nil
	for _, one := range s.all {
		s.tally(one, 1)
	}
}

// between lists those above a height, up to another. The result may change later.
func (s *shelf[K, E]) between(above, upTo types.Height) []sighted[K, E] {
	at := func(h types.Height) int {
		return sort.Search(len(s.all), func(i int) bool { return s.all[i].height > h })
	}
	return s.all[at(above):at(upTo)]
}

// of lists those of a key.
func (s *shelf[K, E]) of(key K) (events []E) {
	if s.count[key] == (counted{}) {
		return nil
	}
	for i := range s.all {
		if s.all[i].of == key {
			events = append(events, s.all[i].event)
		}
	}
	return events
}
