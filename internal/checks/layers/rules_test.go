package layers

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// What a deterministic layer may not import, by package or tree, and why.
var forbiddenImports = []struct {
	packages []string
	pure     bool // forbidden in pure layers only, not in shells
	why      string
}{
	{[]string{"os/...", "io/ioutil", "syscall", "embed"}, false, "the disk and the process belong to the environment"},
	{[]string{"net/..."}, false, "the network belongs to the environment"},
	{[]string{"crypto/rand"}, false, "a run must follow from its seed"},
	{[]string{"log/..."}, true, "it reports what happened in its output; a shell logs"},
	{[]string{"sync/..."}, true, "it runs on one goroutine, so it has nothing to lock; a cache of the base goes into lockAllowed with its reason"},
	{[]string{"runtime", "unsafe", "plugin"}, true, "results must not depend on the machine"}, // runtime/debug gives a bug its stack
}

// Functions of package time that read or wait for a clock. Durations and
// conversions are fine.
var clockFunctions = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker", "Timer", "Ticker", "Local", "LoadLocation"}

// What package math/rand has besides its global generator.
var ownRandom = []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}

const (
	clockReason  = "there is no clock here; now is an argument"
	randomReason = "a run must follow from its seed; a generator is an argument"
	floatReason  = "floats differ between machines and compilers; use integers"
	mapReason    = "the order of a map differs from run to run; sort the keys, or end the line with // order: and the reason why it does not matter"
	chanReason   = "concurrency lives in shells and in the environment"
)

// outside finds what reaches past internal/environment/env: imports and functions.
func (j *judge) outside(file *ast.File) {
	for _, spec := range file.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		for _, rule := range forbiddenImports {
			if !covers(rule.packages, name) || rule.pure && !j.layer.pure {
				continue
			}
			if _, allowed := lockAllowed[j.fset.Position(spec.Pos()).Filename]; allowed && covers([]string{"sync/..."}, name) {
				continue
			}
			j.report(spec, "imports "+name, rule.why)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		name := selector.Sel.Name
		switch j.packageOf(selector) {
		case "time":
			if has(clockFunctions, name) {
				j.report(n, "uses time."+name, clockReason)
			}
		case "math/rand", "math/rand/v2":
			if !has(ownRandom, name) {
				j.report(n, "uses rand."+name, randomReason)
			}
		}
		return true
	})
}

// packageOf is the path of the package that a selector selects from, or "".
func (j *judge) packageOf(selector *ast.SelectorExpr) string {
	if name, ok := selector.X.(*ast.Ident); ok {
		if pkg, ok := j.pkg.info.Uses[name].(*types.PkgName); ok {
			return pkg.Imported().Path()
		}
	}
	return ""
}

// constructs finds what a pure layer may not do.
func (j *judge) constructs(file *ast.File) {
	sorted := j.sortedCalls(file)
	excused := j.excusedLines(file)
	j.excuseSortedLoops(file, excused)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			j.report(n, "go statement", chanReason)
		case *ast.SelectStmt:
			j.report(n, "select statement", chanReason)
		case *ast.SendStmt:
			j.report(n, "channel send", chanReason)
		case *ast.ChanType:
			j.report(n, "channel", chanReason)
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				j.report(n, "channel receive", chanReason)
			}
		case *ast.BasicLit:
			j.literal(n)
		case *ast.Ident:
			j.ident(n)
		case *ast.SelectorExpr:
			j.selector(n)
		case *ast.CallExpr:
			j.mapCall(n, sorted, excused)
		case *ast.RangeStmt:
			j.mapRange(n, excused)
		}
		return true
	})
}

func (j *judge) literal(n *ast.BasicLit) {
	if n.Kind == token.FLOAT || n.Kind == token.IMAG {
		j.report(n, "the literal "+n.Value, floatReason)
	}
}

func (j *judge) ident(n *ast.Ident) {
	if has([]string{"float32", "float64", "complex64", "complex128"}, n.Name) {
		if _, basic := j.pkg.info.Uses[n].(*types.TypeName); basic {
			j.report(n, n.Name, floatReason)
		}
	}
}

// selector finds floats of the standard library.
func (j *judge) selector(n *ast.SelectorExpr) {
	name := n.Sel.Name
	float := false
	switch j.packageOf(n) {
	case "math":
		float = !strings.HasPrefix(name, "MaxInt") && !strings.HasPrefix(name, "MinInt") && !strings.HasPrefix(name, "MaxUint")
	case "math/big":
		float = strings.Contains(name, "Float")
	case "strconv":
		float = strings.HasSuffix(name, "Float")
	}
	if float {
		j.report(n, "uses "+n.X.(*ast.Ident).Name+"."+name, floatReason)
	}
}

func has(list []string, s string) bool {
	for _, each := range list {
		if each == s {
			return true
		}
	}
	return false
}
