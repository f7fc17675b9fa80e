package pyhost

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// breach, added to the host's program.py, stands for a first wall that fell: a
// message for this handler runs its payload as Python with all that Python has.
const breach = `
_run, LEAK = run_code, []
def run_code(code, kind, handler, payload):
    if handler != "breach":
        return _run(code, kind, handler, payload)
    import builtins
    space = {"__builtins__": builtins}
    exec(payload.decode(), space)
    return str(space.get("out", "")).encode()
`

// breached returns a pool whose first wall has a hole.
func breached(t testing.TB, config Config) *Pool {
	p := openPool(t, config)
	changed := amended(t, p.sources.text(), "host.program", breach)
	p.sources = newArchive(func() []byte { return changed })
	return p
}

// amended returns an archive of sources with text after a module's own.
func amended(t testing.TB, archive []byte, module, text string) []byte {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(module)))
	head = append(head, module...)
	at := bytes.Index(archive, head)
	if at < 0 {
		t.Fatalf("no module %s", module)
	}
	at += len(head)
	length := binary.LittleEndian.Uint32(archive[at:])
	out := append([]byte{}, archive[:at]...)
	out = binary.LittleEndian.AppendUint32(out, length+uint32(len(text)))
	out = append(out, archive[at+4:at+4+int(length)]...)
	out = append(out, text...)
	return append(out, archive[at+4+int(length):]...)
}

// through runs Python in place of a program.
func (w *world) through(at types.Address, python string) (program.Outcome, error) {
	out, _, err := w.handle(program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "breach", Payload: []byte(python),
		Owner: owner}, plenty)
	return out, err
}

// Whoever got through the first wall finds that the second refuses him all but
// computing, by an error or by the end of the process.
func TestBehindTheFirstWallIsAnother(t *testing.T) {
	p := breached(t, Config{})
	if parts, _, err := p.Wall(); err != nil {
		t.Fatal(err)
	} else {
		for _, part := range parts {
			if part.Name == "calls" && part.Missing != "" {
				t.Skip(part.Missing)
			}
		}
	}
	for name, c := range map[string]struct{ python, want string }{
		"compute":            {"out = sum(range(100))", "4950"},
		"the wall's own":     {"from host import fork_server\nout = (fork_server.walls.libc, fork_server.walls.filters)", "(None, {})"},
		"environment":        {"import os\nout = sorted(os.environ)", "['LC_ALL', 'PYTHONHASHSEED', 'PYTHONUTF8']"},
		"open":               {"open('/etc/passwd')", "permission_error"},
		"create":             {"open('/tmp/devnet-breach', 'w')", "permission_error"},
		"/proc/self/environ": {"open('/proc/self/environ')", "permission_error"},
		"/proc/parent/mem":   {"import os\nopen('/proc/%d/mem' % os.getppid(), 'r+b')", "killed"},
		"list":               {"import os\nos.listdir('/')", "permission_error"},
		"import":             {"import socket", "error"},
		"import ctypes":      {"import ctypes", "error"},
		"shell":              {"import os\nos.system('true')", "killed"},
		"exec":               {"import os\nos.execv('/bin/true', ['true'])", "killed"},
		"fork":               {"import os\nos.fork()", "killed"},
		"spawn":              {"import posix\nposix.posix_spawn('/bin/true', ['true'], {})", "killed"},
		"thread":             {"import _thread\n_thread.start_new_thread(print, ())", "killed"},
		"unlink":             {"import os\nos.unlink('/tmp/devnet-breach')", "killed"},
		"chmod":              {"import os\nos.chmod('/tmp', 0o777)", "killed"},
		"kill the parent":    {"import os\nos.kill(1, 9)", "killed"},
		"write to another":   {"import os\nos.write(0, b'x')", "killed"},
		"truncate":           {"import os\nos.truncate('/tmp/devnet-breach', 0)", "killed"},
		"limits":             {"import resource\nresource.setrlimit(resource.RLIMIT_AS, (-1, -1))", "killed"},
		"ioctl":              {"import os\nos.get_terminal_size(0)", "killed"},
		"pipe":               {"import os\nos.pipe()", "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldOn(t, p)
			out, err := w.through(w.deploy(1, "def f(): pass\n"), c.python)
			if c.want == "killed" {
				failed(t, err, program.Crashed, "system call")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out.Output) + code(out); !strings.Contains(got, c.want) || c.want == "error" && out.Status == types.StatusOK {
				t.Errorf("got %s %v, want %s", out.Output, out.Fault, c.want)
			}
		})
	}
}

func code(out program.Outcome) string {
	if out.Fault == nil {
		return ""
	}
	return out.Fault.Code
}

