package node

import (
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// patience is how long a machine that does much else may take for some blocks.
const patience = time.Minute

// alone is a validator that shares only genesis and addresses with the others: as
// if each had a separate process.
type alone struct {
	*Validator
	home    *home.Home
	book    *AddressBook
	heights chan types.Height
}

func genesisOf(t *testing.T, keys []*crypto.Key) *ledger.Genesis {
	t.Helper()
	g := &ledger.Genesis{ChainID: 8011, SystemKey: crypto.DeriveKey(1, "system").Address(),
		Timestamp: types.Millis(time.Now().Add(-time.Minute).UnixMilli()),
		Params:    params.Overrides{"chain.block_time_ms": "50"}}
	for _, key := range keys {
		g.Validators.Members = append(g.Validators.Members, types.Validator{Address: key.Address(), PublicKey: key.PublicKey()})
	}
	slices.SortFunc(g.Validators.Members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	return g
}

func openAlone(t *testing.T, dir, name string, key *crypto.Key, genesis *ledger.Genesis) *alone {
	t.Helper()
	h, err := home.Open(dir, home.Want{})
	if err != nil {
		t.Fatal(err)
	}
	runtime, verifier := roles.New(slog.New(slog.DiscardHandler)), crypto.NewVerifier(true)
	one := &alone{home: h, book: NewAddressBook(), heights: make(chan types.Height, 1<<16)}
	one.Validator, err = NewValidator(Config{
		Parts: Parts{Name: name, Signer: verifier.Signer(key), Verifier: verifier, Clock: clock.New(),
			Files: func() (home.Node, error) { return h.Node(name) }},
		// A block is in its store with the commit: what a node begins at does not hang on the machine's speed.
		Shell: validators.Config{Genesis: genesis, FlushDelay: time.Nanosecond, Observe: func(f validators.FinalBlocks) {
			for _, r := range f.Results {
				one.heights <- r.Block.Header.Height
			}
		}},
		Runtime: runtime, Book: one.book, Programs: samples.Mux{}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := one.Stop(); err != nil {
			t.Error(err)
		}
		runtime.Close()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return one
}

func (one *alone) up(t *testing.T) {
	t.Helper()
	if err := one.Open(); err != nil {
		t.Fatal(err)
	}
	if err := one.Start(nil); err != nil {
		t.Fatal(err)
	}
}

// await waits until a height is final there.
func (one *alone) await(t *testing.T, height types.Height) {
	t.Helper()
	late := time.After(patience)
	for {
		select {
		case h := <-one.heights:
			if h >= height {
				return
			}
		case <-late:
			t.Fatalf("%s does not come to height %d: %+v", one.Name, height, one.Shell().Status())
		}
	}
}

// Validators make one chain if they are opened from genesis, key, files, socket and
// the endpoints of their peers. Each has a separate runtime, clock and home; a
// killed one continues from its files.
func TestValidatorsOfTheirOwnMakeAChain(t *testing.T) {
	dir := t.TempDir()
	names := []string{"v0", "v1", "v2", "v3"}
	var keys []*crypto.Key
	for _, name := range names {
		keys = append(keys, crypto.DeriveKey(1, name))
	}
	genesis := genesisOf(t, keys)
	var all []*alone
	for i, name := range names {
		all = append(all, openAlone(t, filepath.Join(dir, name), name, keys[i], genesis))
	}
	for _, one := range all {
		for _, peer := range all {
			one.book.Enter(peer.Address, peer.Socket().Addr().String())
		}
	}
	for _, one := range all {
		one.up(t)
	}
	for _, one := range all {
		one.await(t, 5)
	}

	killed := all[3]
	killed.Kill()
	if err := killed.Stop(); err != nil {
		t.Fatal(err)
	}
	reached := killed.Shell().Head().Block.Header.Height
	all[0].await(t, reached+3)
	killed.up(t)
	if again := killed.Shell().Head().Block.Header.Height; again < reached {
		t.Errorf("it begins at height %d, and had stored %d", again, reached)
	}
	killed.await(t, reached+6)
	first, err := all[0].Shell().Archive().Block(reached)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := killed.Shell().Archive().Block(reached); err != nil || other.Hash != first.Hash {
		t.Errorf("they differ at height %d: %v", reached, err)
	}
}

// A validator that does not come up leaves nothing open.
func TestAValidatorThatFailsToStartIsClosedAgain(t *testing.T) {
	key := crypto.DeriveKey(1, "v0")
	one := openAlone(t, t.TempDir(), "v0", key, genesisOf(t, []*crypto.Key{key}))
	one.config.Runtime.Close() // no role can begin any more
	if err := one.Open(); err != nil {
		t.Fatal(err)
	}
	if err := one.Start(nil); err == nil || one.Running() || one.Store() != nil || one.Socket() != nil {
		t.Errorf("it runs %v, its store is %v: %v", one.Running(), one.Store(), err)
	}
}
