package pyhost

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
)

const faulty = `import pvm_host
import socket
from pvm_host import schedule_timer
from cowboy_sdk import runtime

N = 0
ratio = 1.5

def start(payload: Unknown):
    global N
    N += 1
    pvm_host.set_stat(b"n", b"1")
    schedule_timer(pvm_host.block_height() + 5, handler="tick")
    pvm_host.schedule_timer(9)
    runtime.get_sendr()
    return undefined_name(eval("1"))

class Helper:
    LIMIT = 3
    def limit(self):
        return LIMIT

def fine(payload):
    total = sum(x * y for x in range(3) if (y := x))
    try:
        pass
    except ValueError as e:
        print(e)
    def inner(a, *b, c=total, **d):
        return a, b, c, d, y
    return (lambda q: q + total)(1)

def default(payload=2**9, most=3 * 4):
    return b""

from cowboy_sdk import runner
def job(payload):
    runner.custom("echo")
    runner.custom("echo").submit()

@runner.continuation
async def waits(payload):
    n = 1
    await runner.custom("echo")
    schedule_timer(9, handler="waits")
    return n
`

func TestAdviceTellsAllAtOnce(t *testing.T) {
	p := openPool(t, Config{})
	found, err := p.Advise([]byte(faulty))
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		line    int
		refused bool
		says    string
	}{
		{2, true, "import of socket"}, {7, true, "1.5 is a float"}, {10, false, "global N"},
		{12, false, "pvm_host has no set_stat: perhaps set_state"},
		{13, false, "call tick, which is not a handler"}, {14, false, "call handle_timer (unless"},
		{15, false, "cowboy_sdk.runtime has no get_sendr: perhaps get_sender"}, {16, true, "eval is not allowed"},
		{16, false, "undefined_name is not defined"},
		{21, false, "LIMIT is not defined"}, {38, false, "never submitted"}, {46, true, "n does not outlive the await of line 44"},
	}
	for i, f := range found {
		if i >= len(want) || f.Line != want[i].line || f.Refused != want[i].refused || !strings.Contains(f.What, want[i].says) {
			t.Errorf("finding %d: %+v", i, f)
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d findings, want %d", len(found), len(want))
	}
}

// The first mistakes of an author who comes from another chain.
const astray = `from cowboy_sdk import actor, public, runtime
import pvm_host as host

SEEN = {}
LIMITS = {"most": 3}

@actor
class Vault:
    cache = {}
    names = ()

    def __init__(self):
        self.total = 0
        self.rows = []

    @public
    def add(self, a, b):
        return self.sum(a, b)

    def sum(self, a, b):
        SEEN["x"] = LIMITS["most"]
        seen = {}
        seen["x"] = 1
        return a + b

    def unused(self, a, b):
        return a

    @public
    def keep(self, payload):
        self.total += 5
        self.cache["x"] = 1
        self.rows.append(payload)
        self.names.index(payload)
        self.storage["x"] = b"1"
        Vault.cache.update({})
        runtime.schedule_timer(5, b"", handler="tik")
        host.context().get("sender")
        storage["n"] = host.context().sender

    @property
    def size(self):
        return 1

    def handle_timer(self, payload, more):
        return b""

class Row:
    def put(self, a, b):
        self.a = a
`

