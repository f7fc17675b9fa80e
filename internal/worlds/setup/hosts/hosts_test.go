package hosts

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/configfile"
	runnerfile "github.com/cowboyinc/devnet/internal/environment/executor/settings"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

var seven = uint64(7)

// written is the folder of a network of one validator and one runner.
func written(t *testing.T, change func(*Plan)) (dir string, n *Network) {
	t.Helper()
	p := Plan{Chain: setup.Plan{Validators: 1, Runners: 1, ChainID: 8011, BlockTime: 20 * time.Millisecond}, Seed: &seven,
		Format: Processes, Image: "image", Now: time.Now()}
	if change != nil {
		change(&p)
	}
	n, err := Make(p)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "net")
	if err := n.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir, n
}

func TestEachNodeHasAKeyOfItsOwnForItsOwnersEyes(t *testing.T) {
	dir, n := written(t, func(p *Plan) { p.Chain.Validators, p.Chain.Runners = 4, 4 })
	_, again := written(t, func(p *Plan) { p.Chain.Validators, p.Chain.Runners = 4, 4 })
	seen := map[types.Address]bool{}
	for _, node := range slices.Concat(n.Validators, n.Runners, again.Validators, again.Runners) {
		if seen[node.Key.Address()] {
			t.Errorf("the key of %s is another's too", node.Name)
		}
		seen[node.Key.Address()] = true
	}
	for _, name := range []string{"v0.key", "v0.toml", "r3.key"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if n.Genesis.Accounts == nil || len(n.Genesis.Runners) != 4 || n.Genesis.SystemKey.IsZero() {
		t.Errorf("the genesis has %d runners, system key %s", len(n.Genesis.Runners), n.Genesis.SystemKey)
	}
}

func TestAFolderThatIsNotEmptyIsLeftAlone(t *testing.T) {
	dir, n := written(t, nil)
	before, err := os.ReadFile(filepath.Join(dir, "v0.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Write(dir); !errors.As(err, new(*TakenError)) {
		t.Fatalf("it was written over: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "v0.key")); err != nil || string(after) != string(before) {
		t.Fatal("the key is another")
	}
}

// What a genesis registers its runners with is what their settings have them do.
func TestARunnersSettingsOfferWhatTheGenesisSays(t *testing.T) {
	dir, n := written(t, nil)
	r, err := runnerfile.Open(filepath.Join(dir, "r0.toml"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Executor.Close()
	offer := n.Genesis.Runners[0].Offer
	if !slices.Equal(r.Executor.Capabilities(), offer.Capabilities) || uint64(r.Jobs) != uint64(offer.MaxConcurrentJobs) ||
		!slices.Equal(r.Executor.Entitlements(), offer.Entitlements) || r.Key.PublicKey() != n.Genesis.Runners[0].PublicKey {
		t.Fatalf("%v and %d jobs, the genesis has %+v", r.Executor.Capabilities(), r.Jobs, offer)
	}
	if r.API != "http://127.0.0.1:4000" {
		t.Errorf("it asks %s", r.API)
	}
}

func TestContainersAreReachedByName(t *testing.T) {
	dir, n := written(t, func(p *Plan) { p.Format, p.Chain.Validators = Compose, 2 })
	for _, v := range n.Genesis.Validators.Members {
		if v.Endpoint != "v0:4000" && v.Endpoint != "v1:4000" {
			t.Errorf("a validator is reached at %s", v.Endpoint)
		}
	}
	v, err := Open(filepath.Join(dir, "v1.toml"))
	if err != nil || !slices.Equal(v.Hosts, []string{"v1"}) || v.HTTP != "0.0.0.0:4000" || v.Here.Endpoint() != "v1:4000" {
		t.Fatalf("%+v, %v", v, err)
	}
}

// TestWrongSettingsAreRefusedByLineAndName: each alone, in a file that is right beside.
func TestWrongSettingsAreRefusedByLineAndName(t *testing.T) {
	other := types.Hash(crypto.DeriveKey(1, "other").Secret()).String()
	for _, c := range []struct{ from, to, want string }{
		{`name = "v0"`, `name = "V 0"`, "line 1, name: a validator has a name"},
		{`name = "v0"`, `name = 7`, "line 1, name: "},
		{`name = "v0"`, `nam = "v0"`, "line 1, nam: there is no such setting; name may be meant"},
		{`name = "v0"`, "name = \"v0\"\nkey = \"" + other + `"`, "key_file: give key or key_file, not both"},
		{`key_file = "v0.key"`, `key = "0x00"`, "line 2, key: a key is 0x and 64 hexadecimal digits"},
		{`key_file = "v0.key"`, `key_file = "nowhere"`, "line 2, key_file: "},
		{`key_file = "v0.key"`, `key = "` + other + `"`, "line 3, genesis: the genesis has no validator of v0's key"},
		{`genesis = "genesis.cbor"`, `genesis = "v0.key"`, "line 3, genesis: v0.key is no genesis"},
		{`genesis = "genesis.cbor"`, ``, "genesis: name the file"},
		{`home = "homes/v0"`, ``, "home: name the validator's folder"},
		{`listen = "127.0.0.1:4000"`, `listen = "127.0.0.1:0"`, `line 5, listen: invalid address "127.0.0.1:0"`},
		{`http = "127.0.0.1:4000"`, `http = "4000"`, `line 6, http: invalid address "4000"`},
		{`seed = "7"`, `seed = "8"`, "the seed 8 is not that of the genesis's accounts"},
		{`seed = "7"`, `seed = "x"`, "line 7, seed: "},
		{`seed = "7"`, ``, "the genesis has the devnet's named accounts"},
		{`signs_for = ["r0.key"]`, `signs_for = ["r1.key"]`, "signs_for: r1.key: "},
		{`signs_for = ["r0.key"]`, `signs_for = ["v0.toml"]`, `signs_for: "v0.toml" is no file NAME.key`},
		{"[names]", "[names]\nR = \"0x00\"", "names.R: a node's name and its address"},
		{`seed = "7"`, "seed = \"7\"\ndriver = \"short\"", "line 8, driver: a driver's secret has 16 to 128 letters"},
		{`seed = "7"`, "seed = \"7\"\ndriver = \"0123456789 abcdef\"", "and no blanks"},
		{`seed = "7"`, "seed = \"7\"\nhistory = 3", "history: 3 is too few"},
		{`seed = "7"`, "seed = \"7\"\ndurability = \"paper\"", `durability: "paper" is neither`},
	} {
		dir, _ := written(t, nil)
		path := filepath.Join(dir, "v0.toml")
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), c.from) {
			t.Fatalf("%v: no %s in\n%s", err, c.from, text)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), c.from, c.to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = Open(path)
		if !errors.As(err, new(*configfile.Error)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s in place of %s:\n have %v\n want %s", c.to, c.from, err, c.want)
		}
	}
}
