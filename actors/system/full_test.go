package system

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// filled enters runners of alice, a thousand per block, whose keys are numbers.
func filled(w *world, runners int) (addresses []types.Address) {
	w.mint(types.RegistryAddress, w.params.MinStake.Mul(uint64(runners)))
	for i := range runners {
		hash := types.Keccak(binary.BigEndian.AppendUint32(nil, uint32(i)))
		address := types.Address(hash[:20])
		w.block.enterRunner(address, &Profile{Index: uint32(i), Owner: w.address("alice"), Offer: offer()}, w.params.MinStake)
		if addresses = append(addresses, address); i%1000 == 999 {
			w.seal()
		}
	}
	w.seal()
	return addresses
}

// seal ends a block without the audit, which reads all of a registry.
func (w *world) seal() {
	w.block.Advance()
	if w.roster == nil {
		w.roster = NewRoster(w.state)
	} else {
		w.roster = w.roster.After(w.state)
	}
	tree, _ := w.state.Seal()
	w.state = actors.NewState(tree)
	w.open(w.block.Height + 1)
}

// J12, J20 (F78): all places can be held, each by a stake. When all runners left, the
// registry is empty. Rosters of consecutive blocks share their pages: those of 200 blocks,
// each with another runner changed, are far smaller than 200 copies.
func TestJ12AFullRegistryEmptiesAgain(t *testing.T) {
	const most = 8192 // a tenth of a second for each thousand places: 65,504 take too long here
	w := newWorld(t, func(p *params.Params) { p.EpochBlocks, p.MaxRunners, p.Push = 2, most, "off" })
	before := w.balance(w.address("alice"))
	all := filled(w, most)
	if code := w.registry("bob", "register", w.registration("bob", "one more")); code != "registry_full" {
		t.Errorf("one more of %d: %q", len(all), code)
	}
	if got := w.balance(types.RegistryAddress); got != w.params.MinStake.Mul(most) {
		t.Errorf("the registry holds %s wei", got)
	}
	var rosters [200]*Roster
	used := heap()
	for i := range rosters {
		r := RunnerOf(w.state, all[i*most/len(rosters)])
		r.Reputation--
		w.block.setStanding(r.Address, &r.Standing)
		w.seal()
		rosters[i] = w.roster
	}
	grown := heap() - used
	t.Logf("the rosters of %d blocks take %d KiB", len(rosters), grown>>10)
	if grown > 30<<20 {
		t.Errorf("the rosters of %d blocks take %d MiB", len(rosters), grown>>20)
	}
	runtime.KeepAlive(rosters)
	for i, a := range all {
		if _, fault := w.block.deregisterRunner(w.address("alice"), &Naming{Runner: a}); fault != nil {
			t.Fatal(fault)
		}
		if i%1000 == 999 {
			w.seal()
		}
	}
	for range 4 + 2*most/maxReturns { // stakes return, and then places leave the end
		w.seal()
	}
	if size := Registered(w.state); size.Count != 0 || len(w.roster.pages) != 0 {
		t.Errorf("all left, and the registry has %d places, the roster %d pages", size.Count, len(w.roster.pages))
	}
	if got := w.balance(w.address("alice")).Sub(before); got != w.params.MinStake.Mul(most) {
		t.Errorf("%s wei of stakes returned", got)
	}
	if err := Audit(w.state, w.block.Height); err != nil {
		t.Error(err)
	}
	w.must(w.registry("bob", "register", w.registration("bob", "one more")))
}

// heap is the memory in use, after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
