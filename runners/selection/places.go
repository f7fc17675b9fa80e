package selection

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// placesPage is the number of places that a change copies.
const placesPage = 256

// Places says since which height each place of the registry is held. The zero Places
// holds none. It never changes; With and Without return another, which shares with it
// what is the same.
//
// Spec: decision J12.
type Places struct {
	pages []*[placesPage]types.Height // by place: 1 + the height, 0 if the place is free
}

// Since returns the height at which the holder of a place registered; held is false if
// the place is free.
func (p Places) Since(place int) (height types.Height, held bool) {
	page := place / placesPage
	if page >= len(p.pages) || p.pages[page] == nil || p.pages[page][place%placesPage] == 0 {
		return 0, false
	}
	return p.pages[page][place%placesPage] - 1, true
}

// With returns the places, of which one is held since a height.
func (p Places) With(place int, since types.Height) Places {
	if at, held := p.Since(place); held && at >= since {
		return p // a later holder is known
	}
	return p.setPlace(place, since+1)
}

// Without returns the places, of which one is free if its holder registered at a height.
func (p Places) Without(place int, since types.Height) Places {
	if at, held := p.Since(place); !held || at != since {
		return p
	}
	return p.setPlace(place, 0)
}

func (p Places) setPlace(place int, entry types.Height) Places {
	at := place / placesPage
	pages := slices.Clone(p.pages)
	if len(pages) <= at {
		pages = append(pages, make([]*[placesPage]types.Height, at+1-len(pages))...)
	}
	page := new([placesPage]types.Height)
	if pages[at] != nil {
		*page = *pages[at]
	}
	page[place%placesPage] = entry
	pages[at] = page
	return Places{pages}
}
