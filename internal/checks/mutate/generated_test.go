package mutate

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	generated = flag.Int("generated", 40, "generated mutants of each package")
	drawn     = flag.Uint64("drawn", 1, "the seed by which they are drawn")
	among     = flag.String("among", "", "the packages to take, with commas between; default: all of judged")
)

// judged are the packages of which mutants are generated, and whose tests judge them, after
// their own.
var judged = []struct {
	pkg     string
	further []string
}{
	{"validators", []string{"./internal/worlds/sim"}}, // whose campaigns are tests of a validator's roles
	{"validators/simplex", []string{"./validators"}},
	{"validators/ledger", []string{"./validators", "./internal/worlds/sim"}},
	{"validators/catchup", []string{"./validators", "./internal/worlds/sim"}},
	{"validators/gateway", []string{"./validators", "./internal/worlds/sim"}},
	{"validators/mempool", []string{"./validators"}},
	{"validators/rations", []string{"./validators"}},
	{"scheduler", []string{"./validators/ledger"}},
	{"scheduler/calendar", []string{"./scheduler"}},
	{"actors/system", []string{"./validators/ledger"}},
	{"internal/environment/store/log", nil},
}

// site is a place of a source that can be changed, and how.
type site struct {
	file, line string // the line's text, without space around it
	number     int
	change     string // as in "< becomes <="
	apply      func()
	undo       func()
}

// String names a site as testdata/equal.txt does.
func (s *site) String() string { return fmt.Sprintf("%s: %s: %s", s.file, s.change, s.line) }

// swapped are operators and what takes their place.
var swapped = map[token.Token]token.Token{token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS,
	token.GTR: token.GEQ, token.GEQ: token.GTR, token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD}

// findSites lists the sites of a parsed file. Words for people are none.
func findSites(file *ast.File) (all []site) {
	add := func(change string, apply, undo func()) *site {
		all = append(all, site{change: change, apply: apply, undo: undo})
		return &all[len(all)-1]
	}
	var walk func(ast.Node) bool
	at := token.NoPos
	note := func(before int, pos token.Pos) {
		for i := before; i < len(all); i++ {
			if all[i].number == 0 {
				all[i].number = int(pos)
			}
		}
	}
	walk = func(n ast.Node) bool {
		before := len(all)
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Name.Name != "String" && n.Name.Name != "Error" && n.Body != nil
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.CallExpr:
			if isForPeople(n) {
				return false
			}
		case *ast.BinaryExpr:
			if to, is := swapped[n.Op]; is && !isText(n) {
				from := n.Op
				add(fmt.Sprintf("%s becomes %s", from, to), func() { n.Op = to }, func() { n.Op = from })
			}
			at = n.OpPos
		case *ast.IfStmt:
			cond := n.Cond
			add("the condition is negated", func() { n.Cond = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: cond}} },
				func() { n.Cond = cond })
			at = n.Pos()
		case *ast.BlockStmt:
			for i, stmt := range n.List {
				if isDroppable(stmt) {
					add("the statement is left out", func() { n.List[i] = &ast.EmptyStmt{Implicit: true} }, func() { n.List[i] = stmt })
					note(before, stmt.Pos())
				}
			}
			return true
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				from := n.Name
				to := strconv.FormatBool(from == "false")
				add(from+" becomes "+to, func() { n.Name = to }, func() { n.Name = from })
			}
			at = n.Pos()
		case *ast.BasicLit:
			if v, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
				from, to := n.Value, strconv.Itoa(v+1)
				add(from+" becomes "+to, func() { n.Value = to }, func() { n.Value = from })
			}
			at = n.Pos()
		}
		note(before, at)
		return true
	}
	ast.Inspect(file, walk)
	return all
}

// isForPeople reports whether a call only makes words.
func isForPeople(call *ast.CallExpr) bool {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, is := f.X.(*ast.Ident); is && (x.Name == "fmt" || x.Name == "errors" || x.Name == "refusal") {
			return true
		}
	}
	return slices.Contains([]string{"panic", "invalid", "refuse", "Warn", "Info", "Error", "Debug", "report"}, name)
}

// isText reports whether a sum joins texts.
func isText(n *ast.BinaryExpr) bool {
	for _, side := range []ast.Expr{n.X, n.Y} {
		if l, is := side.(*ast.BasicLit); is && l.Kind == token.STRING && n.Op == token.ADD {
			return true
		}
	}
	return false
}

// isDroppable reports whether a block may compile without a statement.
func isDroppable(stmt ast.Stmt) bool {
	switch s := stmt.(type) {
	case *ast.ExprStmt:
		call, is := s.X.(*ast.CallExpr)
		return is && !isForPeople(call)
	case *ast.AssignStmt:
		return s.Tok != token.DEFINE
	case *ast.IncDecStmt:
		return true
	}
	return false
}

