package authoring

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// The files of BenchmarkActorTests. Steps prints its own measure: Hypothesis has a start
// of its own.
var actorTests = map[string]string{
	"counter.py": `import pvm_host

def init(payload):
    pvm_host.set_state(b"n", b"0")

def add(payload):
    n = int(pvm_host.get_state(b"n")) + int(payload)
    pvm_host.set_state(b"n", str(n).encode())
    pvm_host.schedule_timer(pvm_host.block_height() + 5, b"")
    return str(n).encode()

def handle_timer(payload):
    pvm_host.emit_event("reminded", pvm_host.get_state(b"n"))
`,
	"test_none.py": `import pytest

@pytest.mark.parametrize("n", range(%d))
def test_nothing(n):
    pass
`,
	"test_some.py": `import pytest
from cowboy_sdk.testing import CBY

@pytest.mark.parametrize("n", range(%d))
def test_a_call_and_a_timer(chain, n):
    counter = chain.deploy("counter.py", fund=CBY)
    assert counter.call("add", "2").output == b"2"
    chain.advance(to_next_timer=True)
`,
	"test_steps.py": `import time
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

def test_steps(chain):
    counter = chain.deploy("counter.py", fund=10**12)
    start, made = chain.snapshot(), [0]

    class Counting(RuleBasedStateMachine):
        @initialize()
        def begin(self):
            chain.revert(start)
            self.sum = 0

        @rule(number=st.integers(-1000, 1000), who=st.sampled_from(["alice", "bob", "carol"]))
        def add(self, number, who):
            made[0] += 1
            self.sum += number
            assert counter.call("add", str(number), sender=who).output == str(self.sum).encode()

        @rule(blocks=st.integers(1, 1000))
        def wait(self, blocks):
            made[0] += 1
            chain.advance(blocks=blocks)

        @invariant()
        def counted(self):
            assert int(counter.state("n")) == getattr(self, "sum", 0)

    begun = time.monotonic()
    tries = settings(max_examples=%d, stateful_step_count=20, deadline=None, derandomize=True, database=None)
    run_state_machine_as_test(Counting, settings=tries)
    print("steps a second: %%d" %% (made[0] / (time.monotonic() - begun)))
`,
}

// BenchmarkActorTests is what an author waits for: pytest with tests that do nothing, and
// the same with a deploy, a call and a timer each on a simulated network. One test
// is all that comes before the first (aim: 400 ms); each of a thousand has its share
// of the run (aim: 3 ms); steps are those of a state machine of Hypothesis (aim: 300 a
// second).
func BenchmarkActorTests(b *testing.B) {
	if exec.Command("python3", "-c", "import pytest").Run() != nil {
		b.Skip("pytest is missing: apt-get install python3-pytest")
	}
	bin := b.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "devnet"))
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	b.Setenv("PYTHONDONTWRITEBYTECODE", "") // what is compiled once is kept, as an author's Python does
	none := []string{"python3", "-m", "pytest"}
	some := []string{"devnet", "test"}
	for _, c := range []struct {
		name, file string
		n          int
		command    []string
	}{{"pytest/first", "test_none.py", 1, none}, {"first", "test_some.py", 1, some}, {"pytest/1000", "test_none.py", 1000, none},
		{"1000", "test_some.py", 1000, some}, {"steps", "test_steps.py", 50, some}} {
		b.Run(c.name, func(b *testing.B) {
			if c.name == "steps" && exec.Command("python3", "-c", "import hypothesis").Run() != nil {
				b.Skip("Hypothesis is missing: apt-get install python3-hypothesis")
			}
			benchmarkActorTests(b, c.file, c.n, append(c.command, c.file))
		})
	}
}

var stepsASecond = regexp.MustCompile(`steps a second: (\d+)`)

// benchmarkActorTests runs a command in a folder with n tests in its file.
func benchmarkActorTests(b *testing.B, file string, n int, words []string) {
	dir := b.TempDir()
	for name, text := range actorTests {
		if name == file {
			text = fmt.Sprintf(text, n)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if words[0] == "devnet" {
		words = append(words, "--")
	}
	words = append(words, "-q", "-s", "-p", "no:cacheprovider")
	var cpu time.Duration
	run := func() string {
		command := exec.Command(words[0], words[1:]...)
		command.Dir = dir
		out, err := command.CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %v\n%s", words, err, out)
		}
		cpu += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
		return string(out)
	}
	run() // compiles what Python keeps
	cpu = 0
	var out string
	for b.Loop() {
		out = run()
	}
	b.ReportMetric(cpu.Seconds()*1000/float64(b.N), "cpu-ms/op")
	if n > 1 {
		b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N*n), "ms/test")
	}
	if found := stepsASecond.FindStringSubmatch(out); found != nil {
		steps, _ := strconv.ParseFloat(found[1], 64)
		b.ReportMetric(steps, "steps/s")
	}
}
