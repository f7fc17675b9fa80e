package layers

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Why a package of the standard library that many reach for is not on the lists
// of table_test.go.
var absent = []struct {
	packages []string
	why      string
}{
	{[]string{"os/...", "io/ioutil", "io/fs", "syscall", "embed"}, "the disk and the process belong to the environment"},
	{[]string{"net/..."}, "the network belongs to the environment"},
	{[]string{"crypto/rand", "hash/maphash"}, "a run must follow from its seed"},
	{[]string{"log/..."}, "it reports what happened in its output; a shell logs"},
	{[]string{"sync/..."}, "it runs on one goroutine, so it has nothing to lock; a cache of the base goes into allowedIn with its reason"},
	{[]string{"context"}, "it is a clock and a goroutine in one; a deadline is an argument"},
	{[]string{"encoding/json"}, "it makes floats of numbers; what is hashed, signed or stored is CBOR (C11)"},
}

// notListed is the reason for a package that is neither on a list nor above.
const notListed = "it is not on this layer's list in internal/checks/layers/table_test.go; add it if its results follow from its " +
	"arguments alone"

// The names of package time for deterministic code: lengths, and no moment, since
// that is printed in the machine's zone.
var (
	durations = []string{"Duration", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour", "ParseDuration"}
	moments   = []string{"Time", "Unix", "UnixMilli", "Date", "UTC", "Month"}
)

// The names of package fmt for deterministic code: functions that return a text.
var formatting = []string{"Errorf", "Sprint", "Sprintf", "Sprintln", "Append", "Appendf", "Appendln", "Fprint", "Fprintf", "Fprintln",
	"Sscanf", "Stringer", "Formatter", "State"}

// The names of package math/rand other than its global generator.
var ownRandom = []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "Source64", "PCG", "ChaCha8", "Zipf"}

const (
	clockReason  = "there is no clock here; now is an argument"
	randomReason = "a run must follow from its seed; a generator is an argument"
	floatReason  = "floats differ between machines and compilers; use integers"
	mapReason    = "the order of a map differs from run to run; sort the keys, or end the line with // order: and the reason why it does " +
		"not matter"
	chanReason = "concurrency lives in shells and in the environment"
)

// outside finds what reaches past the environment's interfaces: imports and
// functions.
func (j *judge) outside(file *ast.File) {
	for _, spec := range file.Imports {
		name := strings.Trim(spec.Path.Value, `"`)
		if spec.Name != nil && spec.Name.Name == "." {
			j.report(spec, "imports "+name+" with a dot", "what a name means must be seen where it stands")
		}
		if !strings.Contains(strings.Split(name, "/")[0], ".") && !j.standard(spec, name) {
			j.report(spec, "imports "+name, absence(name))
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			j.function(selector)
		}
		return true
	})
}

// standard reports whether the layer may import a package of the standard
// library in this file.
func (j *judge) standard(spec *ast.ImportSpec, name string) bool {
	for packages, files := range allowedIn {
		if _, allowed := files[j.fset.Position(spec.Pos()).Filename]; j.layer.pure && allowed && covers([]string{packages}, name) {
			return true
		}
	}
	return covers(j.layer.standard, name) && !(j.layer.pure && covers([]string{"sync/..."}, name))
}

// absence is why a package is not on the lists.
func absence(name string) string {
	for _, each := range absent {
		if covers(each.packages, name) {
			return each.why
		}
	}
	return notListed
}

// function finds functions of packages that are allowed in part.
func (j *judge) function(selector *ast.SelectorExpr) {
	name := selector.Sel.Name
	switch j.packageOf(selector) {
	case "time":
		if !has(durations, name) && (j.layer.pure || !has(moments, name)) {
			j.report(selector, "uses time."+name, clockReason)
		}
	case "math/rand", "math/rand/v2":
		if !has(ownRandom, name) {
			j.report(selector, "uses rand."+name, randomReason)
		}
	case "fmt":
		if !has(formatting, name) {
			j.report(selector, "uses fmt."+name, "the terminal belongs to the commands")
		}
	}
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
			j.guarded(n)
		case *ast.RangeStmt:
			j.mapRange(n, excused)
		}
		return true
	})
}

// waits are the calls of operator code that may wait.
var waits = []string{"Wait", "Do", "Ask", "until"}

// guarded finds a wait within a function that has a lock: one that is given to do.
func (j *judge) guarded(call *ast.CallExpr) {
	selector, is := call.Fun.(*ast.SelectorExpr)
	if !is || selector.Sel.Name != "do" || len(call.Args) != 1 {
		return
	}
	ast.Inspect(call.Args[0], func(n ast.Node) bool {
		if inner, is := n.(*ast.CallExpr); is {
			if called, is := inner.Fun.(*ast.SelectorExpr); is && has(waits, called.Sel.Name) {
				j.report(inner, "waits by "+called.Sel.Name+" with a lock", "a simulated wait that holds a lock stops the world permanently")
			}
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
	if name == "MapRange" || name == "MapKeys" {
		j.report(n, "uses "+types.ExprString(n), mapReason)
	}
	float := false
	switch j.packageOf(n) {
	case "math":
		float = !strings.HasPrefix(name, "MaxInt") && !strings.HasPrefix(name, "MinInt") && !strings.HasPrefix(name, "MaxUint")
	case "math/big":
		float = strings.Contains(name, "Float")
	case "strconv":
		float = strings.HasSuffix(name, "Float")
	case "":
		// A method of time.Duration, unless it is known to be one of ours.
		float = has([]string{"Seconds", "Minutes", "Hours"}, name) && j.pkg.info.Uses[n.Sel] == nil
	}
	if float {
		j.report(n, "uses "+types.ExprString(n), floatReason)
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
