package hosts

import (
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/validators"
)

// freePorts are different ports on which no process listens.
func freePorts(t *testing.T, n int) (ports []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// pythons are an interpreter of each minor version of this machine, by that version.
func pythons(t *testing.T) (minors []string, paths map[string]string) {
	paths = map[string]string{}
	for _, path := range pyhost.Installed() {
		pool := pyhost.New(pyhost.Config{Python: path})
		defer pool.Close()
		version, err := pool.Probe()
		if err != nil {
			t.Fatal(err)
		}
		if minor := pyhost.Minor(version); paths[minor] == "" {
			minors, paths[minor] = append(minors, minor), path
		}
	}
	if len(minors) == 0 {
		needed.Python(t, &pyhost.MissingError{})
	}
	return minors, paths
}

// C20: a validator whose minor version of Python differs from the one in genesis follows
// the chain, neither proposes nor votes, and says why. The other validators continue.
func TestC20AnotherPythonIsRefusedByName(t *testing.T) {
	minors, paths := pythons(t)
	if len(minors) < 2 {
		t.Skipf("one minor version of Python: %v (%s names others)", minors, pyhost.PythonsVariable)
	}
	dir, made := written(t, func(p *Plan) {
		p.Chain.Validators, p.Chain.Runners, p.Chain.Minor, p.Ports = 4, 0, minors[0], freePorts(t, 4)
	})
	if got := made.Genesis.Python(); got != minors[0] {
		t.Fatalf("genesis names %q", got)
	}
	var mu sync.Mutex
	var seen []validators.FinalBlocks
	var up []*box.Network
	for i, name := range []string{"v0", "v1", "v2", "v3"} {
		v, err := Open(dir + "/" + name + ".toml")
		if err != nil {
			t.Fatal(err)
		}
		config := configOf(v)
		config.Python = paths[minors[0]]
		if i == 3 {
			config.Python = paths[minors[1]]
			config.Observe = func(b validators.FinalBlocks) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, b)
			}
		}
		up = append(up, start(t, config))
	}
	const enough = types.Height(30)
	for up[3].Nodes()[0].Height < enough {
		await(t, up[3])
	}
	mu.Lock()
	defer mu.Unlock()
	odd := up[3].Nodes()[0].Validator.Address
	for _, b := range seen {
		voted := func(v types.CertificateVote) bool { return v.Validator == odd }
		if b.Finalization != nil && slices.ContainsFunc(b.Finalization.Votes, voted) {
			t.Errorf("v3 voted for height %d", b.Finalization.Height)
		}
		for _, r := range b.Results {
			if r.Block.Header.Proposer == odd {
				t.Errorf("v3 proposed height %d", r.Block.Header.Height)
			}
		}
	}
	said := strings.Join(up[3].Liveness().Troubles, "\n")
	for _, want := range []string{"v3 neither proposes nor votes", "names Python " + minors[0], "(got " + minors[1],
		"install python" + minors[0]} {
		if !strings.Contains(said, want) {
			t.Errorf("v3's troubles lack %q: %s", want, said)
		}
	}
	if said := up[0].Liveness().Troubles; len(said) > 0 {
		t.Errorf("v0: %q", said)
	}
}

// A genesis without a Python version, like that of an older home, accepts any Python. It
// must give the receipts of that Python's version.
func TestAGenesisWithoutPythonTakesAny(t *testing.T) {
	_, paths := pythons(t)
	for minor, path := range paths {
		dir, made := written(t, nil)
		if made.Genesis.Python() != "" {
			t.Fatalf("genesis names %q", made.Genesis.Python())
		}
		c := opened(t, dir)
		c.Python = path
		n := start(t, c)
		await(t, n)
		if said := n.Liveness().Troubles; len(said) > 0 {
			t.Errorf("%s: %q", minor, said)
		}
	}
}
