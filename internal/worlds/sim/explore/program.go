package explore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// program is a script as its top-level statements, into which others are put.
type program struct {
	statements []statement
	seed       uint64
}

// statement is one of the top level, with its lines.
type statement struct {
	text  string
	drawn bool // by the search; otherwise it stands in the script
}

// base is the script that is explored.
type base struct {
	name       string // of the network's variable
	folder     string // where its programs are run, for the files that they load
	statements []statement
	opens      int // which statement makes the network
}

var (
	dialect   = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}
	seedGiven = regexp.MustCompile(`\bseed\s*=\s*[0-9]+`)
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
		b.statements = append(b.statements, statement{text: strings.TrimRight(strings.Join(lines[from.Line-1:last], "\n"), "\n \t")})
		if name := networkOf(one); name != "" && b.opens < 0 {
			b.name, b.opens = name, len(b.statements)-1
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
			if seedGiven.MatchString(text) {
				text = seedGiven.ReplaceAllString(text, fmt.Sprintf("seed = %d", p.seed))
			} else {
				text = strings.Replace(text, "network(", fmt.Sprintf("network(seed = %d, ", p.seed), 1)
			}
		}
		out.WriteString(text + "\n")
	}
	return strings.ReplaceAll(out.String(), ", )", ")")
}

// countLines counts the lines of the script.
func (p *program) countLines() (n int) {
	for _, s := range p.statements {
		n += 1 + strings.Count(s.text, "\n")
	}
	return n
}

// copyProgram returns a copy.
func (p *program) copyProgram() *program { return &program{slices.Clone(p.statements), p.seed} }
