package pyhost

import (
	"os"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
)

// openPool returns a pool with one host for each purpose; a test that has no
// fitting Python ends (package needed).
func openPool(t testing.TB, config Config) *Pool {
	t.Helper()
	if config.Hosts == 0 {
		config.Hosts = 1
	}
	if config.Python == "" {
		found, err := shared.python.findOnce()
		needed.Python(t, err)
		config.Python = found.path
	}
	p := New(config)
	_, err := p.Probe()
	needed.Python(t, err)
	t.Cleanup(p.Close)
	return p
}

// shared is a pool that tests which break nothing use together.
var shared = New(Config{Hosts: 1})

func TestMain(m *testing.M) {
	code := m.Run()
	shared.Close()
	os.Exit(code)
}

func openWorld(t testing.TB) *world {
	t.Helper()
	_, err := shared.Probe()
	needed.Python(t, err)
	return worldOn(t, shared)
}

func worldOn(t testing.TB, p *Pool) *world {
	t.Helper()
	s, err := p.Open(program.ForBlock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return newWorld(s)
}

func fixture(t testing.TB, name string) string {
	t.Helper()
	source, err := os.ReadFile("../../../fixtures/actors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

func expect(t testing.TB, out program.Outcome, status types.Status, output string) {
	t.Helper()
	if out.Status != status || string(out.Output) != output {
		t.Fatalf("got %s %q %v; want %s %q", out.Status, out.Output, out.Fault, status, output)
	}
}

func TestBareFunctions(t *testing.T) {
	w := openWorld(t)
	at := w.deploy(1, fixture(t, "counter.py"))
	expect(t, first(w.call(t, at, "add", "5")), types.StatusOK, "5")
	expect(t, first(w.call(t, at, "add", "")), types.StatusOK, "6")
	expect(t, first(w.call(t, at, "count", "")), types.StatusOK, "6")
}

func first[A, B any](a A, _ B) A { return a }
