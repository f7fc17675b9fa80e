package layers

import (
	"go/ast"
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

// Events, verbs, questions and reports of a core are a sum: an interface with one private
// method. Each of its types has that method, with an empty body. A type that nothing
// makes is a rule without a cause: the core obeys it, its tests hold it, and no user
// meets it.

// unproduced are the types of sums that no code makes yet, with the reason. A type leaves
// the list when its producer is built.
var unproduced = map[string]string{}

// sums are the types of the sealed sums of a tree, by "dir.Type", and where each is made.
type sums map[string]bool

// goFile is a parsed file of code, not of tests.
type goFile struct {
	dir     string
	imports map[string]string // directories of the module, by their name in the file
	ast     *ast.File
}

func goFiles(t *testing.T, tree fs.FS) (files []goFile) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		f := goFile{path.Dir(name), map[string]string{}, file}
		for _, spec := range file.Imports {
			full, _ := strconv.Unquote(spec.Path.Value)
			dir, ours := strings.CutPrefix(full, module+"/")
			if !ours {
				continue
			}
			as := path.Base(dir)
			if spec.Name != nil {
				as = spec.Name.Name
			}
			f.imports[as] = dir
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// sumsOf are the types that have the one method of a sealed interface of their package.
func sumsOf(files []goFile) sums {
	sealed := map[string]bool{} // "dir.method"
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if i, is := n.(*ast.InterfaceType); is && len(i.Methods.List) == 1 && len(i.Methods.List[0].Names) == 1 {
				if name := i.Methods.List[0].Names[0]; !name.IsExported() {
					sealed[f.dir+"."+name.Name] = true
				}
			}
			return true
		})
	}
	all := sums{}
	for _, f := range files {
		for _, decl := range f.ast.Decls {
			m, is := decl.(*ast.FuncDecl)
			if !is || m.Recv == nil || m.Body == nil || len(m.Body.List) > 0 || !sealed[f.dir+"."+m.Name.Name] {
				continue
			}
			of := m.Recv.List[0].Type
			if star, is := of.(*ast.StarExpr); is {
				of = star.X
			}
			if name, is := of.(*ast.Ident); is {
				all[f.dir+"."+name.Name] = false
			}
		}
	}
	return all
}

// made notes the types that a file makes: by a literal, a conversion or new.
func (s sums) made(f goFile) {
	note := func(e ast.Expr) {
		name := ""
		switch e := e.(type) {
		case *ast.Ident:
			name = f.dir + "." + e.Name
		case *ast.SelectorExpr:
			if from, is := e.X.(*ast.Ident); is {
				name = f.imports[from.Name] + "." + e.Sel.Name
			}
		}
		if _, is := s[name]; is {
			s[name] = true
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			note(n.Type)
			elements, is := n.Type.(*ast.ArrayType) // []T{{…}}
			if is && len(n.Elts) > 0 {
				note(elements.Elt)
			}
		case *ast.CallExpr:
			note(n.Fun)
			if f, is := n.Fun.(*ast.Ident); is && f.Name == "new" {
				note(n.Args[0])
			}
		case *ast.ValueSpec: // var m T, filled afterwards
			note(n.Type)
		}
		return true
	})
}

// idle lists the types of sums that nothing of a tree makes.
func idle(t *testing.T, tree fs.FS) (names []string, of int) {
	files := goFiles(t, tree)
	all := sumsOf(files)
	for _, f := range files {
		all.made(f)
	}
	for name, made := range all { // order: sorted below
		if !made {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, len(all)
}

// Code that users run makes every event, verb, question and report of the cores and roles.
func TestEveryTypeOfASumIsProduced(t *testing.T) {
	names, of := idle(t, os.DirFS("../../.."))
	for _, name := range names {
		if unproduced[name] == "" {
			t.Errorf("%s has no producer: only tests make it; build its cause, or list it with the reason", name)
		}
	}
	for name := range unproduced { // order: each is judged by itself
		if !slices.Contains(names, name) {
			t.Errorf("%s is produced by now, or is gone: take it out of the list", name)
		}
	}
	if of < 100 {
		t.Errorf("%d types of sums were found: the search misses some", of)
	}
}

// The rule finds what it is there to find.
func TestATypeThatNothingProducesIsFound(t *testing.T) {
	tree := fstest.MapFS{
		"core/events.go": {Data: []byte("package core\n\ntype Event interface{ event() }\n\ntype (\n\tTick struct{}\n\tLost struct{ N int }\n" +
			"\tTold struct{}\n\tKept []int\n)\n\nfunc (Tick) event() {}\nfunc (*Lost) event() {}\nfunc (Told) event() {}\nfunc (Kept) event() {}\n" +
			"\nfunc take(e Event) {\n\tswitch e.(type) {\n\tcase Tick, *Lost, Told, Kept:\n\t}\n}\n" +
			"\ntype other struct{}\n\nfunc (other) close() {}\n")},
		"core/core_test.go": {Data: []byte("package core\n\nvar lost = &Lost{}\n")},
		"shell/shell.go": {Data: []byte("package shell\n\nimport c \"" + module + "/core\"\n\nvar all = []c.Event{c.Tick{}, c.Kept(nil)}\n\n" +
			"var many = []c.Told{{}}\n")},
	}
	if names, of := idle(t, tree); !slices.Equal(names, []string{"core.Lost"}) || of != 4 {
		t.Errorf("%q of %d types are made by nothing", names, of)
	}
}
