package pyhost

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/cowboyinc/devnet/fixtures/attacks"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

const (
	// attackCycles let every attack do its worst once.
	attackCycles = types.Cycles(200_000)
	// maxAttack is far above the processor's time that those cycles take.
	maxAttack = 4 * time.Second
	// attacksAtOnce is after how many an innocent actor looks around: that takes
	// longer than they do.
	attacksAtOnce = 16
)

// attempt is the visible outcome of a message.
type attempt struct {
	Ends  string
	Used  types.Cycles
	Trace []string
	Logs  []string
	State map[string][]byte
	took  time.Duration
}

// attack runs the handler of source once, on a separate state.
func attack(t *testing.T, w *world, source string) attempt {
	t.Helper()
	w.trace, w.logs, w.timers, w.sent = nil, nil, nil, nil
	at := w.deploy(66, source)
	start := time.Now()
	before := w.session.(*session).cpu(start)
	_, err := w.session.Inspect(w.actors[at].code)
	var refusal *program.Refusal
	if errors.As(err, &refusal) {
		return attempt{Ends: "refused " + refusal.Error()}
	}
	if err != nil {
		return hostEnded(t, w, err)
	}
	m := program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: attacks.Handler, Payload: []byte("p"), Owner: owner}
	out, used, err := w.handle(m, attackCycles)
	if err != nil {
		return hostEnded(t, w, err)
	}
	took := w.session.(*session).cpu(start) - before // not the clock's: others may use the machine
	return attempt{Ends: ending(out), Used: used, Trace: w.trace, Logs: w.logs, State: w.actors[at].state, took: took}
}

// endsAs compares the end of an attack with the corpus. Another version of Python
// words its own errors otherwise, so there the status and code count.
func endsAs(t *testing.T, w *world, got, want string) bool {
	version, err := w.session.(*session).pool.Probe()
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(version, writtenBy) {
		return got == want
	}
	got, _, _ = strings.Cut(got, ":")
	want, _, _ = strings.Cut(want, ":")
	return got == want
}

// writtenBy is the version whose words the corpus has.
const writtenBy = "3.11."

// hostEnded is what no attack may reach. The others continue in another host.
func hostEnded(t *testing.T, w *world, err error) attempt {
	pool := w.session.(*session).pool
	w.session.Close()
	s, again := pool.Open(program.ForBlock)
	if again != nil {
		t.Fatal(again)
	}
	t.Cleanup(s.Close)
	w.session = s
	return attempt{Ends: "the host ended: " + err.Error()}
}

func ending(out program.Outcome) string {
	switch out.Status {
	case types.StatusOK:
		return strings.TrimSpace("ok " + clipText(fmt.Sprintf("%q", out.Output), 160))
	case types.StatusOutOfCycles, types.StatusOutOfCells:
		return string(out.Status)
	}
	return clipText(strings.ReplaceAll(fmt.Sprintf("failed %s: %s", out.Fault.Code, out.Fault.Message), "\n", " "), 200)
}

// innocent uses of every library and of the host's objects what an attack could
// have changed, and answers with all it saw.
const innocent = `
import abc, base64, bisect, collections, dataclasses, decimal, enum, functools, hashlib, heapq, hmac, itertools
import json, math, operator, re, string, struct, typing
import pvm_host, cowboy_sdk
from cowboy_sdk import ActorRef, PriorityTier, Storage, TxFeeParams, GBAContext, runtime, OWNER, SELF
class Colour(enum.Enum):
    RED = 1
class Weight(enum.IntFlag):
    A = 1
    B = 2
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): pass
class Square(Shape):
    def __init__(self, n): self.n = n
    def area(self): return self.n * self.n
@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)
class Row(typing.NamedTuple):
    a: int
    b: str = "b"
class Name(str):
    def shout(self): return self.upper()
class Mine(pvm_host.HostError):
    pass
def g():
    yield 1
def f(p):
    out = [repr(t) for t in (PriorityTier.ECONOMY, PriorityTier.STANDARD, PriorityTier.FAST, PriorityTier.URGENT)]
    out += [t.name + t.value for t in (PriorityTier.FAST, PriorityTier.URGENT)]
    out += [Colour(1).name, (Weight.A | Weight.B).value, Square(3).area(), Point(1) < Point(2), Row(1), Name("x").shout()]
    for make in (Shape, lambda: Colour(9), lambda: pvm_host.get_balance("0x1"), lambda: json.loads("{"), lambda: decimal.Decimal(1) / 0,
                 lambda: struct.pack("<B", 999), lambda: ActorRef(b""), lambda: Mine("c", "m").nothing, lambda: int("x"),
                 lambda: pvm_host.transfer(bytes(20), 10**9), lambda: {}["k"], lambda: [].pop(), lambda: 1 // 0):
        try: make()
        except Exception as e: out.append((type(e).__name__, str(e), len(e.args)))
    try: raise pvm_host.CallError("some_code", "text")
    except pvm_host.CallError as e: out.append((e.code, e.message, repr(e), str(e)))
    out += [str(decimal.Decimal(1) / 7), json.dumps({"a": [1, None]}), re.sub("a+", "-", "caat"), hashlib.sha256(b"").hexdigest()[:8]]
    out += [struct.pack(">H", 5), base64.b64encode(b"xyz"), hmac.new(b"k", b"m", "sha1").hexdigest()[:8], string.digits, math.isqrt(99)]
    out += [heapq.nsmallest(2, [3, 1, 2]), bisect.bisect([1, 3], 2), list(itertools.islice(itertools.count(), 2)), functools.reduce(operator.add, [1, 2])]
    out += [collections.Counter("aab"), collections.defaultdict(int, {1: 2}), collections.deque([1]), collections.OrderedDict(a=1)]
    out += [ActorRef(bytes(20)), TxFeeParams(1, 2), GBAContext(basefee_cycle=3), OWNER, SELF, sorted({3, 1, 2}), list(g()), dataclasses.asdict(Point(1))]
    out += [len.__name__, int.__name__, pvm_host.get_state.__name__, isinstance(True, int), issubclass(Square, Shape), callable(len)]
    s = Storage()
    s.set_int("n", 5)
    s["k"] = b"v"
    out += [s.get_int("n"), s["k"], "k" in s, runtime.get_sender().hex()[:4], pvm_host.context()["kind"], pvm_host.keccak256(b"").hex()[:4]]
    return repr(out).encode()
`

