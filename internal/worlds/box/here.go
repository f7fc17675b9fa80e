package box

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/network"
)

// OtherGenesisError says that a home holds another chain than the genesis begins.
type OtherGenesisError struct {
	Home       string
	Have, Want types.Hash
}

func (e *OtherGenesisError) Error() string {
	return fmt.Sprintf("home %s holds the chain of genesis %s, not of %s: give the genesis that it began with, or choose another home",
		e.Home, e.Have, e.Want)
}

// beginFromDecision is what was decided of the network before: a lone validator that joins runs in no
// set, and was asked for, unless it resumes with its final state.
func (o *origin) beginFromDecision() (b network.Begin) {
	if here := o.config.Here; here != nil && here.Joins() {
		b.Spared = []string{here.Name}
		if !o.resumed {
			b.Joining = []string{here.Name}
		}
	}
	return b
}

// openHere opens the home of a validator whose network was made elsewhere.
func (o *origin) openHere() error {
	c, here := &o.config, o.config.Here
	if c.Home == "" {
		return errors.New("box: a validator needs a home directory")
	}
	if err := here.Check(c.Seed); err != nil {
		return err
	}
	h, err := home.Open(c.Home, home.Want{Version: c.Version, ChainID: here.Genesis.ChainID, Seed: c.Seed, Now: time.Now(),
		Durability: c.Durability, Node: here.Name})
	if err != nil {
		return err
	}
	o.home, o.seed = h, h.Meta.Seed
	data, err := h.ReadGenesis()
	fresh := errors.Is(err, os.ErrNotExist)
	if fresh {
		data = codec.Marshal(here.Genesis)
		err = h.WriteGenesis(data)
	}
	if err != nil {
		return err
	}
	if have, want := types.Keccak(data), here.Genesis.Hash(); have != want {
		return &OtherGenesisError{Home: c.Home, Have: have, Want: want}
	}
	c.NoMemo = true // no other validator can share results
	if err := o.resumeHome(data); err != nil {
		return err
	}
	o.resumed = !fresh
	return nil
}
