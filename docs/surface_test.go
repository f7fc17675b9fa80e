package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	_ "github.com/cowboyinc/devnet/client" // or the cache of tests would not know that it changed
)

// modulePath is the path of this module; its packages are named by their last element in
// the list.
const modulePath = "github.com/cowboyinc/devnet/"

// TestTheSurfaceIsTheList compares what other people's tests can hold on to with
// docs/GO.md. A removal or a change there breaks them: CHANGELOG must name it.
func TestTheSurfaceIsTheList(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"devnettest", "client"} {
		for _, line := range surface(t, name) {
			text.WriteString(line + "\n")
		}
	}
	for _, line := range written(t, "testcontainers") {
		text.WriteString(line + "\n")
	}
	if at := strings.Index(text.String(), "internal/"); at >= 0 {
		t.Errorf("the surface holds a type that no importer can name, at %.80q: export it at the top of its file in client", text.String()[at:])
	}
	const begin, end = "<!-- surface -->\n```\n", "```\n<!-- /surface -->\n"
	page := "GO.md"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(data), begin)
	have, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no part between %q and %q", page, begin, end)
	}
	if have == text.String() {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(head+begin+text.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range difference(have, text.String()) {
		t.Error(line)
	}
	t.Error("docs/GO.md lists another surface than the code has. If that is intended: go test ./docs -run Surface -update")
}

// written lists what a package of another module exports, as its sources write it: what
// that needs is not here.
func written(t *testing.T, dir string) (lines []string) {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("%s has no sources: %v", dir, err)
	}
	for _, path := range sources {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, data, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
			var text strings.Builder
			if err := printer.Fprint(&text, fset, d); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Split(strings.ReplaceAll(text.String(), "\t", "    "), "\n")...)
		}
	}
	return append([]string{"", "package devnet, in " + dir}, lines...)
}

// difference lists the lines that only one of two texts has.
func difference(have, want string) (lines []string) {
	a, b := strings.Split(have, "\n"), strings.Split(want, "\n")
	for _, line := range a {
		if !slices.Contains(b, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			lines = append(lines, "+ "+line)
		}
	}
	return lines
}

// surface lists what a package exports, a line each.
func surface(t *testing.T, name string) (lines []string) {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join("..", name, "*.go"))
	for _, file := range sources { // that the cache of tests knows what this depends on
		if _, err := os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if err != nil || len(sources) == 0 {
		t.Fatalf("%s has no sources: %v", name, err)
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedTypes | packages.NeedName | packages.NeedImports | packages.NeedDeps |
		packages.NeedExportFile, Dir: ".."}, "./"+name)
	if err != nil || len(loaded) != 1 || len(loaded[0].Errors) > 0 {
		t.Fatalf("%s cannot be loaded: %v %v", name, err, loaded)
	}
	l := lister{name: name, pkg: loaded[0].Types, exported: map[*types.TypeName]string{}}
	scope := l.pkg.Scope()
	for _, name := range scope.Names() {
		if o, is := scope.Lookup(name).(*types.TypeName); is && o.Exported() {
			if alias, is := o.Type().(*types.Alias); is {
				if of, is := alias.Rhs().(interface{ Obj() *types.TypeName }); is {
					l.exported[of.Obj()] = name
				}
			}
		}
	}
	for _, name := range scope.Names() {
		if token.IsExported(name) {
			l.add(scope.Lookup(name))
		}
	}
	return append([]string{"package " + name}, l.lines...)
}

// lister writes lines about the objects of one package.
type lister struct {
	name     string
	pkg      *types.Package
	exported map[*types.TypeName]string // by which name this package gives them out
	lines    []string
}

func (l *lister) say(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// text is a type, by this package's names for the types that it gives out.
func (l *lister) text(t types.Type) string {
	text := types.TypeString(t, func(p *types.Package) string {
		if p == l.pkg {
			return ""
		}
		return strings.TrimPrefix(p.Path(), modulePath)
	})
	for of, name := range l.exported {
		text = replaced(text, strings.TrimPrefix(of.Pkg().Path(), modulePath)+"."+of.Name(), name)
	}
	return text
}

// replaced replaces whole names.
func replaced(text, old, name string) string {
	parts := strings.Split(text, old)
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" && (parts[i][0] == '_' || parts[i][0] >= 'a' && parts[i][0] <= 'z' || parts[i][0] >= 'A' && parts[i][0] <= 'Z') {
			parts[i] = old + parts[i]
		} else {
			parts[i] = name + parts[i]
		}
	}
	return strings.Join(parts, "")
}

func (l *lister) add(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		l.say("const %s = %s", o.Name(), o.Val())
	case *types.Var:
		l.say("var %s %s", o.Name(), l.text(o.Type()))
	case *types.Func:
		l.say("func %s%s", o.Name(), strings.TrimPrefix(l.text(o.Type()), "func"))
	case *types.TypeName:
		l.addType(o)
	}
}

func (l *lister) addType(o *types.TypeName) {
	under := types.Unalias(o.Type()).Underlying()
	if s, is := under.(*types.Struct); is {
		l.say("type %s struct", o.Name())
		for f := range s.Fields() {
			switch {
			case f.Embedded() && f.Exported():
				l.say("    %s", l.text(f.Type()))
			case f.Exported():
				l.say("    %s %s", f.Name(), l.text(f.Type()))
			}
		}
	} else {
		l.say("type %s %s", o.Name(), l.text(under))
	}
	methods := types.NewMethodSet(types.NewPointer(types.Unalias(o.Type())))
	for selection := range methods.Methods() {
		f, is := selection.Obj().(*types.Func)
		if !is || !f.Exported() || len(selection.Index()) > 1 { // one of an embedded type is told there
			continue
		}
		l.say("func (%s) %s%s", o.Name(), f.Name(), strings.TrimPrefix(l.text(f.Type()), "func"))
	}
}