// What got out of a program and stayed in the interpreter ends with the block;
// within it, it is there, or this test would show nothing.
func TestNothingOutlivesABlock(t *testing.T) {
	p := breached(t, Config{Hosts: 1})
	const leak = `
import pvm_host, sys
from host import program
program.LEAK.append(1)
old = getattr(sys, "mark", "none")
sys.mark = pvm_host.CallError.__init__ = "evil"
out = (len(program.LEAK), old)
`
	visit := func(purpose program.Purpose, times int) (seen []string) {
		s, err := p.Open(purpose)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w := newWorld(s)
		at := w.deploy(1, "def f(): return b'fine'\n")
		for range times {
			out, err := w.through(at, leak)
			if err != nil || out.Status != types.StatusOK {
				t.Fatal(out, err)
			}
			seen = append(seen, string(out.Output))
		}
		return seen
	}
	for range 3 {
		if got := strings.Join(visit(program.ForBlock, 2), " "); got != "(1, 'none') (2, 'evil')" {
			t.Errorf("a block finds %s", got)
		}
	}
	var reads []string
	for range MaxReads + 1 {
		reads = append(reads, visit(program.ForRead, 1)...)
	}
	if first, last := reads[0], reads[MaxReads]; first != "(1, 'none')" || last != first {
		t.Errorf("the first read finds %s, one after %d of them %s", first, MaxReads, last)
	}
}

// The fork server, which no program touches, keeps code compiled from one block to
// the next, and takes it from nobody who ran any.
func TestTheForkServerCompilesItself(t *testing.T) {
	p := breached(t, Config{Hosts: 1})
	visit := func(handler, payload string) program.Outcome {
		s, err := p.Open(program.ForBlock)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		w := newWorld(s)
		at := w.deploy(1, "def f(): return b'fine'\n")
		out, _ := w.call(t, at, "f", "")
		expect(t, out, types.StatusOK, "fine")
		if handler == "" {
			return out
		}
		out, err = w.through(at, payload)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	const look = "from host import serving\nout = sorted(type(c).__name__ for c in serving.sources.values())"
	const spoil = "\nfor k in serving.sources: serving.sources[k] = b'def f(): return b\"evil\"'"
	if got := string(visit("breach", look+spoil).Output); got != "['Code']" {
		t.Errorf("the first block's child has %s", got)
	}
	if got := string(visit("breach", look).Output); got != "['Code']" {
		t.Errorf("the next block's child begins with %s", got)
	}
}

// A child runs the host's messages to their end before its first, and keeps nothing of them.
// A message that failed would touch few of the pages. The fork server ran the first of them.
func TestTheWarmUpRunsToItsEnd(t *testing.T) {
	w := worldOn(t, breached(t, Config{}))
	const again = `
from host import actor_code, chain, serving, warmup
specialised = serving.handled > warmup.TIMES
heard, before = [], (chain.now, chain.pipe, len(actor_code.MADE), serving.uncollected)
class Listener(warmup.Nobody):
    def write(self, kind, maps): heard.append(bytes((kind,)) + maps)
warmup.Nobody = Listener
warmup.run_warmup()
warmup.time_loop()
warmup.run_typed()
warmup.specialise_code()
after = chain.now, chain.pipe, len(actor_code.MADE), serving.uncollected
same = before == after and not serving.sources.keys() & {warmup.CODE, warmup.TYPED_CODE}
ends = [h for h in heard if h[:1] == b"R"]
out = (same, len(ends), all(b"ok" in h for h in ends), b"ran" in ends[0] and b"Ran" in ends[1 + warmup.SPINS], specialised)
`
	out, err := w.through(w.deploy(1, "def f(): pass\n"), again)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, out, types.StatusOK, "(True, 46, True, True, True)")
}

// A child runs the typed message of the host before its first message to typed code. Once the
// fork server has met such code, its children begin with that message.
func TestTypedCodeIsWarmedWhereItIsMet(t *testing.T) {
	p := breached(t, Config{Hosts: 1})
	const typedSource = "from cowboy_sdk import actor, public\n@actor\nclass A:\n    n: int = 0\n    @public\n" +
		"    def add(self, by: int) -> int:\n        self.n += by\n        return self.n\n"
	var took []types.Cycles
	block := func(do func(w *world)) {
		s, err := p.Open(program.ForBlock)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		do(newWorld(s))
	}
	warm := func(w *world, want string) {
		const look = "from host import serving\nout = serving.before_typed is None"
		out, err := w.through(w.deploy(1, "def f(): pass\n"), look)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, out, types.StatusOK, want)
	}
	message := func(w *world) {
		out, used := w.call(t, w.deploy(2, typedSource), "add", `{"by":3}`)
		expect(t, out, types.StatusOK, `"3"`)
		took = append(took, used)
	}
	block(func(w *world) { warm(w, "False") })
	block(func(w *world) { warm(w, "False"); message(w); warm(w, "True"); message(w) })
	block(func(w *world) { warm(w, "True"); message(w) })
	if slices.Max(took) != slices.Min(took) {
		t.Errorf("one message took %d cycles", took)
	}
}

// Python walks whatever has __getitem__ and no __iter__, in C and without a charge. A type
// that answers each number has no end so.
func TestWhatTakesBracketsSaysHowItIsWalked(t *testing.T) {
	w := worldOn(t, breached(t, Config{}))
	const look = `
import sys
bracketed = [c for m in list(sys.modules.values()) if m.__name__.split(".")[0] == "host"
             for c in vars(m).values() if isinstance(c, type) and c.__module__ == m.__name__ and hasattr(c, "__getitem__")]
out = (len(bracketed) > 4, sorted(c.__name__ for c in bracketed if not hasattr(c, "__iter__")))
`
	out, err := w.through(w.deploy(1, "def f(): pass\n"), look)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, out, types.StatusOK, "(True, [])")
}
