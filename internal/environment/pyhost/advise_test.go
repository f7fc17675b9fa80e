package pyhost

import (
	"os"
	"path/filepath"
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
		{13, false, "call tick, which is no handler"}, {14, false, "call handle_timer (unless"},
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

// What is refused first is what the deploy refuses; what it takes has no error.
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
			} else if strings.HasSuffix(name, ".py") {
				t.Errorf("%s:%d: %s", name, f.Line, f.What)
			}
		}
		if (refused != nil) != (errors > 0) {
			t.Errorf("%s: the deploy says %v, the advice %v", name, refused, found)
		}
	}
}
