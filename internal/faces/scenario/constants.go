package scenario

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/wallet"
)

// constantOf is the value of an expression that is written out: a literal, a
// negative number, True, False, None, and lists, tuples and dicts of them.
func constantOf(e syntax.Expr) (starlark.Value, bool) {
	switch e := e.(type) {
	case *syntax.Literal:
		return literalValue(e)
	case *syntax.Ident:
		if b, ok := e.Binding.(*resolve.Binding); !ok || b.Scope != resolve.Universal {
			return nil, false
		}
		v := starlark.Universe[e.Name]
		_, isFunction := v.(starlark.Callable)
		return v, !isFunction
	case *syntax.ParenExpr:
		return constantOf(e.X)
	case *syntax.UnaryExpr:
		if v, ok := constantOf(e.X); ok && e.Op == syntax.MINUS {
			negative, err := starlark.Unary(e.Op, v)
			return negative, err == nil
		}
	case *syntax.ListExpr:
		return constantList(e.List)
	case *syntax.TupleExpr:
		return constantList(e.List)
	case *syntax.DictExpr:
		return constantDict(e)
	}
	return nil, false
}

func literalValue(e *syntax.Literal) (starlark.Value, bool) {
	switch x := e.Value.(type) {
	case string:
		if e.Token == syntax.BYTES {
			return starlark.Bytes(x), true
		}
		return starlark.String(x), true
	case int64:
		return starlark.MakeInt64(x), true
	case float64:
		return starlark.Float(x), true
	}
	return nil, false
}

func constantList(list []syntax.Expr) (starlark.Value, bool) {
	var values []starlark.Value
	for _, e := range list {
		v, ok := constantOf(e)
		if !ok {
			return nil, false
		}
		values = append(values, v)
	}
	return starlark.NewList(values), true
}

func constantDict(e *syntax.DictExpr) (starlark.Value, bool) {
	d := starlark.NewDict(len(e.List))
	for _, one := range e.List {
		entry := one.(*syntax.DictEntry)
		key, isConstant := constantOf(entry.Key)
		value, valueToo := constantOf(entry.Value)
		if !isConstant || !valueToo || d.SetKey(key, value) != nil {
			return nil, false
		}
	}
	return d, true
}

// maxTold is how much of a file's own text an error shows.
const maxTold = 40

// checkValue judges what stands for an argument, as far as it is written out.
func (l *linter) checkValue(v *verb, title, name string, e syntax.Expr) {
	p := v.params[slices.IndexFunc(v.params, func(p param) bool { return p.name == name })]
	if p.kind == "function" && isComparison(e) {
		l.reportMistake(startOf(e), fmt.Sprintf("%s: %s is %s; this one is true or false at once: write lambda: before it", title, name,
			kinds[p.kind].doc))
		return
	}
	written, ok := constantOf(e)
	if !ok || written == starlark.None && !p.must {
		return
	}
	if err := l.validateConstant(title, p, written); err != nil {
		l.reportMistake(startOf(e), title+": "+name+" "+err.Error())
	}
}

func startOf(e syntax.Expr) syntax.Position {
	from, _ := e.Span()
	return from
}

// isComparison says that an expression is True or False whatever it is about.
func isComparison(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return isComparison(e.X)
	case *syntax.UnaryExpr:
		return e.Op == syntax.NOT
	case *syntax.BinaryExpr:
		switch e.Op {
		case syntax.EQL, syntax.NEQ, syntax.LT, syntax.GT, syntax.LE, syntax.GE, syntax.IN, syntax.NOT_IN:
			return true
		}
	}
	return false
}

// validateConstant returns why a constant is invalid for the argument; nil also if only the
// running network can decide.
func (l *linter) validateConstant(title string, p param, v starlark.Value) error {
	switch p.kind {
	case "party": // an actor's name may be any
		return l.unknownOf(title, v)
	case "sender": // only the running network knows which actors may be impersonated
		return nil
	case "node", "nodes", "groups":
		return l.unknownNode(v)
	}
	read, err := kinds[p.kind].read(nil, v)
	if err != nil {
		return err
	}
	text, _ := read.(string)
	switch title + " " + p.name {
	case "network params":
		return knownParams(read.(map[string]string))
	case "network policy":
		return knownParams(map[string]string{"cip1.policy": text})
	case "network block_time":
		if _, err := ParsePace(text); err != nil {
			return fmt.Errorf("is %w", err)
		}
	case "net.set_param key":
		if _, err := params.Lookup(text); err != nil {
			return fmt.Errorf("names no parameter: %w", err)
		}
	case "net.deploy file":
		if _, err := l.s.readCode(text); err != nil {
			return fmt.Errorf("names nothing to deploy: %s", strings.TrimPrefix(whatOf(err), "net.deploy: "))
		}
	case "net.submit_job kind", "net.submit_job mode", "net.submit_job data_format":
		if words := jobWords[p.name]; !slices.Contains(words, text) {
			return fmt.Errorf("is one of %s; got %q%s", strings.Join(words, ", "), text, suggestNames(text, words))
		}
	case "net.jobs status":
		if !slices.Contains(jobStatuses, text) {
			return fmt.Errorf("is one of %s; got %q%s", strings.Join(jobStatuses, ", "), text, suggestNames(text, jobStatuses))
		}
	case "net.submit_job sender":
		if known := wallet.Accounts(); !slices.Contains(known, text) {
			return fmt.Errorf("names %q, and no account is called so%s", text, suggestNames(text, known))
		}
	}
	return nil
}

