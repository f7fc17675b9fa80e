package hosts

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// Folder is what a folder of Write has.
type Folder struct {
	Validators, Runners []string // names, v2 before v10
	Genesis             types.Hash
	ChainID             uint64
	BlockTime           time.Duration // at genesis
	Auto, Strict        bool          // at genesis
	Began               struct{ Validators, Runners int }
}

// Read reads a folder that Write wrote. A node that was added to it later is among the
// others.
func Read(dir string) (*Folder, error) {
	data, err := os.ReadFile(filepath.Join(dir, GenesisFile))
	if err != nil {
		return nil, err
	}
	genesis, err := ledger.DecodeGenesis(data)
	if err != nil {
		return nil, fmt.Errorf("%s is not a genesis: %w", filepath.Join(dir, GenesisFile), err)
	}
	p, err := genesis.Parameters()
	if err != nil {
		return nil, err
	}
	f := &Folder{Genesis: genesis.Hash(), ChainID: genesis.ChainID, BlockTime: p.BlockTimeMS.Duration(),
		Auto: p.BlockTimeAuto, Strict: !p.Cheats}
	f.Began.Validators, f.Began.Runners = len(genesis.Validators.Members), len(genesis.Runners)
	paths, err := filepath.Glob(filepath.Join(dir, "*"+settingsSuffix))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if err := f.addNode(path); err != nil {
			return nil, err
		}
	}
	for _, names := range [][]string{f.Validators, f.Runners} {
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	}
	return f, nil
}

// addNode enters the node whose settings a file has: only a validator's name a genesis.
func (f *Folder) addNode(path string) error {
	var kind struct {
		Genesis string `toml:"genesis"`
	}
	if err := configfile.Peek(path, &kind); err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(path), settingsSuffix)
	switch {
	case !nodeName(name):
		return fmt.Errorf("%s: a node's settings are in NAME%s, its name being of lower-case letters, digits and hyphens", path, settingsSuffix)
	case kind.Genesis != "":
		f.Validators = append(f.Validators, name)
	default:
		f.Runners = append(f.Runners, name)
	}
	return nil
}
