package docs

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rowsOnly = flag.String("rows", "", "the lines of SPEC.md whose rows are to be run, with commas between; default: all")

// span is the place of a function in a file of the module.
type span struct {
	file        string
	first, last int // lines, both included
}

// functions are the functions and methods of a package, by the names of SPEC.md.
func functions(files fs.FS, dir string) map[string]span {
	found := map[string]span{}
	entries, _ := fs.ReadDir(files, dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := fs.ReadFile(files, path.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, e.Name(), text, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				found[receiver(f)+f.Name.Name] = span{path.Join(dir, e.Name()), set.Position(f.Body.Pos()).Line, set.Position(f.Body.End()).Line}
			}
		}
	}
	return found
}

// ran reports whether a profile of the coverage has a statement of a function that
// was run.
func ran(profile string, f span) bool {
	for line := range strings.Lines(profile) {
		at, ok := strings.CutPrefix(line, module+f.file+":")
		if !ok {
			continue
		}
		var first, last, column, statements, count int
		if _, err := fmt.Sscanf(at, "%d.%d,%d.%d %d %d", &first, &column, &last, &column, &statements, &count); err == nil &&
			count > 0 && first >= f.first && last <= f.last {
			return true
		}
	}
	return false
}

// A profile shows which function ran, and which did not.
func TestAFunctionThatDidNotRunIsFound(t *testing.T) {
	files := os.DirFS("testdata/reach")
	all := functions(files, ".")
	profile := "mode: set\n" + module + "reach.go:7.20,9.2 1 1\n" + module + "reach.go:11.22,13.2 1 0\n"
	for name, want := range map[string]bool{"Ran": true, "T.Idle": false, "T.Behind": false} {
		at, known := all[name]
		if !known || ran(profile, at) != want {
			t.Errorf("%s at %+v ran: %v, want %v", name, at, ran(profile, at), want)
		}
	}
}

// coverer runs single tests and keeps what they cover.
type coverer struct {
	t        *testing.T
	packages []string          // whose code rows name
	binaries map[string]string // by the tests' package
	profiles map[string]string // by package and test
}

// profile is what one test covers, or the transcripts of a package.
func (c *coverer) profile(dir, test string) string {
	key := dir + " " + test
	if p, known := c.profiles[key]; known {
		return p
	}
	binary, known := c.binaries[dir]
	if !known {
		binary = filepath.Join(c.t.TempDir(), "cover.test")
		build := exec.Command("go", "test", "-c", "-vet=off", "-cover", "-coverpkg="+strings.Join(c.packages, ","), "-o", binary, "./"+dir)
		build.Dir, build.Env = top, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			c.t.Fatalf("%s: %v\n%s", dir, err, out)
		}
		c.binaries[dir] = binary
	}
	into := filepath.Join(c.t.TempDir(), "profile")
	run := exec.Command(binary, "-test.run", "^"+test+"$", "-test.timeout", "20m", "-test.coverprofile", into)
	run.Dir = filepath.Join(top, filepath.FromSlash(dir))
	run.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "DEVNET_SOAK=") })
	if out, err := run.CombinedOutput(); err != nil {
		c.t.Errorf("%s.%s: %v\n%s", dir, test, err, out[max(0, len(out)-2000):])
	}
	data, _ := os.ReadFile(into)
	c.profiles[key] = string(data)
	return string(data)
}

// testsOf is what to run for a name in a test cell: a test, or those that read the
// test data, which are transcripts.
func testsOf(s *sources, name string) (dir, test string) {
	dir = packageOfTest(s, name)
	switch {
	case !s.exists(name):
		_, test = split(name)
	case dir == scenarioPackage:
		test = "TestSeedsOfTheLibrary/" + path.Base(name)
	case strings.Contains(name, "testdata/transcripts/"):
		test = "TestTranscripts"
	default:
		test = "Test.*"
	}
	return dir, test
}

// Each function that a row names runs when the row's tests do. Other names of rows,
// and Python, are not judged here.
//
//	DEVNET_SOAK=1 go test ./docs -run SoakRows -v -rows 41,118
func TestSoakRowsReachTheirCode(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("each test of SPEC.md is run for its coverage; DEVNET_SOAK=1 asks for it")
	}
	text, err := os.ReadFile("SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	s, rows := newSources(checkout()), parse(string(text)).rows
	c := coverer{t: t, binaries: map[string]string{}, profiles: map[string]string{}}
	known := map[string]map[string]span{}
	for _, r := range rows {
		for _, code := range namesOf(r.cells[min(2, len(r.cells)-1)]) {
			if dir, _ := split(code); s.pkg(dir) != nil && known[dir] == nil {
				known[dir] = functions(checkout(), dir)
				c.packages = append(c.packages, "./"+dir)
			}
		}
	}
	judged := 0
	for _, r := range rows {
		if len(r.cells) < 4 || r.cells[3] == none || *rowsOnly != "" && !slices.Contains(strings.Split(*rowsOnly, ","), fmt.Sprint(r.line)) {
			continue
		}
		for _, code := range namesOf(r.cells[2]) {
			dir, name := split(code)
			at, isFunction := known[dir][name]
			if !isFunction {
				continue
			}
			judged++
			if !slices.ContainsFunc(namesOf(r.cells[3]), func(test string) bool { return ran(c.profile(testsOf(s, test)), at) }) {
				t.Errorf("line %d, %s: no test of the row runs %s", r.line, r.cells[0], code)
			}
		}
	}
	if judged == 0 {
		t.Error("no row names a function")
	}
	t.Logf("%d functions that rows name were looked for", judged)
}
