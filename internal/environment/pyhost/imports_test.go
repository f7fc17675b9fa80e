package pyhost

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
	pythonhost "github.com/cowboyinc/devnet/python-host"
)

// reads prints the imports of the modules given on standard input, as Python
// itself understands them.
const reads = `
import ast, json, sys
found = []
for name, text in json.load(sys.stdin).items():
    tree = ast.parse(text)
    lines = text.split("\n")
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            named = ["." * node.level + (node.module or "")] + ["%s.%s" % (node.module, a.name) for a in node.names]
        else:
            continue
        found.append({"Module": name, "Line": node.lineno, "Named": named, "Inside": id(node) not in top,
                      "Reason": lines[node.lineno - 1].partition("# ")[2]})
json.dump(found, sys.stdout)
`

// imported is one import statement.
type imported struct {
	Module string
	Line   int
	Named  []string // the modules, and what may be a module or a name in one
	Inside bool     // it is not at the module's top level
	Reason string   // the comment of its line
}

// faults says what is wrong with how modules import one another.
func faults(t *testing.T, modules map[string]string) (out []string) {
	t.Helper()
	python, err := shared.python.findOnce()
	needed.Python(t, err)
	given, err := json.Marshal(modules)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python.path, "-I", "-S", "-c", reads)
	cmd.Stdin = bytes.NewReader(given)
	told, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []imported
	if err := json.Unmarshal(told, &all); err != nil {
		t.Fatal(err)
	}
	needs := map[string][]string{}
	for _, i := range all {
		if i.Inside && i.Reason == "" {
			out = append(out, fmt.Sprintf("%s:%d: an import that is not at the top has its reason on its line", i.Module, i.Line))
		}
		for _, name := range i.Named {
			if strings.HasPrefix(name, ".") {
				out = append(out, fmt.Sprintf("%s:%d: a relative import: write the package", i.Module, i.Line))
			}
			if _, ours := modules[name]; ours && name != i.Module && !strings.HasPrefix(i.Module, name+".") && name != "host" {
				needs[i.Module] = append(needs[i.Module], name)
			}
		}
	}
	if circle := circleIn(needs); circle != nil {
		out = append(out, "a circle: "+strings.Join(circle, " → "))
	}
	return out
}

// circleIn returns modules that need one another, the first of them at both ends.
func circleIn(needs map[string][]string) []string {
	done, way := map[string]bool{}, []string{}
	var walk func(string) []string
	walk = func(module string) []string {
		if at := slices.Index(way, module); at >= 0 {
			return append(slices.Clone(way[at:]), module)
		}
		if done[module] {
			return nil
		}
		way = append(way, module)
		for _, next := range needs[module] {
			if circle := walk(next); circle != nil {
				return circle
			}
		}
		way, done[module] = way[:len(way)-1], true
		return nil
	}
	for _, module := range slices.Sorted(maps.Keys(needs)) {
		if circle := walk(module); circle != nil {
			return circle
		}
	}
	return nil
}

// The host's modules import one another downwards only, at their top, and by
// the names of their packages.
func TestImportsGoDown(t *testing.T) {
	modules := map[string]string{}
	err := fs.WalkDir(pythonhost.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := pythonhost.Files.ReadFile(path)
		modules[moduleOf(path)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range modules {
		if !strings.Contains(name, ".") && !slices.Contains([]string{"bootstrap", "host", "pvm_host", "cowboy_sdk"}, name) {
			t.Errorf("%s is in no package", name)
		}
	}
	for _, fault := range faults(t, modules) {
		t.Error(fault)
	}
}

func TestFaultsOfImportsAreSeen(t *testing.T) {
	for _, c := range []struct {
		name    string
		modules map[string]string
		want    string
	}{
		{"none", map[string]string{"host": "", "host.a": "import os\nfrom host import b\n", "host.b": "'''\nimport host.a\n'''\n"}, ""},
		{"a circle", map[string]string{"host.a": "from host import b\n", "host.b": "import host.c\n", "host.c": "from host.a import x\n"},
			"a circle: host.a → host.b → host.c → host.a"},
		{"a circle within functions", map[string]string{"host.a": "from host import b\n", "host.b": "def f():\n    import host.a  # late\n"},
			"a circle: host.a → host.b → host.a"},
		{"no reason", map[string]string{"host.a": "def f():\n    import os\n"},
			"host.a:2: an import that is not at the top has its reason on its line"},
		{"relative", map[string]string{"host.a": "from . import b\n"}, "host.a:1: a relative import: write the package"},
	} {
		if got := strings.Join(faults(t, c.modules), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
