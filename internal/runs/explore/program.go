package explore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/cowboyinc/devnet/internal/base/pattern"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// program is a script as its top-level statements, into which others are put.
type program struct {
	statements []statement
	seed       uint64
	settings   []string // further parameters of its network, as in a dict
}

// statement is one of the top level, with its lines.
type statement struct {
	text       string
	drawn      bool // by the search; otherwise it stands in the script
	isEnding   bool // it is of what each program ends with, before which others are put
	ordinal    int  // its place in the script; of one that was drawn undefined
	repeatable bool // it may come again
}

// actorVariable is what a script names an actor, and which of its statements deploys it.
type actorVariable struct {
	name      string
	statement int
}

// base is the script that is explored.
type base struct {
	name       string // of the network's variable
	statements []statement
	opens      int // which statement makes the network
	actors     []actorVariable
}

var (
	dialect   = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}
	seedGiven = pattern.CompileOnNeed(`\bseed\s*=\s*[0-9]+`)
	// paramsGiven is where a network's parameters begin, as a dict in its place.
	paramsGiven = pattern.CompileOnNeed(`\bparams\s*=\s*\{`)
)

// readBase reads a script. Its top level has to make the network, and what it expects at the top level is left out: under
// faults it need not hold, and oracles judge instead.
func readBase(path string) (*base, error) {
	text, err := os.ReadFile(path)
	if folder, name, carried := scenario.Carried(path); carried && errors.Is(err, fs.ErrNotExist) {
		text, err = fs.ReadFile(folder, name)
	}
	if err != nil {
		return nil, err
	}
	file, err := dialect.Parse(path, text, 0)
	if err != nil {
		return nil, err
	}
	b := &base{opens: -1}
	lines := strings.Split(string(text), "\n")
	for _, one := range file.Stmts {
		from, to := one.Span()
		if isExpectation(one) {
			continue
		}
		last := int(to.Line)
		if to.Col == 1 { // a block ends where the next line begins
			last--
		}
		ordinal := len(b.statements)
		b.statements = append(b.statements, statement{text: strings.TrimRight(strings.Join(lines[from.Line-1:last], "\n"), "\n \t"),
			ordinal: ordinal, repeatable: b.opens >= 0 && isRepeatable(one)})
		if name := networkOf(one); name != "" && b.opens < 0 {
			b.name, b.opens = name, ordinal
		}
		for _, name := range actorsOf(one) {
			b.actors = append(b.actors, actorVariable{name, ordinal})
		}
	}
	if b.opens < 0 {
		return nil, refusal.New("no_network", "%s: no statement of the top level is like net = network(…)", path).
			Hint("Make the network at the top level, so that faults can be put after it.")
	}
	return b, nil
}

// isExpectation says that a statement only expects something.
func isExpectation(s syntax.Stmt) bool {
	e, is := s.(*syntax.ExprStmt)
	if !is {
		return false
	}
	call, is := e.X.(*syntax.CallExpr)
	if !is {
		return false
	}
	name, is := call.Fn.(*syntax.Ident)
	return is && slices.Contains([]string{"expect", "expect_eq", "eventually", "always", "check", "print"}, name.Name)
}

// isRepeatable says that a statement may come again: it calls something, or loops over calls, and makes no name.
func isRepeatable(s syntax.Stmt) bool {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		return true
	case *syntax.ForStmt:
		return !slices.ContainsFunc(s.Body, func(one syntax.Stmt) bool { return isExpectation(one) })
	}
	return false
}

