package hosts

import (
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// file is the settings of a validator as they are written.
type file struct {
	Name       string   `toml:"name"`
	Key        string   `toml:"key"`
	KeyFile    string   `toml:"key_file"`
	Genesis    string   `toml:"genesis"`
	Home       string   `toml:"home"`
	Listen     string   `toml:"listen"`
	HTTP       string   `toml:"http"`
	Hosts      []string `toml:"hosts"` // more names by which clients may call the API
	Origins    []string `toml:"cors"`
	Seed       string   `toml:"seed"` // a text, since a number of TOML ends at 2^63
	Python     string   `toml:"python"`
	Durability string   `toml:"durability"`
	History    int64    `toml:"history"`
	Strategy   string   `toml:"supervision"`
	Driver     string   `toml:"driver"`
	Endpoint   string   `toml:"endpoint"` // of one that is not of genesis
	Host       string   `toml:"host"`     // the machine or pod that it is for

	SignsFor  []string          `toml:"signs_for"`  // files NAME.key of runners
	Names     map[string]string `toml:"names"`      // addresses of the other nodes, by name
	NamesFile string            `toml:"names_file"` // a file with such a table, instead
}

// Validator is a validator's settings.
type Validator struct {
	Here    *setup.Here
	Home    string     // its folder
	Python  string     // interpreter; "": the first that fits
	Chain   setup.Plan // how it keeps the chain, and the seed of the named accounts
	HTTP    string     // host:port that its API listens on
	Hosts   []string   // names by which the other nodes call it
	Named   []string   // more names by which clients may call it, not checked
	Origins []string   // whose pages may call the API, not checked
	Driver  string     // the supervisor's secret, which with Strict only allows reading; "": no supervisor
	Strict  bool       // the network has no cheats
	host    string     // the only host that it may start on; "": any
}

// Open reads the settings of a validator, and the files that they name. Its errors are
// *configfile.Error, but for a file that cannot be read.
func Open(path string) (*Validator, error) {
	var s file
	f, err := configfile.Read(path, &s)
	if err != nil {
		return nil, err
	}
	o := opener{f, &s}
	v := &Validator{HTTP: s.HTTP, Origins: s.Origins, host: s.Host}
	v.Here = &setup.Here{Name: s.Name, Listen: s.Listen}
	v.Python = s.Python
	for _, step := range []func(*Validator) error{o.openName, o.openAddresses, o.openHome, o.openKey, o.openOthers, o.openJoining} {
		if err := step(v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// HostError says that a validator's settings are for another host.
type HostError struct{ Node, Want, Here string }

func (e *HostError) Error() string {
	return fmt.Sprintf("the settings of %s are for the host %s, and this is %s", e.Node, e.Want, e.Here)
}

// CheckHost compares the name of this host with the one that the settings name. A second
// replica has the same key, and would vote as the first does (decision C5). The name may
// have a domain. It returns a *HostError.
func (v *Validator) CheckHost(name string) error {
	short, _, _ := strings.Cut(name, ".")
	if v.host == "" || v.host == name || v.host == short {
		return nil
	}
	return &HostError{Node: v.Here.Name, Want: v.host, Here: name}
}

// opener opens what settings name, a few at a time.
type opener struct {
	*configfile.File
	*file
}

func (o *opener) openName(*Validator) error {
	if !nodeName(o.Name) {
		return o.Fault("a validator has a name, by which files and logs know it: 1 to 32 lower-case letters, digits and hyphens", "name")
	}
	return nil
}

// nodeName reports whether a name is valid for a node.
func nodeName(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return len(name) >= 1 && len(name) <= 32
}

func (o *opener) openAddresses(*Validator) error {
	for _, one := range []struct{ key, value string }{{"listen", o.Listen}, {"http", o.file.HTTP}} {
		_, port, err := net.SplitHostPort(one.value)
		if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || wrong != nil || n == 0 && one.key == "listen" {
			return o.Fault(fmt.Sprintf("invalid address %.60q: want HOST:PORT, like 0.0.0.0:%d", one.value, Port), one.key)
		}
	}
	return nil
}

func (o *opener) openHome(v *Validator) error {
	if o.Home == "" {
		return o.Fault("name the validator's folder", "home")
	}
	v.Home = o.Beside(o.Home)
	if o.Durability != "" {
		if err := v.Chain.Durability.UnmarshalText([]byte(o.Durability)); err != nil {
			return o.Fault(fmt.Sprintf("%.40q is neither process nor disk", o.Durability), "durability")
		}
	}
	if o.History != 0 && o.History < history.MinHistory {
		return o.Fault(fmt.Sprintf("%d is too few: at least %d blocks, or 0 for all", o.History, history.MinHistory), "history")
	}
	v.Chain.History = uint64(o.History)
	strategy, err := roles.ParseStrategy(o.Strategy)
	if err != nil {
		return o.Fault(err.Error(), "supervision")
	}
	v.Chain.Strategy = strategy
	if v.Driver = o.Driver; v.Driver != "" {
		if err := configfile.CheckSecret(v.Driver); err != nil {
			return o.Fault(err.Error(), "driver")
		}
	}
	return nil
}

func (o *opener) openKey(v *Validator) (err error) {
	if v.Here.Key, err = o.File.Key(o.file.Key, o.KeyFile); err != nil {
		return err
	}
	if o.Seed == "" {
		return nil
	}
	seed, err := strconv.ParseUint(o.Seed, 10, 64)
	if err != nil {
		return o.Fault(fmt.Sprintf("invalid seed %.40q: want a whole number from 0 to 2^64-1", o.Seed), "seed")
	}
	v.Chain.Seed = &seed
	return nil
}

// maxKnown bounds the nodes that settings name.
const maxKnown = setup.MaxValidators + setup.MaxRunners

// openOthers reads who the other nodes are, and for which runners' owners the API signs.
func (o *opener) openOthers(v *Validator) error {
	if err := o.readNames(); err != nil {
		return err
	}
	here := v.Here
	if len(o.Names) > maxKnown || len(o.SignsFor) > maxKnown {
		return o.Fault(fmt.Sprintf("at most %d nodes", maxKnown), "names")
	}
	here.Names, here.Keys = map[types.Address]string{}, map[string]*crypto.Key{}
	for _, name := range slices.Sorted(maps.Keys(o.Names)) {
		address, err := types.ParseAddress(o.Names[name])
		if err != nil || !nodeName(name) {
			return o.Fault("a node's name and its address are wanted, as in v1 = \"0x…\"", "names", name)
		}
		here.Names[address] = name
	}
	for _, file := range o.SignsFor {
		name, is := strings.CutSuffix(filepath.Base(file), keySuffix)
		if !is || !nodeName(name) {
			return o.Fault(fmt.Sprintf("%.60q is no file NAME%s", file, keySuffix), "signs_for")
		}
		key, err := o.File.Key("", file)
		if err != nil {
			return o.Fault(fmt.Sprintf("%.60s: %v", file, err), "signs_for")
		}
		here.Keys[name] = key
	}
	return nil
}

// readNames reads the table of names from the file that the settings name.
func (o *opener) readNames() error {
	if o.NamesFile == "" {
		return nil
	}
	if len(o.Names) > 0 {
		return o.Fault("give names or names_file, not both", "names_file")
	}
	var table struct {
		Names map[string]string `toml:"names"`
	}
	if _, err := configfile.Read(o.Beside(o.NamesFile), &table); err != nil {
		return o.Fault(err.Error(), "names_file")
	}
	o.Names = table.Names
	return nil
}

func (o *opener) openJoining(v *Validator) error {
	if o.Genesis == "" {
		return o.Fault("name the file that devnet init made", "genesis")
	}
	data, err := os.ReadFile(o.Beside(o.Genesis))
	if err != nil {
		return o.Fault(err.Error(), "genesis")
	}
	here := v.Here
	if here.Genesis, err = ledger.DecodeGenesis(data); err != nil {
		return o.Fault(fmt.Sprintf("%s is no genesis: %v", o.Genesis, err), "genesis")
	}
	here.Announced = o.file.Endpoint
	if err := here.Check(v.Chain.Seed); err != nil {
		return o.Fault(err.Error(), "genesis")
	}
	p, err := here.Genesis.Parameters()
	if err != nil {
		return o.Fault(err.Error(), "genesis")
	}
	v.Strict = !p.Cheats
	host, _, err := net.SplitHostPort(here.Endpoint())
	v.Hosts, v.Named = []string{host}, o.Hosts
	if err != nil {
		return o.Fault(fmt.Sprintf("invalid address of %s, %.60q: want HOST:PORT", here.Name, here.Endpoint()), "genesis")
	}
	return nil
}
