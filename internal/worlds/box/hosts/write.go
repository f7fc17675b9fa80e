package hosts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// Names of the files of a network.
const (
	genesisFile = "genesis.cbor"
	composeFile = "compose.yaml"
	homesDir    = "homes"
)

// Write writes a network into a new or empty folder. Any other is refused by a
// *TakenError. The genesis comes last: a folder without one was not finished.
func (n *Network) Write(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return &TakenError{Dir: dir, Name: entries[0].Name()}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, homesDir), 0o755); err != nil {
		return err
	}
	for _, v := range n.Validators {
		if err := n.writeNode(dir, v, n.validatorSettings(v)); err != nil {
			return err
		}
		if n.plan.Format == Compose { // made here, a folder is its owner's; made by the engine, root's
			if err := os.Mkdir(filepath.Join(dir, homesDir, v.Name), 0o755); err != nil {
				return err
			}
		}
	}
	for _, r := range n.Runners {
		if err := n.writeNode(dir, r, runnerSettings(r)); err != nil {
			return err
		}
	}
	if n.plan.Format == Compose {
		if err := create(filepath.Join(dir, composeFile), n.compose(), 0o644); err != nil {
			return err
		}
	}
	return create(filepath.Join(dir, genesisFile), string(codec.Marshal(n.Genesis)), 0o644)
}

func (n *Network) writeNode(dir string, node Node, settings string) error {
	if err := create(filepath.Join(dir, keyFile(node.Name)), types.Hash(node.Key.Secret()).String()+"\n", 0o600); err != nil {
		return err
	}
	return create(filepath.Join(dir, settingsFile(node.Name)), settings, 0o600) // it may have the seed
}

func keyFile(name string) string      { return name + ".key" }
func settingsFile(name string) string { return name + ".toml" }

// create writes a file that is not there yet.
func create(path, text string, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func (n *Network) validatorSettings(v Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name = %q\nkey_file = %q\ngenesis = %q\n", v.Name, keyFile(v.Name), genesisFile)
	fmt.Fprintf(&b, "home = %q\n", homesDir+"/"+v.Name)
	fmt.Fprintf(&b, "listen = %q # UDP: the other validators, and runners\n", v.Listen)
	fmt.Fprintf(&b, "http = %q\n", v.HTTP)
	if n.plan.Seed != nil {
		fmt.Fprintf(&b, "seed = \"%d\" # of the named accounts, for which the API signs\n", *n.plan.Seed)
	}
	return b.String()
}

// runnerSettings offer what a genesis registers its runners with.
func runnerSettings(r Node) string {
	return fmt.Sprintf("name = %q\nkey_file = %q\napi = %q\nmax_concurrent_jobs = %d\n\n[custom]\n\n[llm]\ndefault = \"offline\"\n",
		r.Name, keyFile(r.Name), r.API, wallet.RunnerJobs)
}

// TakenError says that a folder is not empty.
type TakenError struct{ Dir, Name string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s is not empty (it holds %s)", e.Dir, e.Name)
}
