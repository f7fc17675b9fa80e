package system

import (
	"encoding/binary"
	"math"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// maxReturns bounds the stakes that return at the end of a block, and the free places
// that leave the end of the registry there. The rest follows in the next block.
const maxReturns = 256

// lastHolder returns the runner that registered last in a place.
func lastHolder(s actors.Reader, place uint32) (runner types.Address, known bool) {
	data, found := actors.StorageOf(s, types.RegistryAddress, keyIndex(place))
	if !found {
		return runner, false
	}
	return types.Address(data), true
}

// HolderAt returns the runner that a place's bit names in votes on the block of a
// height. It registered before that block, and its stake had not returned before it. ok
// is false if the place was free.
//
// Spec: decision J12.
func HolderAt(s actors.Reader, place uint32, height types.Height) (runner types.Address, ok bool) {
	at, known := lastHolder(s, place)
	for known {
		r := RunnerOf(s, at)
		if r.RegisteredAt < height {
			return at, r.holdsPlace() || r.ReturnsAt >= height
		}
		at, known = r.Former, !r.Former.IsZero()
	}
	return types.Address{}, false
}

// holdsPlace reports whether a runner holds its place: its stake has not returned. A stake is
// never 0 before that.
func (r *Runner) holdsPlace() bool { return !r.Stake.IsZero() }

// Runners calls each for every runner that holds a place, in the order of the places,
// until it returns false. Deregistered runners hold theirs until their stake returns.
func Runners(s actors.Reader, each func(*Runner) bool) {
	for place := range Registered(s).Count {
		at, _ := lastHolder(s, place)
		if r := RunnerOf(s, at); r.holdsPlace() && !each(r) {
			return
		}
	}
}

// freePlace returns the lowest free place; it may be the one after all others.
func (b *InBlock) freePlace() (place uint32) {
	place = Registered(b.State).Count
	b.State.Scan([]byte(prefixFree), keyAfterPrefix(prefixFree), func(key, _ []byte) bool {
		place = placeIn(key)
		return false
	})
	return place
}

// takePlace makes a runner the holder of its profile's place.
func (b *InBlock) takePlace(profile *Profile, address types.Address) {
	place := profile.Index
	if former, known := lastHolder(b.State, place); known {
		profile.Former = former
	}
	b.State.SetStorage(types.RegistryAddress, keyIndex(place), address[:])
	if size := Registered(b.State); place < size.Count {
		b.State.Set(keyFree(place), nil)
	} else {
		b.resizeRegistry(size, place+1)
	}
}

// resizeRegistry writes the number of places.
func (b *InBlock) resizeRegistry(size Size, count uint32) {
	if size.At != b.Height {
		size.At, size.Before = b.Height, size.Count
	}
	size.Count = count
	b.storeRecord(types.RegistryAddress, keyRegistered, &size)
}

// awaitReturn enters a deregistered runner without a job among those whose stake
// returns.
func (b *InBlock) awaitReturn(r *Runner) {
	b.State.Set(keyLeaving(max(r.ReturnsAt, b.Height), r.Index), r.Address[:])
}

// NextReturn returns the lowest height at which a stake returns; ok is false if no runner
// without a job is leaving. It is in the past if the bound of a block left stakes, and 0
// if that left free places at the end of the registry: the next block continues.
//
// Spec: decisions C8, J20.
func NextReturn(s actors.Reader) (height types.Height, ok bool) {
	if count := Registered(s).Count; count > 0 && s.Get(keyFree(count-1)) != nil {
		return 0, true
	}
	s.Scan([]byte(prefixLeaving), keyAfterPrefix(prefixLeaving), func(key, _ []byte) bool {
		height, ok = types.Height(binary.BigEndian.Uint64(key[len(prefixLeaving):])), true
		return false
	})
	return height, ok
}

// returnStakes gives stakes back whose time has come, by height and place, and frees
// the places. Free places at the end of the registry leave it.
//
// Spec: decisions J12, J20.
func (b *InBlock) returnStakes(effect *Effect) {
	var due [][]byte
	var runners []types.Address
	b.State.Scan([]byte(prefixLeaving), keyLeaving(b.Height, math.MaxUint32), func(key, runner []byte) bool {
		due, runners = append(due, key), append(runners, types.Address(runner))
		return len(due) < maxReturns
	})
	for i, key := range due {
		b.State.Set(key, nil)
		b.returnStake(RunnerOf(b.State, runners[i]), effect)
	}
	b.trimFreePlaces()
}

// returnStake gives an owner its stake back and frees the place.
func (b *InBlock) returnStake(r *Runner, effect *Effect) {
	b.moveMoney(types.RegistryAddress, r.Owner, r.Stake)
	effect.addEvent(types.RegistryAddress, "runner.stake_returned",
		RunnerEvent{Runner: r.Address, Owner: r.Owner, Index: r.Index, Stake: r.Stake})
	r.Stake, r.ReturnsAt = types.Wei{}, b.Height
	r.Offer = Offer{Capabilities: []string{}, Entitlements: []string{}}
	b.setStanding(r.Address, &r.Standing)
	b.storeRecord(types.RegistryAddress, keyProfile(r.Address), &r.Profile)
	b.State.Set(keyFree(r.Index), []byte{1})
}

// trimFreePlaces takes free places from the end of the registry.
func (b *InBlock) trimFreePlaces() {
	size := Registered(b.State)
	count := size.Count
	for count > 0 && size.Count-count < maxReturns && b.State.Get(keyFree(count-1)) != nil {
		count--
		b.State.Set(keyFree(count), nil)
	}
	if count < size.Count {
		b.resizeRegistry(size, count)
	}
}