// actorsOf lists what a statement names actors: x = net.deploy(…), x, y = net.deploy(…), net.deploy(…), and of a list of them the first.
func actorsOf(s syntax.Stmt) (names []string) {
	a, is := s.(*syntax.AssignStmt)
	if !is || a.Op != syntax.EQ {
		return nil
	}
	isDeploy := func(e syntax.Expr) bool {
		call, is := e.(*syntax.CallExpr)
		if !is {
			return false
		}
		verb, is := call.Fn.(*syntax.DotExpr)
		return is && verb.Name.Name == "deploy"
	}
	left, right := []syntax.Expr{a.LHS}, []syntax.Expr{a.RHS}
	if to, is := a.LHS.(*syntax.TupleExpr); is {
		if of, is := a.RHS.(*syntax.TupleExpr); is && len(to.List) == len(of.List) {
			left, right = to.List, of.List
		}
	}
	for i := range left {
		name, is := left[i].(*syntax.Ident)
		if !is {
			continue
		}
		list, isList := right[i].(*syntax.Comprehension)
		switch {
		case isDeploy(right[i]):
			names = append(names, name.Name)
		case isList && !list.Curly && isDeploy(list.Body):
			names = append(names, name.Name+"[0]")
		}
	}
	return names
}

// networkOf is the variable that a statement gives a network to, or "".
func networkOf(s syntax.Stmt) string {
	a, is := s.(*syntax.AssignStmt)
	if !is || a.Op != syntax.EQ {
		return ""
	}
	call, isCall := a.RHS.(*syntax.CallExpr)
	to, isName := a.LHS.(*syntax.Ident)
	if !isCall || !isName {
		return ""
	}
	if fn, is := call.Fn.(*syntax.Ident); is && fn.Name == "network" {
		return to.Name
	}
	return ""
}

// scriptText is the program as a script. The network has its seed.
func (p *program) scriptText(header string) string {
	var out strings.Builder
	out.WriteString(header)
	for _, s := range p.statements {
		text := s.text
		if !s.drawn && strings.Contains(text, "network(") && !strings.HasPrefix(text, "def ") {
			if seedGiven().MatchString(text) {
				text = seedGiven().ReplaceAllString(text, fmt.Sprintf("seed = %d", p.seed))
			} else {
				text = strings.Replace(text, "network(", fmt.Sprintf("network(seed = %d, ", p.seed), 1)
			}
			text = p.addSettings(text)
		}
		out.WriteString(text + "\n")
	}
	return strings.ReplaceAll(out.String(), ", )", ")")
}

// addSettings adds the program's parameters to the statement that makes the network, but those that it states itself.
func (p *program) addSettings(text string) string {
	var all []string
	for i, one := range p.settings {
		key, _, _ := strings.Cut(one, ":")
		isKey := func(other string) bool { return strings.HasPrefix(other, key) }
		if !strings.Contains(text, key) && !slices.ContainsFunc(p.settings[:i], isKey) {
			all = append(all, one)
		}
	}
	switch at := paramsGiven().FindStringIndex(text); {
	case len(all) == 0:
		return text
	case at != nil:
		return text[:at[1]] + strings.Join(all, ", ") + ", " + text[at[1]:]
	}
	return strings.Replace(text, "network(", "network(params = {"+strings.Join(all, ", ")+"}, ", 1)
}

// findStatement is the index of the statement at a line of the script, which begins with 1 and has no header; -1 of none.
func (p *program) findStatement(line int) int {
	if line < 1 {
		return -1
	}
	for i, s := range p.statements {
		if line -= 1 + strings.Count(s.text, "\n"); line <= 0 {
			return i
		}
	}
	return -1
}

// findEnd is the index at which the ending begins. A repair may have left out some of it, or all.
func (p *program) findEnd() int {
	if end := slices.IndexFunc(p.statements, func(s statement) bool { return s.isEnding }); end >= 0 {
		return end
	}
	return len(p.statements)
}

// countLines counts the lines of the script.
func (p *program) countLines() (n int) {
	for _, s := range p.statements {
		n += 1 + strings.Count(s.text, "\n")
	}
	return n
}

// copyProgram returns a copy.
func (p *program) copyProgram() *program {
	return &program{slices.Clone(p.statements), p.seed, slices.Clone(p.settings)}
}
