package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

const module = "github.com/cowboyinc/devnet"

// violation is a broken rule: where, what, and why it is one.
type violation struct {
	file string
	line int
	what string
	why  string
}

func (v violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", v.file, v.line, v.what, v.why)
}

// sources are parsed packages of the module, checked as far as they can be
// without the standard library: a type of ours is known wherever it comes from,
// one of others is not.
type sources struct {
	fset     *token.FileSet
	packages map[string]*source // by path within the module
}

type source struct {
	path  string
	files []*ast.File
	types *types.Package // nil until checked
	info  types.Info
}

// parse reads files, given by their path within the module.
func parse(files map[string]string) (*sources, error) {
	s := &sources{fset: token.NewFileSet(), packages: make(map[string]*source)}
	for name, text := range files {
		file, err := parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		pkg := path.Dir(name)
		if s.packages[pkg] == nil {
			s.packages[pkg] = &source{path: pkg}
		}
		s.packages[pkg].files = append(s.packages[pkg].files, file)
	}
	return s, nil
}

// Import gives the type checker packages of the module, and empty ones for all
// others.
func (s *sources) Import(name string) (*types.Package, error) {
	if inside, ok := strings.CutPrefix(name, module+"/"); ok && s.packages[inside] != nil {
		return s.check(s.packages[inside]), nil
	}
	last := path.Base(name)
	if len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		last = path.Base(path.Dir(name)) // the package of secp256k1/v4 is secp256k1, of rand/v2 rand
	}
	empty := types.NewPackage(name, last)
	empty.MarkComplete()
	return empty, nil
}

// check resolves names and types. Names from outside the module stay unknown; that
// is not an error here, since the compiler has seen them.
func (s *sources) check(pkg *source) *types.Package {
	if pkg.types != nil {
		return pkg.types
	}
	pkg.types = types.NewPackage(module+"/"+pkg.path, path.Base(pkg.path)) // ends a cycle
	pkg.info = types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{Importer: s, Error: func(error) {}, DisableUnusedImportCheck: true}
	if checked, _ := config.Check(module+"/"+pkg.path, s.fset, pkg.files, &pkg.info); checked != nil {
		checked.MarkComplete()
		pkg.types = checked
	}
	return pkg.types
}

// violations are all broken rules, in the order of files and lines.
func (s *sources) violations() (all []violation) {
	for _, pkg := range s.packages {
		all = append(all, s.judge(pkg)...)
	}
	slices.SortFunc(all, func(a, b violation) int {
		if by := strings.Compare(a.file, b.file); by != 0 {
			return by
		}
		return a.line - b.line
	})
	return all
}

func (s *sources) judge(pkg *source) []violation {
	j := &judge{sources: s, pkg: pkg, layer: layerOf(pkg.path)}
	if j.layer == nil {
		j.report(pkg.files[0].Name, "package "+pkg.path, "it stands in no layer; add it to the table in internal/checks/layers/table_test.go")
		return j.found
	}
	s.check(pkg)
	for _, file := range pkg.files {
		j.imports(file)
		if j.layer.pure || j.layer.clockless {
			j.outside(file)
		}
		if j.layer.pure {
			j.constructs(file)
		}
	}
	return j.found
}

// judge finds the broken rules of one package.
type judge struct {
	*sources
	pkg   *source
	layer *layer
	found []violation
}

func (j *judge) report(at ast.Node, what, why string) {
	p := j.fset.Position(at.Pos())
	j.found = append(j.found, violation{p.Filename, p.Line, what, why})
}

// imports holds a file's imports against the table.
func (j *judge) imports(file *ast.File) {
	for _, spec := range file.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		inside, ours := strings.CutPrefix(name, module+"/")
		switch {
		case ours:
			if !covers(j.layer.imports, inside) && !covers(tree(j.layer.packages, j.pkg.path), inside) {
				j.report(spec, "imports "+inside, j.layer.why)
			}
		case strings.Contains(strings.Split(name, "/")[0], "."):
			if !covers(j.layer.libraries, name) {
				j.report(spec, "imports "+name, j.layer.why)
			}
		case covers(j.layer.refuses, name):
			j.report(spec, "imports "+name, "a world refuses by a code (internal/base/refusal), which the API answers with a status")
		}
	}
}
