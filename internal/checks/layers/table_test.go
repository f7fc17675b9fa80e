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
	// like internal/environment/store and internal/environment/store/bolt, may
	// import each other.
	imports []string
	// standard are the packages of the standard library that a pure or clockless
	// layer may import; the others may import any.
	standard []string
	// libraries are the libraries of others that it may import; "..." is any.
	libraries []string
	// refuses are packages of the standard library that it may not import, where it may any
	// other.
	refuses []string
	// pure means that only its arguments may influence it, so it has none of
	// rules_test.go's constructs. clockless means that it gets time, chance and the
	// outside world only from internal/environment/env.
	pure, clockless bool
	why             string
}

// The folders of internal are layers themselves; of those outside it, and of the
// parts of a folder that may do less, the names are here.
var (
	base  = []string{"internal/base/..."}
	cores = []string{"scheduler/...", "actors/...", "validators/simplex", "validators/catchup", "validators/mempool", "validators/rations",
		"validators/gateway",
		"runners/selection", "runners/session", "runners/worker", "runners/poller"}
	composition = []string{"validators/ledger/..."}
	history     = []string{"validators/history"}
	shells      = []string{"validators", "runners"}
	interfaces  = []string{"internal/environment/env", "internal/environment/configfile", "internal/environment/fault",
		"internal/environment/roles",
		"internal/environment/store"}
	environment = []string{"internal/environment/clock", "internal/environment/home", "internal/environment/pyhost/...",
		"internal/environment/store/...",
		"internal/environment/transport/...", "internal/environment/executor/...", "internal/environment/chainhttp",
		"internal/environment/neighbours", "internal/environment/owner", "python-host"}
	views   = []string{"internal/environment/chainhttp"}
	carried = []string{"fixtures", "fixtures/attacks", "fixtures/vectors"}
	oracles = []string{"internal/oracle"}
	answers = []string{"internal/answers", "internal/answers/model", "internal/answers/views"}
	shown   = []string{"internal/answers/readmodel"}
	faces   = []string{"internal/faces/api/...", "internal/faces/bench", "internal/faces/scenario", "internal/faces/words",
		"internal/faces/clientgen"}
	pages    = []string{"internal/faces/page", "internal/faces/web"}
	bridges  = []string{"internal/worlds/byzantine", "internal/worlds/observe"}
	audits   = []string{"internal/worlds/audit"}
	batches  = []string{"internal/runs/batch", "internal/runs/experiment"}
	nodes    = []string{"internal/worlds/node"}
	networks = []string{"internal/worlds/network"}
	steers   = []string{"internal/worlds/steer"}
	setups   = []string{"internal/worlds/setup"}
	folders  = []string{"internal/worlds/setup/hosts"}
	stages   = []string{"internal/runs/stage"}
	remotes  = []string{"internal/worlds/remote"}
	players  = []string{"internal/runs/live", "internal/runs/clustered"}
	replays  = []string{"internal/runs/simulated", "internal/runs/explore", "internal/runs/why"}
	worlds   = []string{"internal/worlds/sim", "internal/worlds/box"}
	bares    = []string{"internal/worlds/bare/..."}
	labs     = []string{"internal/runs/lab"}
	crowded  = []string{"internal/worlds/crowded"}
	controls = []string{"internal/worlds/cluster/control"}
	clusters = []string{"internal/worlds/cluster/..."}
	clients  = []string{"client"}
	tests    = []string{"devnettest"}
	commands = []string{"cmd/..."}
	shared   = []string{"cmd/devnet/internal/self", "cmd/devnet/internal/terminal", "cmd/devnet/internal/naming"}
	texts    = []string{"cmd/devnet/internal/chaintext", "cmd/devnet/internal/jobtext", "cmd/devnet/internal/nodetext",
		"cmd/devnet/internal/profiletext", "cmd/devnet/internal/timertext"}
	checks = []string{"internal/checks/..."}

	anyLibrary = []string{"..."}

	// deterministic are the packages for code whose result depends only on its
	// arguments. They read no clock, zone, seed of the process, machine or outside,
	// and make no floats unasked.
	deterministic = []string{"bytes", "cmp", "container/heap", "encoding", "encoding/base64", "encoding/binary", "encoding/hex", "errors",
		"fmt", "io", "iter",
		"maps", "math", "math/big", "math/bits", "math/rand", "math/rand/v2", "reflect", "slices", "sort", "strconv", "strings", "time",
		"unicode", "unicode/utf16", "unicode/utf8"}
	// baseOnly is what the base needs besides: hashes, locks for its caches, and texts that
	// are part of the program.
	baseOnly = []string{"embed", "crypto/subtle", "hash", "sync", "sync/atomic"}
	// shellOnly is what a shell needs besides.
	shellOnly = []string{"log/slog", "sync", "sync/atomic"}
)

// below are the layers under the faces.
var below = join(base, cores, composition, history, interfaces)

