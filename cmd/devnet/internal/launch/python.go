package launch

import (
	"cmp"
	"path/filepath"

	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/setup/hosts"
)

// NamedPython is the minor version that the genesis of a home's network names.
func NamedPython(dir string) string {
	return cmp.Or(box.NamedPython(filepath.Join(dir, hosts.GenesisFile)), box.NamedPython(filepath.Join(home.NetDir(dir), hosts.GenesisFile)))
}
