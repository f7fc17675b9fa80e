package pyhost

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// interpreters finds one CPython of each fitting minor version, on PATH or in
// pyenv's folder.
func interpreters(t *testing.T) map[string]string {
	found := map[string]string{}
	add := func(path string) {
		if p, err := askInterpreter(path, nil); err == nil {
			found[p.version] = p.path
		}
	}
	for minor := MinMinor; minor <= 15; minor++ {
		path, err := exec.LookPath(fmt.Sprintf("python3.%d", minor))
		if err != nil {
			continue
		}
		kept, _ := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(path)), "versions", fmt.Sprintf("3.%d.*", minor), "bin", "python3"))
		if len(kept) == 0 {
			kept = []string{path}
		}
		for _, path := range kept {
			add(path)
		}
	}
	return found
}

// Steps are counted on the tree, so every version counts the same.
func TestVersionsCountTheSame(t *testing.T) {
	all := interpreters(t)
	if len(all) < 2 {
		t.Skipf("one fitting Python: %v", all)
	}
	var want []string
	var of string
	for version, path := range all {
		w := worldOn(t, openPool(t, Config{Python: path}))
		got := measure(t, w)
		if want == nil {
			want, of = got, version
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q\n%s: %q", of, want, version, got)
		}
	}
	t.Logf("%d versions: %v", len(all), all)
}

// measure runs code of every kind and says what each cost and answered.
func measure(t *testing.T, w *world) (results []string) {
	counter, heart, vault := w.deploy(1, fixture(t, "counter.py")), w.deploy(2, fixture(t, "heartbeat.py")),
		w.deploy(3, fixture(t, "vault.py"))
	for _, m := range []program.Message{
		{Kind: program.Call, Self: counter, Handler: "add", Payload: []byte("5")},
		{Kind: program.Call, Self: heart, Handler: "start"},
		{Kind: program.Timer, Self: heart, Handler: "handle_timer"},
		{Kind: program.Call, Self: vault, Handler: "put", Payload: []byte("7")},
		{Kind: program.Call, Self: vault, Handler: "missing"},
	} {
		out, used, err := w.handle(m, plenty)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, fmt.Sprint(out.Status, string(out.Output), used))
	}
	results = append(results, w.waits(t, w.deploy(9, fixture(t, "summarizer.py")))...)
	for i, source := range measured {
		at := w.deploy(byte(10+i), source)
		out, used := w.call(t, at, "f", "")
		results = append(results, fmt.Sprint(out.Status, string(out.Output), used, out.Fault, out.Where))
	}
	return append(results, w.trace...)
}

var measured = []string{`
import re
def f(p):
    log = []
    for g in (lambda: re.sub(b'x', 'z', b'x'), lambda: re.sub('x', b'z', 'x'), lambda: re.match(b'x', b'x').expand('z')):
        try: g()
        except Exception as error: log.append(type(error).__name__)
    return str(log).encode()
`, `
def f(p):
    log = []
    d = {1: 2}
    try: d[0:1] = 1
    except Exception as error: log.append(type(error).__name__ + str(error))
    try: del d[0:1]
    except Exception as error: log.append(type(error).__name__ + str(error))
    return (str(log) + str(len(d))).encode()
`, `
import decimal
def f(p):
    log, a, k = [], decimal.Decimal(1), 1 << 200
    def put(): a[k] = 1
    def delete(): del a[k]
    def several(): a[k], b = 1, 2
    def slices(): a[k:] = 1
    def more(): a[k] += 1
    for g in put, delete, several, slices, more:
        try: g()
        except Exception as error: log.append(type(error).__name__)
    return str(log).encode()
`, `
def f(p):
    return [1 // n
            for n in (2, 1,
                      0)]
`, `
def f(p):
    return {n: [m // n
                for m in range(3)] for n in (2, 1, 0)}
`, `
def f(p):
    return str([
        x
        for x in range(10**9)
        if x < 0])
`, `
import json, re, itertools, collections, decimal, functools, heapq, enum, dataclasses, typing
@dataclasses.dataclass(order=True)
class P:
    x: int
    y: list = dataclasses.field(default_factory=list)
class C(enum.Enum):
    A = 1
    B = 2
class T(typing.NamedTuple):
    a: int
    b: str = "b"
def g(n):
    for i in range(n):
        yield i
def f(p):
    out = [P(1) < P(2), [c.name for c in C], T(1), sorted({3, 1}), json.dumps({"a": [1]})]
    out.append(re.sub(r"\d+", "n", "a1b22"))
    out.append(list(itertools.islice(itertools.count(), 3)))
    out.append([x + y for x, y in zip(g(3), g(3))])
    out.append({k: v for k, v in {"a": 1}.items() if v})
    out.append(str(decimal.Decimal(1) / 7))
    h = []
    for i in [3, 1, 2]: heapq.heappush(h, (i, "x"))
    out.append(heapq.heappop(h))
    out.append(functools.reduce(lambda a, b: a * b, range(1, 30)))
    try:
        [][1]
    except IndexError as e:
        out.append("no")
    match [1, 2]:
        case [a, b]: out.append(a + b)
    out.append(f"{2**100:>40,} {'x'!r}")
    return repr(out).encode()
`, `
def r(n):
    try:
        return r(n + 1)
    except RecursionError:
        return n
def f(p): return str(r(0)).encode()
`, `
def f(p):
    g = lambda n: g(n - 1) + 1 if n else 0
    return str(g(150)).encode()
`, `
def f(p):
    x = 1
    while True: x = x * 3 + 1
`, `
def gen(n):
    yield n
    yield from gen(n + 1)
def f(p):
    n = 0
    try:
        for x in gen(0): n += 1
    except RecursionError:
        pass
    return str(n).encode()
`, `
def f(p):
    t = ()
    for i in range(50): t = (t, t)
    return {t: 1}
`}
