package scenario

import (
	"errors"
	"slices"

	"go.starlark.net/lib/json"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// checkScript finds what is wrong with a script and what it loads, without running
// any of it.
func (s *sources) checkScript() error {
	c := &scriptCheck{s: s, globals: map[string][]string{}}
	checked, queue := map[string]bool{}, []string{s.main}
	for ; len(queue) > 0; queue = queue[1:] {
		if name := queue[0]; !checked[name] {
			checked[name] = true
			loaded, err := c.checkFile(name)
			if err != nil {
				return err
			}
			queue = append(queue, loaded...)
		}
	}
	for _, load := range c.loads {
		if known, ok := c.globals[load.ModuleName()]; ok {
			c.found = append(c.found, s.missingIn(load, known)...)
		}
	}
	if len(c.found) == 0 {
		return nil
	}
	slices.SortStableFunc(c.found, func(a, b *Mistake) int {
		if a.At.File != b.At.File {
			return 0
		}
		return a.At.Line - b.At.Line
	})
	return c.found
}

// scriptCheck is one check of a script with what it loads.
type scriptCheck struct {
	s       *sources
	globals map[string][]string // of the files that could be read; looked up only
	loads   []*syntax.LoadStmt  // of files that can be read
	found   Mistakes
}

// checkFile checks one file, and returns the files that it loads.
func (c *scriptCheck) checkFile(name string) (loaded []string, err error) {
	file, err := c.s.parseFile(name)
	if err := c.noteMistakes(err); err != nil || file == nil {
		return nil, err
	}
	c.globals[name] = globalsOf(file)
	l := &linter{s: c.s, nets: networksOf(file)}
	l.nodes = nodesOf(file, l.nets)
	syntax.Walk(file, l.visitNode)
	c.s.computed = c.s.computed || l.named > l.settings
	c.found = append(c.found, l.found...)
	for _, statement := range file.Stmts {
		load, ok := statement.(*syntax.LoadStmt)
		if !ok {
			continue
		}
		if _, err := c.s.readFile(load.ModuleName()); err != nil {
			var wrong *Mistake
			if !errors.As(err, &wrong) {
				return nil, err
			}
			wrong.At = c.s.positionAt(load.Module.TokenPos)
			c.found = append(c.found, wrong)
			continue
		}
		loaded = append(loaded, load.ModuleName())
		c.loads = append(c.loads, load)
	}
	return loaded, nil
}

// noteMistakes notes the mistakes that an error is. It returns any other error.
func (c *scriptCheck) noteMistakes(err error) error {
	var more Mistakes
	var one *Mistake
	switch {
	case errors.As(err, &more):
		c.found = append(c.found, more...)
	case errors.As(err, &one):
		c.found = append(c.found, one)
	default:
		return err
	}
	return nil
}

// globalsOf lists the names that a file exports.
func globalsOf(file *syntax.File) (names []string) {
	for _, global := range file.Module.(*resolve.Module).Globals {
		names = append(names, global.First.Name)
	}
	return names
}

// missingIn are the names of a load that its file does not give.
func (s *sources) missingIn(load *syntax.LoadStmt, known []string) (found Mistakes) {
	for _, wanted := range load.From {
		if !slices.Contains(known, wanted.Name) {
			found = append(found, &Mistake{s.positionAt(wanted.NamePos), load.ModuleName() + " has no " + wanted.Name + suggestNames(wanted.Name,
				known)})
		}
	}
	return found
}

// parseFile reads and resolves a file. Where names are unknown it returns both the
// file and the mistakes.
func (s *sources) parseFile(name string) (*syntax.File, error) {
	text, err := s.readFile(name)
	if err != nil {
		return nil, err
	}
	file, err := dialect.Parse(name, text, 0)
	if err != nil {
		return nil, s.locateError(err)
	}
	known := func(name string) bool { return findVerb(tables().global, name) != nil || name == json.Module.Name }
	return file, s.locateError(resolve.File(file, known, starlark.Universe.Has))
}

// networksOf are the names that a file binds to network(…), and to nothing else.
func networksOf(file *syntax.File) map[string]bool {
	nets, others := map[string]bool{}, map[string]bool{}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.AssignStmt:
			name, ok := n.LHS.(*syntax.Ident)
			if !ok {
				addBound(n.LHS, others)
				break
			}
			if call, ok := n.RHS.(*syntax.CallExpr); ok && isCallOf(call, "network") {
				nets[name.Name] = true
			} else {
				others[name.Name] = true
			}
		case *syntax.DefStmt:
			others[n.Name.Name] = true
			for _, p := range n.Params {
				addBound(p, others)
			}
		case *syntax.LambdaExpr:
			for _, p := range n.Params {
				addBound(p, others)
			}
		case *syntax.ForStmt:
			addBound(n.Vars, others)
		case *syntax.ForClause:
			addBound(n.Vars, others)
		case *syntax.LoadStmt:
			for _, to := range n.To {
				others[to.Name] = true
			}
		}
		return true
	})
	for name := range others { // order: a set less a set
		delete(nets, name)
	}
	return nets
}

