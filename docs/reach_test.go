package docs

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// A row names code and the tests that hold it. That both exist says little: a test
// of a package that never meets the code passes whatever that does. So each code
// that a row names is in a package that one of the row's tests has among its
// dependencies; TestSoakRowsReachTheirCode asks whether it runs there.

// module is the prefix of this module's import paths.
const module = "github.com/cowboyinc/devnet/"

// pythonPackage is the Go package whose tests run Python: names of rows in files
// other than Go are reached through it.
const pythonPackage = "internal/environment/pyhost"

// scenarioPackage has the tests that play the library of scenarios.
const scenarioPackage = "internal/runs/simulated"

// dependencies answers which packages of the module a package's tests reach.
type dependencies struct {
	files fs.FS
	known map[string][2][]string // by directory: what its files import, and what its tests do
}

func newDependencies(files fs.FS) *dependencies {
	return &dependencies{files: files, known: make(map[string][2][]string)}
}

// of returns the directories that the files of one import, without and with tests.
func (i *dependencies) of(dir string) [2][]string {
	if found, known := i.known[dir]; known {
		return found
	}
	var found [2][]string
	entries, _ := fs.ReadDir(i.files, dir)
	for _, e := range entries {
		text, err := fs.ReadFile(i.files, path.Join(dir, e.Name()))
		if err != nil || !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), text, parser.ImportsOnly)
		if err != nil {
			continue
		}
		kind := 0
		if strings.HasSuffix(e.Name(), "_test.go") {
			kind = 1
		}
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if inside, ours := strings.CutPrefix(name, module); ours {
				found[kind] = append(found[kind], inside)
			}
		}
	}
	i.known[dir] = found
	return found
}

// reached is what the tests of a directory depend on, itself included.
func (i *dependencies) reached(dir string) map[string]bool {
	seen := map[string]bool{dir: true}
	direct := i.of(dir)
	for next := append(slices.Clone(direct[0]), direct[1]...); len(next) > 0; next = next[1:] {
		if !seen[next[0]] {
			seen[next[0]] = true
			next = append(next, i.of(next[0])[0]...)
		}
	}
	return seen
}

// packageOfCode is the package of the name in a code cell; "" for a name without a
// package.
func packageOfCode(s *sources, name string) string {
	if file, _, ok := strings.Cut(name, ":"); ok && strings.HasSuffix(file, ".py") {
		return pythonPackage
	}
	if s.exists(name) {
		if strings.HasSuffix(name, ".go") {
			return path.Dir(name)
		}
		return ""
	}
	dir, _ := split(name)
	return dir
}

// packageOfTest is which package's tests a test cell names.
func packageOfTest(s *sources, name string) string {
	if !s.exists(name) {
		dir, _ := split(name)
		return dir
	}
	if dir, _, ok := strings.Cut(name, "/testdata/"); ok {
		return dir
	}
	return scenarioPackage
}

// namesOf are the quoted names of a cell.
func namesOf(cell string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		names = append(names, m[1])
	}
	return names
}

// unreached lists what rows name of code that none of their tests depends on.
func unreached(text string, files fs.FS) (wrong []string) {
	s, i := newSources(files), newDependencies(files)
	for _, r := range parse(text).rows {
		if len(r.cells) < 4 || r.cells[3] == none {
			continue
		}
		reached := map[string]bool{}
		for _, test := range namesOf(r.cells[3]) {
			for dir := range i.reached(packageOfTest(s, test)) {
				reached[dir] = true
			}
		}
		for _, code := range namesOf(r.cells[2]) {
			if dir := packageOfCode(s, code); dir != "" && !reached[dir] {
				wrong = append(wrong, fmt.Sprintf("line %d, %s: %s is in %s, and no test of the row depends on that", r.line, r.cells[0], code, dir))
			}
		}
	}
	return wrong
}

// Each row's tests can reach the code it names: a nightly check.
func TestSoakRowsOfTestsDependOnTheirCode(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("DEVNET_SOAK=1 checks that the tests of each row depend on its code")
	}
	text, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range unreached(string(text), checkout()) {
		t.Error(w)
	}
}

// The rule finds what it is there to find.
func TestARowWhoseTestsCannotReachItsCodeIsFound(t *testing.T) {
	const top = "package p\n\nimport _ \"" + module
	files := fstest.MapFS{
		"core/core.go":      {Data: []byte("package core\n\nfunc Step() {}\n")},
		"core/core_test.go": {Data: []byte("package core\n\nimport \"testing\"\n\nfunc TestStep(t *testing.T) {}\n")},
		"shell/shell.go":    {Data: []byte(top + "core\"\n\nfunc Run() {}\n")},
		"shell/run_test.go": {Data: []byte("package p\n\nimport (\n\t\"testing\"\n\t_ \"" + module +
			"internal/environment/pyhost\"\n)\n\nfunc TestRun(t *testing.T) {}\n")},
		"shell/testdata/x": {Data: []byte("x\n")},
		"host/run.py":      {Data: []byte("def tick():\n    pass\n")},
	}
	row := func(code, test string) string {
		return "## A\n\n| T1 | it steps | `" + code + "` | `" + test + "` | as written |\n"
	}
	for _, c := range []struct {
		code, test string
		right      bool
	}{
		{"core.Step", "core.TestStep", true},
		{"core.Step", "shell.TestRun", true}, // through shell.go
		{"core.Step", "shell/testdata/x", true},
		{"shell.Run", "core.TestStep", false},
		{"core/core.go", "shell.TestRun", true},
		{"shell/shell.go", "core.TestStep", false},
		{"host/run.py:tick", "shell.TestRun", true}, // only through its tests
		{"host/run.py:tick", "core.TestStep", false},
	} {
		if wrong := unreached(row(c.code, c.test), files); (len(wrong) == 0) != c.right {
			t.Errorf("%s by %s: %q", c.code, c.test, wrong)
		}
	}
}