func TestAdviceWarnsOfForgottenStateAndUncallableHandlers(t *testing.T) {
	p := openPool(t, Config{})
	found, err := p.Advise([]byte(astray))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		kind := "warning"
		if f.Refused {
			kind = "error"
		}
		words := strings.FieldsFunc(f.What, func(r rune) bool { return r == ':' || r == ';' || r == ',' })
		got = append(got, fmt.Sprintf("%d %s %s", f.Line, kind, words[0]))
	}
	want := []string{"17 error add cannot be called", "21 warning SEEN is forgotten", "26 warning unused cannot be called",
		"31 error self.total ends with the message", "32 warning self.cache is forgotten", "33 warning self.rows is forgotten",
		"36 warning Vault.cache is forgotten", "37 warning a timer is to call tik", "39 warning context() is a dict",
		"39 warning storage is not defined", "45 error handle_timer cannot be called"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A typed class may have handlers of bytes. One without an argument is more often a forgotten annotation.
func TestAdviceNamesHandlersOfBytesInATypedClass(t *testing.T) {
	const file = `
from cowboy_sdk import actor, public

@actor
class Club:
    @public
    def join(self, who: str) -> int:
        return 1

    @public
    def resume(self):
        pass

    @public
    def blob(self, payload):
        return payload

    def pay(self):
        pass

    def ask(self) -> None:
        pass
`
	found, err := openPool(t, Config{}).Advise([]byte(file))
	if err != nil || len(found) != 2 {
		t.Fatalf("%v, %v; want advice for resume and pay", found, err)
	}
	for i, line := range []int{11, 18} {
		if f := found[i]; f.Refused || f.Line != line || !strings.Contains(f.What, "-> None") {
			t.Errorf("%v: want a warning for line %d", f, line)
		}
	}
}

// A deploy refuses a handler that its author exposes to callers but that cannot be called.
// The helpers of a file take any arguments.
func TestADeployRefusesAHandlerThatCannotBeCalled(t *testing.T) {
	p := openPool(t, Config{})
	const sdk = "from cowboy_sdk import actor, public, callable_by, OWNER\n"
	class := func(body string) string {
		return sdk + "@actor\nclass A:\n" + body + "\n  def go(self, payload): pass\n"
	}
	for source, want := range map[string]string{
		class("  @public\n  def add(self, a, b): pass"):               "add takes 2 (a, b)",
		class("  @callable_by(OWNER)\n  def add(self, a, b): pass"):   "add takes 2 (a, b)",
		class("  @public\n  def add(): pass"):                         "a method takes self first",
		class("  @public\n  def add(self, payload, *, b): pass"):      "give b a default",
		class("  @public\n  @staticmethod\n  def add(payload): pass"): "without @staticmethod",
		class("  @public\n  def _add(self, payload): pass"):           "begins with no _",
		class("  def add(self, a): pass\n  def add(self, a): pass"):   "a second method add",
		class("  def init(self, a, b): pass"):                         "init takes 2 (a, b)",
		sdk + "@public\ndef add(a, b): pass\n":                        "add takes 2 (a, b)",
		"def handle_timer(a, b): pass\n":                              "handle_timer takes 2 (a, b)",
		"class A:\n  def get_gas_bid(self, a, b): pass\n":             "get_gas_bid takes 2 (a, b)",

		class("  def add(self, a, b): pass"):                                   "",
		class("  @public\n  def add(self, payload=b'', more=1, *, b=2): pass"): "",
		class("  @public\n  def add(self, *given): pass"):                      "",
		class("  @staticmethod\n  def add(a, b): pass"):                        "",
		"def add(a, b): pass\ndef go(payload): add(1, 2)\n":                    "",
		"class B:\n  def init(self, a, b): pass\ndef go(payload): B()\n":       "",
	} {
		session, err := p.Open(program.ForRead)
		if err != nil {
			t.Fatal(err)
		}
		_, refused := session.Inspect(codeOf(source))
		session.Close()
		if want == "" && refused != nil || want != "" && (refused == nil || !strings.Contains(refused.Error(), want)) {
			t.Errorf("%s\nthe deploy says %v, want %q", source, refused, want)
		}
	}
}

// The first refusal of the advice is the deploy's; code that the deploy takes has
// no error.
func TestAdviceAgreesWithTheDeploy(t *testing.T) {
	p := openPool(t, Config{})
	sources := map[string]string{"faulty": faulty, "text": "def f(:", "bytes": "\xff",
		"deep":  strings.Repeat("(", 500) + strings.Repeat(")", 500),
		"empty": "", "two classes": "class A:\n    pass\nclass B:\n    pass\n", "return": "return 1\n",
		"async": "async def f():\n    await g()\n",
		"break": "def f():\n    break\n"}
	files, err := filepath.Glob("../../../fixtures/actors/*.py")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no actors")
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources[f] = string(data)
	}
	for name, source := range sources {
		found, err := p.Advise([]byte(source))
		if err != nil {
			t.Fatal(name, err)
		}
		session, err := p.Open(program.ForRead)
		if err != nil {
			t.Fatal(err)
		}
		_, refused := session.Inspect(codeOf(source))
		session.Close()
		errors := 0
		for _, f := range found {
			if f.Refused {
				errors++
			} else if strings.HasSuffix(name, ".py") && !f.Note {
				t.Errorf("%s:%d: %s", name, f.Line, f.What)
			}
		}
		if (refused != nil) != (errors > 0) {
			t.Errorf("%s: the deploy says %v, the advice %v", name, refused, found)
		}
	}
}