// addBound adds the names that a pattern or parameter binds.
func addBound(e syntax.Expr, to map[string]bool) {
	syntax.Walk(e, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Ident:
			to[n.Name] = true
		case *syntax.DotExpr, *syntax.IndexExpr:
			return false // they bind no name
		}
		return true
	})
}

func isCallOf(call *syntax.CallExpr, name string) bool {
	fn, ok := call.Fn.(*syntax.Ident)
	return ok && fn.Name == name
}

// linter checks calls of builtins and reads from a network's fields.
type linter struct {
	s     *sources
	nets  map[string]bool // looked up only
	nodes []string        // the nodes that there are; nil where that cannot be known
	// named counts the places with the word setting, settings those that call it.
	named, settings int
	found           Mistakes
}

func (l *linter) visitNode(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Ident:
		if b, ok := n.Binding.(*resolve.Binding); ok && b.Scope == resolve.Predeclared && n.Name == "setting" {
			l.named++
		}
	case *syntax.DotExpr:
		l.s.snapshots = l.s.snapshots || n.Name.Name == "snapshot"
		if name := l.networkField(n); name != "" {
			known := attributeNames(tables().network, tables().networkFields)
			if !slices.Contains(known, name) {
				l.reportMistake(n.Name.NamePos, "a network has no "+name+otherVerbs(name, known))
			}
		}
	case *syntax.IndexExpr:
		l.checkIndex(n)
	case *syntax.CallExpr:
		if v, title := l.verbOf(n.Fn); v != nil {
			l.checkCall(v, title, n)
		}
	}
	return true
}

// networkField returns the name of the field that an expression reads from a network, or "".
func (l *linter) networkField(dot *syntax.DotExpr) string {
	if x, ok := dot.X.(*syntax.Ident); ok && l.nets[x.Name] {
		return dot.Name.Name
	}
	return ""
}

// verbOf is the builtin that an expression names for sure, or nil.
func (l *linter) verbOf(fn syntax.Expr) (*verb, string) {
	switch fn := fn.(type) {
	case *syntax.Ident:
		if b, ok := fn.Binding.(*resolve.Binding); ok && b.Scope == resolve.Predeclared {
			return findVerb(tables().global, fn.Name), fn.Name
		}
	case *syntax.DotExpr:
		if name := l.networkField(fn); name != "" {
			return findVerb(tables().network, name), "net." + name
		}
	}
	return nil, ""
}

// checkCall looks at the names of the arguments, and at values that are written out.
func (l *linter) checkCall(v *verb, title string, call *syntax.CallExpr) {
	if v.isVariadic() {
		return
	}
	if v.name == "setting" {
		l.noteSetting(call)
	}
	given, open := map[string]bool{}, false
	for i, arg := range call.Args {
		name, value := "", arg
		switch a := arg.(type) {
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				open = true
				continue
			}
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				name, value = a.X.(*syntax.Ident).Name, a.Y
			}
		}
		pos, _ := arg.Span()
		if name == "" {
			if i >= len(v.params) || v.params[i].nowhere {
				l.reportMistake(pos, title+" takes this argument by its name only: "+v.String())
				continue
			}
			name = v.params[i].name
		} else if err := v.refuseUnknownArgument(title, name); err != nil {
			l.reportMistake(pos, err.(*Mistake).What)
			continue
		}
		given[name] = true
		l.checkValue(v, title, name, value)
	}
	for _, p := range v.params {
		if p.must && !given[p.name] && !open {
			l.reportMistake(call.Lparen, title+" needs "+p.name+": "+v.String())
		}
	}
}

func (l *linter) reportMistake(pos syntax.Position, what string) {
	l.found = append(l.found, &Mistake{l.s.positionAt(pos), what})
}
