package hosts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Names of the files of a network.
const (
	GenesisFile = "genesis.cbor"
	composeFile = "compose.yaml"
	swarmFile   = "compose.swarm.yaml"
	homesDir    = "homes"

	kubernetesFile = "kubernetes.yaml"
	kustomizeFile  = "kustomization.yaml"
	namesFile      = "names.toml"
)

// Write writes a network into a new or empty folder. Any other is refused by a
// *TakenError, and by a *LargeError a network that its format cannot hold. The genesis
// comes last: a folder without one was not finished.
func (n *Network) Write(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err == nil && len(entries) > 0:
		return &TakenError{Dir: dir, Name: entries[0].Name()}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	objects := ""
	if n.plan.Format == Kubernetes {
		if objects, err = n.writeKubernetes(); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, node := range n.allNodes() {
		if err := n.writeNode(dir, node); err != nil {
			return err
		}
	}
	switch n.plan.Format {
	case Compose:
		err = errors.Join(createFile(filepath.Join(dir, composeFile), n.Compose(), 0o644),
			createFile(filepath.Join(dir, swarmFile), n.Swarm(), 0o644))
	case Kubernetes:
		err = errors.Join(createFile(filepath.Join(dir, kubernetesFile), objects, 0o600), // it has the keys
			createFile(filepath.Join(dir, kustomizeFile), n.kustomizationFile(), 0o644))
	default:
		err = os.Mkdir(filepath.Join(dir, homesDir), 0o755)
	}
	if err != nil {
		return err
	}
	return createFile(filepath.Join(dir, GenesisFile), string(n.GenesisBytes()), 0o644)
}

// GenesisBytes are what GenesisFile has.
func (n *Network) GenesisBytes() []byte { return codec.Marshal(n.Genesis) }

// isSeeded reports whether each node makes the network for itself.
func (n *Network) isSeeded() bool { return n.plan.Format == Seeded }

// allNodes are all nodes, validators first.
func (n *Network) allNodes() []Node { return slices.Concat(n.Validators, n.Runners) }

// settingsOf are the text of a node's settings.
func (n *Network) settingsOf(node Node) string {
	if node.Endpoint == "" {
		return n.runnerSettings(node)
	}
	return n.validatorSettings(node)
}

// writeNode writes key and settings, for its owner's eyes. If root writes files for
// containers, the owner is the image's user.
func (n *Network) writeNode(dir string, node Node) error {
	for name, text := range map[string]string{keyFile(node.Name): keyText(node.Key),
		settingsFile(node.Name): n.settingsOf(node)} { // which may have the seed
		path := filepath.Join(dir, name)
		if err := createFile(path, text, 0o600); err != nil {
			return err
		}
		if n.plan.Format == Compose && os.Getuid() == 0 {
			if err := os.Chown(path, imageOwner, imageOwner); err != nil {
				return err
			}
		}
	}
	return nil
}

// keySuffix is the suffix of the file of a node's key.
const keySuffix = ".key"

func keyFile(name string) string { return name + keySuffix }

// SettingsFile is the path of a node's settings in a folder.
func SettingsFile(dir, name string) string { return filepath.Join(dir, settingsFile(name)) }

// settingsSuffix is the suffix of the file of a node's settings.
const settingsSuffix = ".toml"

func settingsFile(name string) string { return name + settingsSuffix }

// createFile writes a new file.
func createFile(path, text string, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// homesFolder returns the folder of homes: next to the settings, or in a container's volume,
// outside of its settings.
func (n *Network) homesFolder() string {
	if n.plan.Format == Compose || n.plan.Format == Kubernetes {
		return volume + "/" + homesDir
	}
	return homesDir
}

// Home is the home of a validator on this machine, in the folder of its settings.
func (n *Network) Home(dir, name string) string { return filepath.Join(dir, homesDir, name) }

func (n *Network) validatorSettings(v Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name = %q\nkey_file = %q\ngenesis = %q\n", v.Name, keyFile(v.Name), GenesisFile)
	fmt.Fprintf(&b, "home = %q\n", n.homesFolder()+"/"+v.Name)
	fmt.Fprintf(&b, "listen = %q # UDP: the other validators, and runners\n", v.Listen)
	fmt.Fprintf(&b, "http = %q\n", v.HTTP)
	if v.Joins {
		fmt.Fprintf(&b, "endpoint = %q # where the others reach it\n", v.Endpoint)
	}
	if host := n.plan.hostOf(v.Name); host != "" {
		fmt.Fprintf(&b, "host = %q # the only one that may run with this key\n", host)
	}
	names := slices.Clone(n.plan.Names)
	if n.plan.Format == Kubernetes {
		names = append(n.serviceNames(v.Name), names...)
	}
	if len(names) > 0 {
		fmt.Fprintf(&b, "hosts = [\"%s\"] # more names by which clients may call it\n", strings.Join(names, `", "`))
	}
	if n.plan.Format == Kubernetes {
		fmt.Fprintf(&b, "names_file = %q # of the nodes\n", namesFile)
	}
	if n.plan.Chain.Durability == store.Disk {
		b.WriteString("durability = \"disk\"\n")
	}
	if n.plan.Chain.History > 0 {
		fmt.Fprintf(&b, "history = %d\n", n.plan.Chain.History)
	}
	b.WriteString(n.supervisionSetting())
	signs := n.plan.Seed != nil && !n.plan.Chain.Strict
	if signs {
		fmt.Fprintf(&b, "seed = \"%d\" # of the named accounts, for which the API signs\n", *n.plan.Seed)
	}
	if (n.isSeeded() || n.plan.Format == Processes && signs && len(n.plan.Hosts) == 0) && len(n.Runners) > 0 { // their keys are in this folder
		b.WriteString("signs_for = [")
		for i, r := range n.Runners {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%q", keyFile(r.Name))
		}
		b.WriteString("] # runners, for whose owners the API signs too\n")
	}
	if n.plan.Driver != "" {
		fmt.Fprintf(&b, "driver = %q # the supervisor's secret\n", n.plan.Driver)
	}
	if n.plan.Format != Kubernetes {
		b.WriteString("\n" + n.namesTable())
	}
	return b.String()
}

// namesTable is the table of the nodes' addresses.
func (n *Network) namesTable() string {
	var b strings.Builder
	b.WriteString("[names] # of the nodes\n")
	for _, node := range n.allNodes() {
		fmt.Fprintf(&b, "%s = %q\n", node.Name, node.Key.Address().String())
	}
	return b.String()
}

// Strategy decides the effect on a node when one of its roles panics.
func (n *Network) Strategy() roles.Strategy { return n.plan.Chain.Strategy }

// supervisionSetting returns the setting for it, if it is not the default.
func (n *Network) supervisionSetting() string {
	if n.plan.Chain.Strategy == roles.Restart {
		return ""
	}
	return fmt.Sprintf("supervision = %q # after a panic of one of the node's roles\n", n.plan.Chain.Strategy)
}

// runnerSettings offer what a genesis registers its runners with.
func (n *Network) runnerSettings(r Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name = %q\nkey_file = %q\napi = %q\n", r.Name, keyFile(r.Name), r.API)
	if len(r.Also) > 0 {
		fmt.Fprintf(&b, "also = [\"%s\"] # used if api fails\n", strings.Join(r.Also, `", "`))
	}
	fmt.Fprintf(&b, "max_concurrent_jobs = %d\n", wallet.RunnerJobs)
	b.WriteString(n.supervisionSetting())
	if n.plan.Driver != "" {
		fmt.Fprintf(&b, "driver = %q # the supervisor's secret\ncontrol = %q\n", n.plan.Driver, r.HTTP)
	}
	b.WriteString("\n[custom]\n\n[llm]\ndefault = \"offline\"\n")
	return b.String()
}

// AddValidator writes the files of one more validator into the folder of a network that
// was written before: on one machine, with a separate port.
func (n *Network) AddValidator(dir, name string, port int, key *crypto.Key) (Node, error) {
	v := n.plan.validatorAt(name, port)
	v.Key, v.Joins = key, true
	return v, n.writeNode(dir, v)
}

// AddRunner writes those of one more runner, which answers its driver at a port.
func (n *Network) AddRunner(dir, name string, port int, key *crypto.Key) (Node, error) {
	r := n.plan.runnerAt(name, len(n.Runners), port)
	r.Key = key
	n.Runners = append(n.Runners, r)
	return r, n.writeNode(dir, r)
}

// ReplaceKey gives a node another key, for its next life.
func ReplaceKey(dir, name string, key *crypto.Key) error {
	return home.WriteFile(filepath.Join(dir, keyFile(name)), []byte(keyText(key)), store.Process)
}

func keyText(key *crypto.Key) string { return types.Hash(key.Secret()).String() + "\n" }

// TakenError says that a folder is not empty.
type TakenError struct{ Dir, Name string }

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s is not empty (it holds %s)", e.Dir, e.Name)
}
