package docs

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// A row names code that does what a section says. Code that only tests reach does
// nothing of the kind: its tests hold what no user ever runs.

// product is all that a user runs: the command.
var product = []string{"./cmd/devnet"}

// uncalled are the functions and methods of a module that its programs do not reach, by
// directory and name. It is the analysis of golang.org/x/tools/cmd/deadcode.
type uncalled map[string]map[string]bool

func newUncalled(t *testing.T) uncalled {
	t.Helper()
	command := exec.Command("go", append([]string{"tool", "deadcode", "-json"}, product...)...)
	command.Dir, command.Env = filepath.FromSlash(top), append(os.Environ(), "CGO_ENABLED=0")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("deadcode: %v", err)
	}
	var packages []struct {
		Path  string
		Funcs []struct{ Name string }
	}
	if err := json.Unmarshal(out, &packages); err != nil {
		t.Fatal(err)
	}
	u := uncalled{}
	for _, p := range packages {
		dir := strings.TrimPrefix(p.Path, module)
		u[dir] = map[string]bool{}
		for _, f := range p.Funcs {
			u[dir][f.Name] = true
		}
	}
	return u
}

// calls are the names that a tree's files call, tests apart: f of f(…) and of x.f(…). The
// analysis counts every method of a type that becomes an interface. A method that nothing
// calls by its name, and that no interface has, is unused all the same.
type calls map[string]bool

func newCalls(files fs.FS) (calls, error) {
	c := calls{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil // the compiler refuses it
		}
		ast.Inspect(file, c.note)
		return nil
	})
	return c, err
}

func (c calls) note(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		c.of(n.Fun)
		for _, argument := range n.Args { // a method may be handed on
			c.of(argument)
		}
	case *ast.AssignStmt:
		for _, value := range n.Rhs {
			c.of(value)
		}
	case *ast.KeyValueExpr:
		c.of(n.Value)
	case *ast.CompositeLit:
		for _, value := range n.Elts {
			c.of(value)
		}
	case *ast.ReturnStmt:
		for _, value := range n.Results {
			c.of(value)
		}
	case *ast.InterfaceType:
		for _, method := range n.Methods.List {
			for _, name := range method.Names {
				c[name.Name] = true
			}
		}
	}
	return true
}

func (c calls) of(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Ident:
		c[e.Name] = true
	case *ast.SelectorExpr:
		c[e.Sel.Name] = true
	case *ast.IndexExpr: // of a generic function
		c.of(e.X)
	}
}

// library are the methods that packages of the standard library and of others call.
var library = map[string]bool{"String": true, "Error": true, "UnmarshalCBOR": true, "MarshalCBOR": true, "UnmarshalJSON": true,
	"MarshalJSON": true, "MarshalText": true, "UnmarshalText": true, "Receive": true}

// unused lists the Go code of rows that the product does not run. These are unreachable
// functions and methods, and types without a reachable method.
func unused(text string, files fs.FS, dead uncalled, called calls) (wrong []string) {
	s := newSources(files)
	for _, r := range parse(text).rows {
		if len(r.cells) < 3 {
			continue
		}
		for _, name := range namesOf(r.cells[2]) {
			if strings.Contains(name, ":") || s.exists(name) {
				continue
			}
			dir, identifier := split(name)
			declared := functions(files, dir)
			_, function := declared[identifier]
			last := identifier[strings.LastIndexByte(identifier, '.')+1:]
			methods, reached := 0, 0
			for other := range declared { // order: counted
				if strings.HasPrefix(other, identifier+".") {
					methods++
					if !dead[dir][other] {
						reached++
					}
				}
			}
			if function && (dead[dir][identifier] || !called[last] && !library[last]) || methods > 0 && reached == 0 {
				wrong = append(wrong, fmt.Sprintf("line %d, %s: the product does not run %s; name the code that it runs", r.line, r.cells[0], name))
			}
		}
	}
	return wrong
}

// The product runs the code of each row: a nightly check, as it reads the whole program.
func TestSoakRowsOfCodeAreReachedByTheProduct(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("DEVNET_SOAK=1 checks that the product runs the code of each row")
	}
	text, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	called, err := newCalls(checkout())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range unused(string(text), checkout(), newUncalled(t), called) {
		t.Error(w)
	}
}

// The rule finds what it is there to find.
func TestARowOfUnreachedCodeIsFound(t *testing.T) {
	files := fstest.MapFS{
		"core/core.go": {Data: []byte("package core\n\ntype Machine struct{}\n\nfunc (m *Machine) Step() { run() }\n\nfunc (m *Machine) Peek() " +
			"{}\n\nfunc run() {}\n\nfunc Spare() {}\n\ntype Table struct{}\n\nfunc (t *Table) Add() {}\n")},
		"core/core_test.go": {Data: []byte("package core\n\nimport \"testing\"\n\nfunc TestStep(t *testing.T) { new(Machine).Peek() }\n")},
		"main/main.go":      {Data: []byte("package main\n\nfunc main() { m.Step() }\n")},
	}
	called, err := newCalls(files)
	if err != nil {
		t.Fatal(err)
	}
	dead := uncalled{"core": {"Spare": true, "Table.Add": true}}
	for name, right := range map[string]bool{"core.Machine.Step": true, "core.run": true, "core.Machine": true,
		"core.Machine.Peek": false, // deadcode counts it as reached
		"core.Spare":        false, "core.Table.Add": false, "core.Table": false, path.Join("core", "core.go"): true} {
		row := "## A\n\n| T1 | it steps | `" + name + "` | `core.TestStep` | as written |\n"
		if wrong := unused(row, files, dead, called); (len(wrong) == 0) != right {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}
