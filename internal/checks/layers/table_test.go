// Package layers holds no code, only the test that reads the sources of all the
// others and fails where one breaks the layers of docs/ARCHITECTURE.md: an
// import, and in the layers that must be deterministic a go statement, a lock, a
// channel, a clock, the disk, the network, a global random generator, a float,
// or the order of a map.
//
// table_test.go is the table, to be changed when a package is added or a rule
// moves; rules_test.go is what the deterministic layers may not do;
// planted_test.go breaks each rule and sees the break found.
package layers

import "strings"

// layer is a row of the table. A name that ends in /... means the package and
// all below it.
type layer struct {
	name     string
	packages []string
	// imports are the packages of this module it may import; those of one tree,
	// like internal/environment/store and internal/environment/store/bolt, may import each other.
	imports []string
	// libraries are those it may import besides the standard library; "..." is
	// any.
	libraries []string
	// pure means that nothing but its arguments may influence it, so it has none
	// of rules_test.go's constructs; clockless, that it only gets time, chance
	// and the outside world from internal/environment/env.
	pure, clockless bool
	why             string
}

var (
	base        = []string{"internal/base/types", "internal/base/codec", "internal/wire/...", "internal/base/crypto", "internal/base/params", "internal/base/feemarket", "internal/base/trie", "internal/base/program", "internal/base/plant", "internal/base/typo"}
	cores       = []string{"scheduler/...", "actors/...", "validators/simplex", "validators/catchup", "validators/mempool", "validators/rations", "runners/selection", "runners/worker"}
	composition = []string{"validators/ledger/..."}
	shells      = []string{"validators", "runners"}
	environment = []string{"internal/environment/env", "internal/environment/roles", "internal/environment/fault", "internal/environment/store"}
	realParts   = []string{"internal/environment/clock/...", "internal/environment/transport/...", "internal/environment/store/...", "internal/environment/pyhost/...", "internal/executor/...", "internal/environment/home/...", "internal/worlds/byzantine", "python-host/..."}
	faces       = []string{"internal/faces/api/...", "internal/faces/scenario/...", "internal/dashboard/..."}
	oracles     = []string{"internal/faces/oracle/...", "internal/trace/..."}
	worlds      = []string{"internal/worlds/sim/...", "internal/worlds/box/..."}
	shown       = []string{"internal/faces/view"}
	carried     = []string{"fixtures", "fixtures/attacks"}
	stages      = []string{"internal/faces/scenario/stage/..."}
	commands    = []string{"cmd/..."}

	anyLibrary = []string{"..."}
)

// table is "Layers: who may import whom". A package stands in the first row
// that names it.
var table = []layer{
	{name: "base", packages: base, imports: base, pure: true,
		libraries: []string{"github.com/fxamacker/cbor/v2", "github.com/holiman/uint256", "golang.org/x/crypto/sha3", "github.com/decred/dcrd/dcrec/secp256k1/v4/..."},
		why:       "the base imports the base, the standard library and the libraries made for it"},
	{name: "composition", packages: composition, imports: join(base, cores), pure: true,
		why: "the state transition imports cores and the base"},
	{name: "core", packages: cores, imports: join(base, []string{"runners/selection"}), pure: true,
		why: "a core imports the base, and no other core but runners/selection; what it needs of another is an argument"},
	{name: "shell", packages: shells, imports: join(base, cores, composition, environment), clockless: true,
		libraries: []string{"github.com/asynkron/protoactor-go/actor"},
		why:       "a shell imports internal/environment/env, internal/environment/roles and cores: no implementation of the environment, no world, no other shell"},
	{name: "environment", packages: environment, imports: base, libraries: anyLibrary,
		why: "the environment's interfaces know the base alone"},
	{name: "environment's implementation", packages: realParts, imports: join(base, environment, []string{"python-host"}), libraries: anyLibrary,
		why: "an implementation knows internal/environment/env and the base, and no other implementation"},
	{name: "oracle", packages: oracles, imports: []string{"internal/base/types", "internal/base/codec", "internal/trace/..."}, libraries: anyLibrary,
		why: "an oracle imports types and the trace, so that it shares no code with what it judges"},
	{name: "fixtures", packages: carried, why: "the files of fixtures, for those who read them, and no code"},
	{name: "stage", packages: stages, imports: []string{"..."}, libraries: anyLibrary,
		why: "a stage is a world as scripts drive it"},
	{name: "scenario", packages: []string{"internal/faces/scenario"}, imports: join(base, cores, composition, environment, carried, []string{"internal/faces/api", "internal/faces/api/model"}), libraries: anyLibrary,
		why: "scripts read what the API shows, by the same names; the world behind it is a Backend"},
	{name: "view", packages: shown, imports: join(base, cores, composition, shells, environment, faces), libraries: anyLibrary,
		why: "a view shows a validator to a face, for every world"},
	{name: "face", packages: faces, imports: join(base, cores, composition, environment), libraries: anyLibrary,
		why: "a face imports the base, internal/environment/env and what it shows: no shell, no world, no implementation of the environment"},
	{name: "world", packages: worlds, imports: join(base, cores, composition, shells, environment, realParts, faces, oracles, shown), libraries: anyLibrary,
		why: "a world imports everything but commands and other worlds"},
	{name: "command", packages: commands, imports: []string{"..."}, libraries: anyLibrary},
}

// lockAllowed are the files of the base that guard a cache, with the reason why
// nothing depends on who gets the lock first.
var lockAllowed = map[string]string{
	"internal/base/types/hashing.go":    "a pool of keccak states, each reset before use",
	"internal/base/trie/hash.go":        "a pool of hashers, each reset before use",
	"internal/base/trie/node.go":        "publishes a hash that every goroutine computes alike",
	"internal/base/crypto/memory.go":    "remembers results of a pure function",
	"internal/base/crypto/keyedhash.go": "remembers results of a pure function",
	"internal/base/codec/plan.go":       "keeps plans that every goroutine makes alike, and a pool of buffers",
}

func join(lists ...[]string) (all []string) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// covers reports whether one of the patterns names the package.
func covers(patterns []string, pkg string) bool {
	for _, p := range patterns {
		tree, isTree := strings.CutSuffix(p, "...")
		if pkg == p || isTree && (pkg+"/" == tree || strings.HasPrefix(pkg, tree)) {
			return true
		}
	}
	return false
}

// tree is the pattern of ps that names the package, where it is a tree.
func tree(ps []string, pkg string) []string {
	for _, p := range ps {
		if strings.HasSuffix(p, "/...") && covers([]string{p}, pkg) {
			return []string{p}
		}
	}
	return nil
}

func layerOf(pkg string) *layer {
	for i := range table {
		if covers(table[i].packages, pkg) {
			return &table[i]
		}
	}
	return nil
}