// Every attack of the corpus ends as it says; in another host that ran the others
// in the opposite order the same; and after each few an innocent actor finds all
// as it was. With DEVNET_SOAK each is tried twice in a row, and innocence after
// each.
func TestAttacks(t *testing.T) {
	patient := Config{CallTimeout: 5 * time.Minute}
	pools := []*Pool{openPool(t, patient), openPool(t, patient)}
	var worlds []*world
	for _, p := range pools {
		worlds = append(worlds, worldOn(t, p))
	}
	before := attack(t, worlds[0], innocent)
	if !strings.HasPrefix(before.Ends, "ok ") {
		t.Fatal(before.Ends)
	}
	var slowest attacks.Attack
	var worst time.Duration
	seen := map[string]attempt{}
	one := func(w *world, a attacks.Attack) {
		got := attack(t, w, a.Source)
		if got.took > worst {
			slowest, worst = a, got.took
		}
		if got.took > maxAttack {
			t.Errorf("%s/%s took %v", a.Family, a.Name, got.took)
		}
		got.took = 0
		if !endsAs(t, w, got.Ends, a.Ends) {
			t.Errorf("%s/%s\nended: %s\nnot:   %s", a.Family, a.Name, got.Ends, a.Ends)
		}
		if first, ok := seen[a.Name]; ok && !reflect.DeepEqual(got, first) {
			t.Errorf("%s/%s differs:\n%+v\n%+v", a.Family, a.Name, got, first)
		}
		seen[a.Name] = got
	}
	unchanged := func(w *world, a attacks.Attack) {
		after := attack(t, w, innocent)
		if after.took = before.took; !reflect.DeepEqual(after, before) {
			t.Fatalf("%s/%s changed what another actor sees:\n%s\n%s", a.Family, a.Name, after.Ends, before.Ends)
		}
	}
	all := attacks.All()
	soak := os.Getenv("DEVNET_SOAK") != ""
	for i, a := range all {
		one(worlds[0], a)
		if soak {
			one(worlds[0], a)
		}
		if soak || i%attacksAtOnce == 0 || i == len(all)-1 {
			unchanged(worlds[0], a)
		}
	}
	slices.Reverse(all)
	for _, a := range all {
		one(worlds[1], a)
	}
	unchanged(worlds[1], all[len(all)-1])
	if len(seen) != len(all) {
		t.Errorf("%d names for %d attacks", len(seen), len(all))
	}
	t.Logf("%d attacks; the worst call, with its deploy, took %v: %s/%s", len(all), worst, slowest.Family, slowest.Name)
}

// With -rewrite the corpus is written again with the present outcomes; read its diff.
func TestRewriteAttacks(t *testing.T) {
	if rewrite := flag.Lookup("rewrite"); rewrite == nil || rewrite.Value.String() != "true" {
		t.Skip("TestAttacks judges the corpus; this one writes it")
	}
	w := worldOn(t, openPool(t, Config{}))
	datadriven.Walk(t, "../../../fixtures/attacks", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return attack(t, w, attacks.Whole(d.Cmd, d.Input)).Ends
		})
	})
}