func whatOf(err error) string {
	if m, ok := err.(*Mistake); ok {
		return m.What
	}
	return err.Error()
}

// knownParams says which of the parameters there is not, or has no such value.
// Values that are wrong only in combination are judged when the network is made,
// with all that are given.
func knownParams(given map[string]string) error {
	p := params.Defaults()
	if err := p.Apply(params.Overrides(given)); err != nil {
		return fmt.Errorf("cannot be: %w", err)
	}
	return nil
}

// unknownNode finds a name that no node has, in a list of lists of names too.
func (l *linter) unknownNode(v starlark.Value) error {
	switch v := v.(type) {
	case starlark.String:
		if l.nodes != nil && !slices.Contains(l.nodes, string(v)) {
			return fmt.Errorf("names %q, and there is no such node; the nodes are %s", string(v), strings.Join(shortenList(l.nodes), ", "))
		}
	case *starlark.List:
		for _, one := range listElements(v) {
			if err := l.unknownNode(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// unknownOf finds a name that no node has, where a verb takes nodes of one kind. A node
// may also be named by its address.
func (l *linter) unknownOf(title string, v starlark.Value) error {
	kind := strings.TrimPrefix(title, "net.")
	name, isText := v.(starlark.String)
	if kind != "validator" && kind != "runner" || !isText || strings.HasPrefix(string(name), "0x") {
		return nil
	}
	known := slices.DeleteFunc(slices.Clone(l.nodes), func(node string) bool { return node[0] != kind[0] })
	switch {
	case l.nodes == nil || slices.Contains(known, string(name)):
		return nil
	case len(known) == 0:
		return fmt.Errorf("names %q, and the network has no %ss", string(name), kind)
	}
	return fmt.Errorf("names %q, and there is no such %s; the %ss are %s", string(name), kind, kind, strings.Join(shortenList(known), ", "))
}

// shortenList returns a list of names, without its middle if it is long.
func shortenList(names []string) []string {
	const most = 6
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:2]), "…", names[len(names)-1])
}

// nodesOf are the nodes of a file's network, or nil where they cannot be known:
// their number is computed, some may join, or the network comes from another file.
func nodesOf(file *syntax.File, nets map[string]bool) (names []string) {
	made, run, unknown := 0, 0, len(nets) == 0
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.LoadStmt:
			unknown = true
		case *syntax.DotExpr:
			unknown = unknown || strings.HasPrefix(n.Name.Name, "join_")
		case *syntax.CallExpr:
			if isCallOf(n, "network") {
				validators, known := numberIn(n, "validators", 4)
				runners, knownToo := numberIn(n, "runners", 0)
				made, run, unknown = max(made, validators), max(run, runners), unknown || !known || !knownToo
			}
		}
		return true
	})
	if unknown || made < 1 || made > MaxValidators || run > MaxRunners {
		return nil
	}
	for i := range made {
		names = append(names, wallet.ValidatorName(i))
	}
	for i := range run {
		names = append(names, wallet.RunnerName(i))
	}
	return names
}

// numberIn returns an argument of a call of network(…), if that is a constant.
func numberIn(call *syntax.CallExpr, name string, otherwise int) (n int, known bool) {
	n = otherwise
	for _, arg := range call.Args {
		given, ok := arg.(*syntax.BinaryExpr)
		if !ok || given.Op != syntax.EQ {
			return 0, false
		}
		if given.X.(*syntax.Ident).Name != name {
			continue
		}
		written, _ := constantOf(given.Y)
		number, isInt := written.(starlark.Int)
		if !isInt {
			return 0, false
		}
		small, fits := number.Int64()
		if !fits || small < 0 || small > MaxRunners {
			return 0, false
		}
		n = int(small)
	}
	return n, true
}

// checkIndex checks reads from the lists of nodes.
func (l *linter) checkIndex(e *syntax.IndexExpr) {
	list, ok := e.X.(*syntax.DotExpr)
	if !ok {
		return
	}
	kind := strings.TrimSuffix(l.networkField(list), "s")
	if kind != "validator" && kind != "runner" {
		return
	}
	count := 0
	for _, name := range l.nodes {
		if name[0] == kind[0] {
			count++
		}
	}
	written, ok := constantOf(e.Y)
	if !ok {
		return
	}
	switch at := written.(type) {
	case starlark.Int:
		if i, ok := at.Int64(); ok && l.nodes != nil && (i >= int64(count) || i < -int64(count)) {
			l.reportMistake(startOf(e.Y), fmt.Sprintf("there is no %s %d: the first of %d is 0", kind, i, count))
		}
	default:
		text := at.String()
		l.reportMistake(startOf(e.Y), fmt.Sprintf("the %ss are a list, read by number: net.%ss[0]; by name it is net.%s(%s)", kind, kind, kind,
			text[:min(len(text), maxTold)]))
	}
}
