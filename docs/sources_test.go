// Package docs holds no code: its tests hold the documents against the sources.
// spec_test.go checks that SPEC.md names nothing that does not exist and leaves
// nothing out. cited_test.go checks that every cited rule, page or section exists;
// wire_test.go writes and checks the examples of WIRE.md.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// top is the module's directory.
const top = ".."

// sources answers what exists in a tree: Go identifiers by package directory,
// test functions, Python names and files.
type sources struct {
	files    fs.FS
	packages map[string]*declared // by directory
}

type declared struct {
	names map[string]bool // top-level names, Type.Method, Type.Field
	tests map[string]bool
}

func newSources(files fs.FS) *sources {
	return &sources{files: files, packages: make(map[string]*declared)}
}

// exists reports whether a path names a file or directory.
func (s *sources) exists(name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	_, err := fs.Stat(s.files, name)
	return err == nil
}

// pkg parses the Go files of a directory; nil if it has none.
func (s *sources) pkg(dir string) *declared {
	if found, known := s.packages[dir]; known {
		return found
	}
	s.packages[dir] = nil
	entries, err := fs.ReadDir(s.files, dir)
	if err != nil {
		return nil
	}
	d := &declared{names: make(map[string]bool), tests: make(map[string]bool)}
	any := false
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := fs.ReadFile(s.files, path.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		any = true
		if strings.HasSuffix(e.Name(), "_test.go") {
			d.addTests(file)
		} else {
			d.addNames(file)
		}
	}
	if any {
		s.packages[dir] = d
	}
	return s.packages[dir]
}

func (d *declared) addTests(file *ast.File) {
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f.Name.Name) {
			d.tests[f.Name.Name] = true
		}
	}
}

func isTest(name string) bool {
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz") || strings.HasPrefix(name, "Benchmark")
}

func (d *declared) addNames(file *ast.File) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d.names[receiver(decl)+decl.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				d.addSpec(spec)
			}
		}
	}
}

func (d *declared) addSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			d.names[name.Name] = true
		}
	case *ast.TypeSpec:
		d.names[spec.Name.Name] = true
		var members *ast.FieldList
		switch t := spec.Type.(type) {
		case *ast.StructType:
			members = t.Fields
		case *ast.InterfaceType:
			members = t.Methods
		default:
			return
		}
		for _, field := range members.List {
			for _, name := range field.Names {
				d.names[spec.Name.Name+"."+name.Name] = true
			}
		}
	}
}

// receiver is "Type." of a method and "" of a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	t := f.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return "?."
		}
	}
}

// split parts "dir/of/pkg.Name" at the first dot after the last slash.
func split(name string) (dir, identifier string) {
	slash := strings.LastIndexByte(name, '/') + 1
	base, identifier, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + base, identifier
}

// code says what is wrong with a name in a code cell, or "". It is a path, a
// path:name in a file other than Go, or a Go package and an identifier.
func (s *sources) code(name string) string {
	if file, inside, ok := strings.Cut(name, ":"); ok {
		text, err := fs.ReadFile(s.files, file)
		if err != nil {
			return "there is no file " + file
		}
		if !regexp.MustCompile(`(?m)^\s*((async )?def|class) ` + regexp.QuoteMeta(inside) + `\b|^` + regexp.QuoteMeta(inside) + ` *=`).Match(text) {
			return file + " defines no " + inside
		}
		return ""
	}
	if s.exists(name) {
		return ""
	}
	dir, identifier := split(name)
	d := s.pkg(dir)
	switch {
	case d == nil:
		return "there is no path " + name + " and no package " + dir
	case !d.names[identifier]:
		return "package " + dir + " declares no " + identifier
	}
	return ""
}

// test says what is wrong with a name in a test cell, or "". It is a package
// and a test function, or a path of test data.
func (s *sources) test(name string) string {
	if s.exists(name) {
		if strings.Contains(name, "testdata/") || strings.HasPrefix(name, "fixtures/") {
			return ""
		}
		return name + " is neither a test nor test data"
	}
	dir, identifier := split(name)
	d := s.pkg(dir)
	switch {
	case d == nil:
		return "there is no path " + name + " and no package " + dir
	case !d.tests[identifier]:
		return "package " + dir + " has no test " + identifier
	}
	return ""
}

func checkout() fs.FS { return os.DirFS(filepath.FromSlash(top)) }