// table is "Layers: who may import whom". A package belongs to the first row that
// names it.
var table = []layer{
	{name: "base", packages: base, imports: base, pure: true, standard: join(deterministic, baseOnly),
		libraries: []string{"github.com/fxamacker/cbor/v2", "github.com/holiman/uint256", "golang.org/x/crypto/sha3",
			"github.com/decred/dcrd/dcrec/secp256k1/v4", "github.com/consensys/gnark-crypto/ecc/secp256k1/..."},
		why: "the base imports the base, the standard library and the libraries made for it"},
	{name: "composition", packages: composition, imports: join(base, cores), pure: true, standard: deterministic,
		why: "the state transition imports cores and the base"},
	{name: "samples", packages: []string{"actors/samples"}, imports: join(base, []string{"actors"}), pure: true,
		standard: join(deterministic, []string{"encoding/json"}),
		why:      "a program in Go sees what one in Python sees; its payloads are JSON"},
	{name: "history", packages: history, imports: join(base,
		[]string{"actors", "scheduler", "validators/ledger", "validators/catchup", "internal/environment/env", "runners/selection"}), pure: true,
		standard: deterministic,
		why:      "readers of a chain know its blocks and results, and the store as an interface"},
	{name: "core", packages: cores, imports: join(base, []string{"runners/selection"}), pure: true, standard: deterministic,
		why: "a core imports the base, and no other core except runners/selection; it gets data of another as an argument"},
	{name: "shell", packages: shells, imports: below, clockless: true, standard: join(deterministic, shellOnly),
		libraries: []string{"github.com/asynkron/protoactor-go/actor"},
		why:       "a shell imports env, roles and cores: no implementation of the environment, no world, no other shell"},
	{name: "environment", packages: interfaces, imports: base, libraries: anyLibrary,
		why: "the environment's interfaces know only the base"},
	{name: "view", packages: views, imports: join(base, interfaces, []string{"runners/selection"}), libraries: anyLibrary,
		why: "a runner's view of the chain knows env, the base, and the rule that assigns runners to validators"},
	{name: "environment's implementation", packages: environment, imports: join(base, interfaces, []string{"python-host"}),
		libraries: anyLibrary,
		why:       "an implementation knows env and the base, and no other implementation"},
	{name: "fixtures", packages: carried, why: "the files of fixtures, for those who read them, and no code"},
	{name: "oracle", packages: oracles, imports: []string{"internal/base/types", "internal/base/codec"}, libraries: anyLibrary,
		why: "an oracle imports types and their encoding, so that it shares no code with the judged packages"},
	{name: "answers", packages: answers, imports: join(below, answers), libraries: anyLibrary,
		why: "what a network answers is data of the chain in another form: it is independent of shells, worlds and faces"},
	{name: "read model", packages: shown, imports: join(below, shells, answers), libraries: anyLibrary,
		why: "the read model answers for a validator, in every world: it is independent of worlds and faces"},
	{name: "page", packages: pages, imports: []string{"internal/answers/model", "internal/base/pattern"},
		why: "the page knows a network by the API's answers, as a browser does; patterns are of texts"},
	{name: "face", packages: faces, imports: join(below, answers, carried, pages, []string{"internal/faces/api", "internal/faces/words"}),
		libraries: anyLibrary,
		why: "a face imports the base, env, what it shows, and the names of the API: no shell, no world, no implementation of the " +
			"environment"},
	{name: "bridge", packages: bridges, imports: join(below, shells, oracles), libraries: anyLibrary,
		why: "what worlds share knows validators and oracles, and no world"},
	{name: "network", packages: networks, imports: join(below, answers, setups, []string{"validators"}), pure: true,
		standard: join(deterministic, []string{"context"}),
		why: "operator code waits through its scheduler, so that it is simulated as well: it knows chain, faults and what a " +
			"validator refuses, and no face"},
	{name: "steering", packages: steers, imports: join(below, answers, networks), libraries: anyLibrary,
		why: "the operator's actions in the form of answers are the same in every world: they know operator code, and no world"},
	{name: "setup", packages: setups, imports: join(base, composition, []string{"actors/system", "internal/environment/roles",
		"internal/environment/store"}), pure: true, standard: deterministic,
		why: "a network's beginning follows from its description, for every world; it knows the words for how nodes keep a chain"},
	{name: "folder", packages: folders, imports: join(below, environment, setups, nodes), libraries: anyLibrary,
		why: "the files by which nodes begin follow from the network's description, independent of worlds and faces"},
	{name: "bare world", packages: bares, imports: join(base, composition, bares, []string{"actors", "runners/selection"}), pure: true,
		standard: deterministic,
		why: "a world of one validator follows from its configuration and seed: it knows the ledger and the selection of runners, " +
			"and no shell, disk or clock"},
	{name: "stage", packages: stages, imports: join(below, faces, answers, oracles, networks, setups, steers), libraries: anyLibrary,
		why: "what scripts do with a network is the same in every world: it knows operator code and oracles, and no world"},
	{name: "remote nodes", packages: remotes, imports: join(below, shells, environment, networks), libraries: anyLibrary,
		why: "what a network asks of its nodes wherever they run knows shells and operator code: it is independent of worlds and faces"},
	{name: "node", packages: nodes, imports: join(below, shells, environment), libraries: anyLibrary,
		why: "a node wires a shell to its environment, in its own process or with others: it is independent of worlds and faces"},
	{name: "batch", packages: batches, imports: join(base, interfaces, history, faces, answers, batches), libraries: anyLibrary,
		why: "a batch makes runs of scenarios in worlds that it is given and reads the outcomes, independent of any world"},
	{name: "lab", packages: labs, imports: join(base, carried, batches, bares), libraries: anyLibrary,
		why: "an experiment is played in the bare world and told with the means of an experiment of scenarios"},
	{name: "crowded network", packages: crowded, imports: join(base, composition, bares, []string{"internal/worlds/sim"}),
		libraries: anyLibrary,
		why:       "a crowd's room on a simulated network knows the two worlds that it compares"},
	{name: "audit", packages: audits, imports: join(below, environment), libraries: anyLibrary,
		why: "an audit reads a home and executes its blocks: it is independent of shells, faces and worlds"},
	{name: "control", packages: controls,
		imports:   join(below, shells, environment, answers, bridges, nodes, networks, setups),
		libraries: anyLibrary,
		why:       "the two ends of a node's control, which speak HTTP, know nodes and operator code, and no world"},
	{name: "live run", packages: players, imports: join(below, shells, faces, answers, oracles, bridges, nodes, networks,
		setups, folders, stages, remotes, clusters, players, []string{"internal/worlds/box"}), libraries: anyLibrary,
		why: "a script is played on box, with its nodes here or in a cluster: what joins a face and worlds is above both"},
	{name: "simulated run", packages: replays, imports: join(below, shells, environment, carried, faces, answers, oracles, shown, networks,
		steers, stages, replays, []string{"internal/worlds/sim"}), libraries: anyLibrary,
		why: "a script is played in the simulator, and again with a change: what joins a face and worlds is above both"},
	{name: "world", packages: worlds, refuses: []string{"net/http"},
		imports: join(below, shells, environment, carried, answers, oracles, shown, bridges, nodes, networks, setups, audits, remotes,
			steers),
		libraries: anyLibrary,
		why:       "a world imports what is below it, and no other world and no face"},
	{name: "cluster", packages: clusters, refuses: []string{"net/http"},
		imports:   join(below, shells, environment, oracles, networks, setups, folders, remotes),
		libraries: anyLibrary,
		why:       "a cluster opens the nodes of a network in processes and containers: it is independent of worlds and faces"},
	{name: "text of commands", packages: join(shared, texts), refuses: []string{"net", "net/http"},
		imports: join(base, shared, texts, []string{"internal/environment/executor/llm", "internal/answers", "internal/answers/model",
			"internal/faces/api", "internal/faces/words"}),
		libraries: []string{"github.com/vbauerster/mpb/v8/..."},
		why:       "a text is made from data: it knows neither flags nor a network"},
	{name: "command", packages: commands, imports: join(base, interfaces, environment, history, shells, faces, answers, pages, audits, batches,
		nodes, setups, folders, remotes, worlds, players, replays, labs, crowded, clusters, clients), libraries: anyLibrary,
		why: "a command works with worlds, nodes and faces, and not with cores"},
	{name: "client", packages: clients, imports: []string{"internal/base/types", "internal/base/typed", "internal/answers/model"},
		why: "what other people's programs import is light: the words of the chain, and the HTTP API's client"},
	{name: "network of tests", packages: tests, imports: join(base, clients, shells, faces, answers, worlds, players, replays, setups),
		libraries: anyLibrary,
		why:       "it gives worlds to other people's tests, and is independent of cores"},
	{name: "check", packages: checks, imports: join(base, []string{"internal/environment/pyhost/..."}), libraries: anyLibrary,
		why: "a check judges the sources, builds them, or compares interpreters: it is neither a part of them nor a world"},
}

// allowedIn lists, by package, the files of pure layers that may import it although their
// layer may not. Each reason says why the results follow from the arguments.
var allowedIn = map[string]map[string]string{
	"sync/...": {
		"internal/base/types/hashing.go":     "a pool of keccak states, each reset before use",
		"internal/base/trie/hash.go":         "a pool of hashers, each reset before use",
		"internal/base/trie/node.go":         "publishes a hash that every goroutine computes alike",
		"internal/base/memo/once.go":         "remembers results of pure functions, independent of the caller",
		"internal/base/memo/onneed.go":       "remembers the result of a pure function, independent of the caller",
		"internal/base/crypto/memory.go":     "remembers results of a pure function",
		"internal/base/crypto/keyedhash.go":  "remembers results of a pure function",
		"internal/worlds/network/guarded.go": "guards a value for as long as one function uses it, which cannot wait",
		"internal/base/codec/plan.go":        "keeps plans that every goroutine makes alike, and a pool of buffers",
	},
	"regexp": {
		"internal/base/pattern/pattern.go": "a pattern's matches follow from the expression and the text",
	},
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

// tree is the pattern of ps that names the package, if it is a tree.
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