// source is a parsed file of a package.
type source struct {
	path  string // from the module's root
	set   *token.FileSet
	file  *ast.File
	lines []string
	sites []site
}

// readSources parses a package, without its tests.
func readSources(t *testing.T, pkg string) (all []source) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "doc.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		s := source{path: filepath.ToSlash(filepath.Join(pkg, filepath.Base(path))), set: set, file: file,
			lines: strings.Split(string(text), "\n")}
		s.sites = findSites(file)
		for i := range s.sites {
			one := &s.sites[i]
			one.file, one.number = s.path, set.Position(token.Pos(one.number)).Line
			one.line = strings.TrimSpace(s.lines[one.number-1])
		}
		all = append(all, s)
	}
	return all
}

// write prints the file with one site changed, and returns the overlay of it.
func (s *source) write(one *site, dir string) (string, error) {
	one.apply()
	defer one.undo()
	var text bytes.Buffer
	if err := format.Node(&text, s.set, s.file); err != nil {
		return "", err
	}
	changed := filepath.Join(dir, "changed.go")
	path, err := filepath.Abs(filepath.Join(root, s.path))
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, errorsOf(os.WriteFile(changed, text.Bytes(), 0o600),
		os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace": {%q: %q}}`, path, changed), 0o600))
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// readEqual reads the mutants that change nothing anybody could notice, each with its reason
// on the line before it.
func readEqual(t *testing.T) map[string]bool {
	t.Helper()
	f, err := os.Open("testdata/equal.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); line != "" && line[0] != '#' {
			all[line] = true
		}
	}
	return all
}

// Mutants that are named as equal are mutants of the sources as they are.
func TestEqualMutantsAreOfTheSources(t *testing.T) {
	left := readEqual(t)
	for _, one := range judged {
		for _, s := range readSources(t, one.pkg) {
			for i := range s.sites {
				delete(left, s.sites[i].String())
			}
		}
	}
	for name := range left { // order: each by itself
		t.Errorf("testdata/equal.txt names no mutant of the sources: %s", name)
	}
}

// survives reports whether no suite fails on an overlay; compiles is false if there is no
// program.
func survives(t *testing.T, overlay string, packages ...string) (lives, compiles bool) {
	t.Helper()
	for _, pkg := range packages {
		command := exec.Command("go", "test", "-vet=off", "-count=1", "-failfast", "-timeout", "5m", "-overlay", overlay, pkg)
		command.Dir = root
		command.Env = quickEnvironment()
		out, err := command.CombinedOutput()
		switch {
		case err == nil:
		case bytes.Contains(out, []byte("[build failed]")):
			return false, false
		default:
			return false, true
		}
	}
	return true, true
}

// quickEnvironment is the environment without the wish for long tests.
func quickEnvironment() []string {
	isSoak := func(v string) bool { return strings.HasPrefix(v, "DEVNET_SOAK=") }
	return append(slices.DeleteFunc(os.Environ(), isSoak), "CGO_ENABLED=0")
}

// Generated faults are noticed: those that are not are printed, and named in testdata/equal.txt
// or killed by a test of meaning.
//
//	DEVNET_SOAK=1 go test ./internal/checks/mutate -run GeneratedMutants -v -generated 40 -among scheduler -drawn 7
func TestSoakGeneratedMutants(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("the tests are run once for each mutant; DEVNET_SOAK=1 asks for it")
	}
	equal := readEqual(t)
	wanted := strings.FieldsFunc(*among, func(r rune) bool { return r == ',' })
	for _, one := range judged {
		if len(wanted) > 0 && !slices.Contains(wanted, one.pkg) {
			continue
		}
		sources := readSources(t, one.pkg)
		type place struct{ source, site int }
		var places []place
		for i := range sources {
			for k := range sources[i].sites {
				places = append(places, place{i, k})
			}
		}
		rng := rand.New(rand.NewPCG(*drawn, 41))
		rng.Shuffle(len(places), func(i, k int) { places[i], places[k] = places[k], places[i] })
		made, killed, named, left := 0, 0, 0, 0
		for _, p := range places {
			if made == *generated {
				break
			}
			s := &sources[p.source]
			site := &s.sites[p.site]
			overlay, err := s.write(site, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if equal[site.String()] {
				made, named = made+1, named+1
				continue
			}
			lives, compiles := survives(t, overlay, append([]string{"./" + one.pkg}, one.further...)...)
			switch {
			case !compiles:
			case lives:
				made, left = made+1, left+1
				t.Errorf("left: %s (line %d)", site, site.number)
			default:
				made, killed = made+1, killed+1
			}
		}
		t.Logf("%s: of %d places %d made, %d killed, %d equal, %d left", one.pkg, len(places), made, killed, named, left)
	}
}
