package hosts

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// Reopen is the network of a folder on one machine that was written before, with the nodes
// that were added since: as Make made it, so that more may be added.
func Reopen(dir string) (*Network, error) {
	f, err := Read(dir)
	if err != nil {
		return nil, err
	}
	n := &Network{plan: Plan{Format: Processes}}
	for _, name := range f.Validators {
		if err := n.reopenValidator(dir, name); err != nil {
			return nil, err
		}
	}
	for _, name := range f.Runners {
		if err := n.reopenRunner(dir, name); err != nil {
			return nil, err
		}
	}
	if n.Genesis == nil {
		return nil, fmt.Errorf("%s has no validator", dir)
	}
	n.plan.Chain.Validators, n.plan.Chain.Runners = len(n.Genesis.Validators.Members), len(n.Genesis.Runners)
	n.plan.Chain.ChainID, n.plan.Chain.BlockTime, n.plan.Chain.Auto, n.plan.Chain.Strict = f.ChainID, f.BlockTime, f.Auto, f.Strict
	n.plan.Chain.Seed = n.plan.Seed
	return n, nil
}

func (n *Network) reopenValidator(dir, name string) error {
	set, err := Open(SettingsFile(dir, name))
	if err != nil {
		return err
	}
	here := set.Here
	_, text, err := net.SplitHostPort(here.Endpoint())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	genesis, plan := here.Genesis, &n.plan
	n.Validators = append(n.Validators, Node{Name: name, Key: here.Key, Endpoint: here.Endpoint(), Listen: here.Listen, HTTP: set.HTTP,
		API: set.HTTP, Joins: genesis.Validators.Index(here.Key.Address()) < 0, Left: hasLeft(dir, name)})
	plan.Ports = append(plan.Ports, port)
	if n.Genesis == nil {
		n.Genesis = genesis
		plan.Chain, plan.Seed, plan.Driver = set.Chain, set.Chain.Seed, set.Driver
	}
	if set.Driver != plan.Driver {
		return fmt.Errorf("%s has another driver than %s: who drives one of a network drives all", name, n.Validators[0].Name)
	}
	return nil
}

func (n *Network) reopenRunner(dir, name string) error {
	var s struct {
		API     string   `toml:"api"`
		Also    []string `toml:"also"`
		Driver  string   `toml:"driver"`
		Control string   `toml:"control"`
	}
	path := SettingsFile(dir, name)
	if err := configfile.Peek(path, &s); err != nil {
		return err
	}
	key, err := readKey(filepath.Join(dir, keyFile(name)))
	if err != nil {
		return err
	}
	if s.Driver != n.plan.Driver {
		return fmt.Errorf("%s: driver is another than that of the validators", path)
	}
	n.Runners = append(n.Runners, Node{Name: name, Key: key, API: s.API, Also: s.Also, HTTP: s.Control, Left: hasLeft(dir, name)})
	return nil
}

// readKey reads the file of a key.
func readKey(path string) (*crypto.Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := configfile.ParseKey(string(text))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s holds no key", path), err)
	}
	return key, nil
}

// Driver returns the supervisor's secret; "": no supervisor.
func (n *Network) Driver() string { return n.plan.Driver }

// Chain is what the network is, as a world is asked for it.
func (n *Network) Chain() setup.Plan {
	chain := n.plan.Chain
	chain.Seed = n.plan.Seed
	return chain
}
