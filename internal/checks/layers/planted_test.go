package layers

import (
	"strings"
	"testing"
)

// plant is a source that breaks a rule, or looks as if it did.
type plant struct {
	name string // of the file
	text string // after the package clause
	want string // part of the one violation, "" for none
}

const core = "scheduler/planted.go"

var imports = []plant{
	{core, `import _ "github.com/cowboyinc/devnet/internal/base/types"`, ""},
	{core, `import _ "github.com/cowboyinc/devnet/runners/selection"`, ""},
	{core, `import _ "github.com/cowboyinc/devnet/actors"`, "scheduler/planted.go:2: imports actors: a core imports the base, and no other core"},
	{core, `import _ "github.com/cowboyinc/devnet/internal/environment/env"`, "imports internal/environment/env"},
	{core, `import _ "github.com/asynkron/protoactor-go/actor"`, "imports github.com/asynkron/protoactor-go/actor"},
	{"actors/governance/planted.go", `import _ "github.com/cowboyinc/devnet/actors"`, ""},
	{"actors/governance/planted.go", `import _ "github.com/cowboyinc/devnet/scheduler"`, "imports scheduler"},
	{"validators/simplex/planted.go", `import _ "github.com/cowboyinc/devnet/validators/mempool"`, "imports validators/mempool"},
	{"validators/ledger/planted.go", `import _ "github.com/cowboyinc/devnet/scheduler"`, ""},
	{"validators/ledger/planted.go", `import _ "github.com/cowboyinc/devnet/validators"`, "imports validators: the state transition"},
	{"validators/planted.go", `import _ "github.com/cowboyinc/devnet/validators/ledger"`, ""},
	{"validators/planted.go", `import _ "github.com/cowboyinc/devnet/internal/environment/roles"`, ""},
	{"validators/planted.go", `import _ "github.com/cowboyinc/devnet/runners"`, "imports runners: a shell"},
	{"validators/planted.go", `import _ "github.com/cowboyinc/devnet/internal/environment/transport/quic"`, "imports internal/environment/transport/quic: a shell"},
	{"validators/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/sim"`, "imports internal/worlds/sim"},
	{"internal/base/trie/planted.go", `import _ "github.com/cowboyinc/devnet/scheduler"`, "imports scheduler: the base"},
	{"internal/base/trie/planted.go", `import _ "github.com/quic-go/quic-go"`, "imports github.com/quic-go/quic-go: the base"},
	{"internal/base/crypto/planted.go", `import _ "github.com/consensys/gnark-crypto/ecc/secp256k1/fp"`, ""},
	{"internal/environment/store/bolt/planted.go", `import _ "github.com/cowboyinc/devnet/internal/environment/store"`, ""},
	{"internal/environment/store/bolt/planted.go", `import _ "github.com/cowboyinc/devnet/internal/environment/clock"`, "imports internal/environment/clock: an implementation"},
	{"internal/oracle/planted.go", `import _ "github.com/cowboyinc/devnet/internal/base/trie"`, "imports internal/base/trie: an oracle"},
	{"internal/faces/api/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, "imports internal/worlds/box: a face"},
	{"internal/worlds/network/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, "imports internal/worlds/box: operator code"},
	{"internal/worlds/network/planted.go", `import _ "github.com/cowboyinc/devnet/internal/environment/fault"`, ""},
	{"internal/worlds/network/planted.go", `import _ "github.com/cowboyinc/devnet/internal/faces/api"`, "imports internal/faces/api: operator code"},
	{"internal/worlds/network/planted.go", `import _ "github.com/cowboyinc/devnet/internal/answers/readmodel"`, "imports internal/answers/readmodel: operator code"},
	{"internal/worlds/box/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/sim"`, "imports internal/worlds/sim: a world"},
	{"internal/worlds/box/planted.go", `import _ "github.com/cowboyinc/devnet/internal/environment/transport/quic"`, ""},
	{"internal/worlds/box/planted.go", `import _ "github.com/cowboyinc/devnet/internal/faces/api"`, "imports internal/faces/api: a world"},
	{"internal/worlds/sim/planted.go", `import _ "github.com/cowboyinc/devnet/internal/faces/scenario"`, "imports internal/faces/scenario: a world"},
	{"internal/answers/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, "imports internal/worlds/box: what a network answers"},
	{"internal/worlds/box/planted.go", `import _ "net/http"`, "imports net/http: a world refuses by a code"},
	{"internal/worlds/cluster/planted.go", `import _ "net/http"`, "imports net/http: a world refuses by a code"},
	{"internal/worlds/cluster/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, "imports internal/worlds/box: a cluster"},
	{"internal/worlds/cluster/planted.go", `import _ "github.com/cowboyinc/devnet/internal/faces/api"`, "imports internal/faces/api: a cluster"},
	{"internal/worlds/cluster/control/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, "imports internal/worlds/box: the two ends"},
	{"internal/runs/clustered/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, ""},
	{"internal/worlds/cluster/control/planted.go", `import _ "net/http"`, ""},
	{"cmd/devnet/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, ""},
	{"internal/faces/page/planted.go", `import _ "github.com/cowboyinc/devnet/internal/answers/model"`, ""},
	{"internal/faces/page/planted.go", `import _ "github.com/cowboyinc/devnet/internal/faces/api"`, "imports internal/faces/api: the page"},
	{"internal/runs/live/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, ""},
	{"internal/runs/live/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/sim"`, "imports internal/worlds/sim: a script"},
	{"internal/runs/simulated/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/box"`, "imports internal/worlds/box: a script"},
	{"internal/worlds/observe/planted.go", `import _ "github.com/cowboyinc/devnet/internal/worlds/sim"`, "imports internal/worlds/sim: what worlds share"},
	{"cmd/devnet/planted.go", `import _ "github.com/cowboyinc/devnet/scheduler"`, "imports scheduler: a command"},
	{"cmd/devnet/internal/jobtext/planted.go", `import _ "github.com/urfave/cli/v2"`, "a text is made from data"},
	{"cmd/devnet/internal/jobtext/planted.go", `import _ "github.com/cowboyinc/devnet/client"`, "a text is made from data"},
	{"internal/util/planted.go", ``, "package internal/util: it stands in no layer"},
}

var outside = []plant{
	{core, `import "time"; const d = 5 * time.Second; var _ time.Duration`, ""},
	{core, `import "time"; var now = time.Now()`, "uses time.Now: there is no clock here"},
	{core, `import clock "time"; func f() { clock.Sleep(1) }`, "uses time.Sleep"},
	{core, `import "time"; var t = time.NewTimer(1)`, "uses time.NewTimer"},
	{core, `type t struct{ Now int }; func f(time t) int { return time.Now }`, ""},
	{"validators/planted.go", `import "time"; var now = time.Now()`, "uses time.Now"},
	{"validators/planted.go", `import "os"; var _ = os.Args`, "imports os: the disk"},
	{"validators/planted.go", `import "sync"; var _ sync.Mutex`, ""},
	{"internal/environment/clock/planted.go", `import "time"; var now = time.Now()`, ""},
	{core, `import . "time"`, "imports time with a dot"},
	{core, `import "time"; func f() string { return time.Unix(5, 0).String() }`, "uses time.Unix"},
	{core, `import "time"; func f(d time.Duration) bool { return d.Seconds() > 5 }`, "uses d.Seconds: floats differ"},
	{core, `type t struct{}; func (t) Seconds() int { return 5 }; func f(d t) bool { return d.Seconds() > 5 }`, ""},
	{core, `import _ "context"`, "imports context: it is a clock"},
	{core, `import _ "hash/maphash"`, "imports hash/maphash: a run must follow"},
	{core, `import _ "encoding/json"`, "imports encoding/json: it makes floats"},
	{"actors/samples/planted.go", `import _ "encoding/json"`, ""},
	{core, `import _ "text/template"`, "imports text/template: it is not on this layer's list"},
	{core, `import "fmt"; func f() { fmt.Println(5) }`, "uses fmt.Println: the terminal"},
	{core, `import "reflect"; func f(v reflect.Value) { for i := v.MapRange(); i.Next(); { } }`, "uses v.MapRange: the order of a map"},
	{"internal/worlds/network/planted.go", `import _ "context"`, ""},
	{"internal/worlds/network/planted.go", `import _ "sync"`, "imports sync: it runs on one goroutine"},
	{"validators/planted.go", `import _ "context"`, "imports context: it is a clock"},
	{"validators/planted.go", `import "time"; func f(t time.Time) { }`, ""},
	{core, `import _ "os/exec"`, "imports os/exec"},
	{core, `import _ "net"`, "imports net: the network"},
	{core, `import _ "net/http"`, "imports net/http"},
	{core, `import _ "log/slog"`, "imports log/slog"},
	{core, `import _ "crypto/rand"`, "imports crypto/rand: a run must follow from its seed"},
	{core, `import "math/rand/v2"; var n = rand.IntN(5)`, "uses rand.IntN: a run must follow"},
	{core, `import "math/rand"; var n = rand.New(rand.NewSource(1)).Intn(5)`, ""},
	{core, `import "sync"; var _ sync.Mutex`, "imports sync: it runs on one goroutine"},
	{core, `import "sync/atomic"; var _ atomic.Int64`, "imports sync/atomic"},
	{"internal/base/trie/planted.go", `import "sync"; var _ sync.Mutex`, "imports sync"},
	{"internal/base/trie/hash.go", `import "sync"; var _ sync.Pool`, ""},
}

var constructs = []plant{
	{core, `func f() { go f() }`, "go statement: concurrency lives in shells"},
	{core, `func f() { select {} }`, "select statement"},
	{core, `type t chan int`, "channel"},
	{core, `import "github.com/cowboyinc/devnet/internal/base/types"; func f() { <-types.C }`, "channel receive"},
	{core, `import "github.com/cowboyinc/devnet/internal/base/types"; func f() { types.C <- 1 }`, "channel send"},
	{"internal/environment/roles/planted.go", `func f() { go f() }`, ""},
	{core, `var x float64`, "float64: floats differ"},
	{core, `var x = uint64(5) * 1.5`, "the literal 1.5"},
	{core, `const billion = 1e9`, "the literal 1e9"},
	{core, `import "math"; const most = math.MaxUint64`, ""},
	{core, `import "math"; var x = math.Log2(8)`, "uses math.Log2"},
	{core, `import "strconv"; func f() { strconv.ParseFloat("1", 64) }`, "uses strconv.ParseFloat"},
	{core, `import "math/big"; var x big.Float`, "uses big.Float"},
	{core, `import "math/big"; var x big.Int`, ""},
	{core, `func f(m map[int]int) { for range m { } }`, "scheduler/planted.go:2: ranges over a map: the order of a map differs"},
	{core, `func f[M ~map[int]int](m M) { for range m { } }`, "ranges over a map"},
	{core, `func f[K comparable, V any, M interface{ ~map[K]V }](m M) { for range m { } }`, "ranges over a map"},
	{core, `func f[S ~[]int](s S) { for range s { } }`, ""},
	{core, `type table map[int]int; type t struct{ inner table }; func f(x []t) { for k := range x[0].inner { _ = k } }`, "ranges over a map"},
	{core, `func g() (map[int]int, error) { return nil, nil }; func f() { m, _ := g(); for range m { } }`, "ranges over a map"},
	{core, `import "github.com/cowboyinc/devnet/internal/base/types"; func f() { for range types.M() { } }`, "ranges over a map"},
	{core, "func f(m map[int]int) (n int) { for _, v := range m { // order: a sum\nn += v }; return n }", ""},
	{core, "func f(m map[int]int) (n int) { for _, v := range m { // order:\nn += v }; return n }", "ranges over a map"},
	{core, `func f(s []int, t string, g func(func(int) bool)) { for range s { }; for range t { }; for range g { }; for range 5 { } }`, ""},
	{core, `import "maps"; func f(m map[int]int) { for k := range maps.Keys(m) { _ = k } }`, "uses maps.Keys unsorted"},
	{core, `import ("maps"; "slices"); func f(m map[int]int) []int { return slices.Sorted(maps.Keys(m)) }`, ""},
	{core, `import ("maps"; "slices"); func f(m map[int]int) []int { return slices.Collect(maps.Values(m)) }`, "uses maps.Values unsorted"},
	{core, `import "slices"; func f(m map[int]int) { var k []int; for i := range m { k = append(k, i) }; slices.Sort(k) }`, ""},
	{core, `import "slices"; func f(m map[int]int) { var k, l []int; for i := range m { k = append(k, i) }; slices.Sort(l) }`, "ranges over a map"},
	{core, `import "slices"; func f(m map[int]int) { var k []int; for i := range m { k = append(k, i); i++ }; slices.Sort(k) }`, "ranges over a map"},
	{core, `import "slices"; func f(m map[int]int) { var k []int; for i := range m { k = append(k, i) }; slices.Reverse(k) }`, "ranges over a map"},
	{core, `type t struct{ m map[int]int }; func f(x t) { for k := range x.m { if k > 5 { delete(x.m, k) } } }`, ""},
	{core, `func f(m, n map[int]int) { for k := range m { delete(n, k) } }`, "ranges over a map"},
	{core, `func f(m map[int]int) { for k, v := range m { if v > 5 { delete(m, k); break } } }`, "ranges over a map"},
	{"internal/worlds/sim/planted.go", `func f(m map[int]int) { for range m { } }`, ""},
}

// A test that cannot fail proves nothing: each rule is broken once in a separate
// source, and each near miss passes.
func TestPlantedSourcesAreJudged(t *testing.T) {
	for _, p := range append(append(imports, outside...), constructs...) {
		pkg := strings.Split(p.name, "/")
		files := map[string]string{
			p.name:                         "package " + pkg[len(pkg)-2] + "\n" + p.text,
			"internal/base/types/types.go": "package types\nvar C chan int; func M() map[int]int { return nil }\n",
		}
		s, err := parse(files)
		if err != nil {
			t.Errorf("%s: %v", p.text, err)
			continue
		}
		// The base's types.C breaks a rule as well: judge only the planted one.
		found := s.judge(s.packages[strings.Join(pkg[:len(pkg)-1], "/")])
		switch {
		case p.want == "" && len(found) > 0:
			t.Errorf("%s: %q was found: %s", p.name, p.text, found)
		case p.want != "" && len(found) != 1:
			t.Errorf("%s: %q gave %d violations, want one with %q: %v", p.name, p.text, len(found), p.want, found)
		case p.want != "" && !strings.Contains(found[0].String(), p.want):
			t.Errorf("%s: %q gave %s, want %q", p.name, p.text, found[0], p.want)
		}
	}
}
