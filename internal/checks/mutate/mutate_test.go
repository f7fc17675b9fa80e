// Package mutate holds no code, only tests of the other tests: small faults are
// made in the sources, one at a time, and the tests must notice.
//
// The table is in the files that end in mutants_test.go. A fault is text that replaces other text of one
// file, or of some. The compiler gets it as an overlay, so that no file is
// ever touched. TestEveryMutantApplies sees that the table is true of the sources,
// in no time; TestSoakMutants runs the tests on each mutant, and prints who caught
// it:
//
//	DEVNET_SOAK=1 go test ./internal/checks/mutate -run Mutants -v -timeout 6h
//	DEVNET_SOAK=1 go test ./internal/checks/mutate -run Mutants -v -mutants S33,X04
package mutate

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

var only = flag.String("mutants", "", "the names of the mutants to run, with commas between; default: all")

// root is the module's directory.
const root = "../../.."

// all is the whole table.
var all = slices.Concat(mutants, jobMutants, lateMutants, upgradeMutants)

// mutant is one fault.
type mutant struct {
	name, what string
	edits      []edit
	tests      []suite // of the packages that the fault is in, or that are made to judge it
	further    []suite // the last tests, in addition to worldTests
}

// edit replaces text that is once in a file.
type edit struct{ file, before, after string }

// suite is tests of one package.
type suite struct {
	pkg  string
	run  string   // as for go test; default: all
	args []string // of the test's own flags
}

// The kinds of catching, the best first. A transcript that differs shows a change,
// and not an error; only a test with a law in its name does.
const (
	byUnit       = "unit"
	byModel      = "model"
	byCampaign   = "campaign"
	byScenario   = "scenario"
	byKill       = "live"
	byTranscript = "transcript only"
	byNothing    = "nothing"
)

var (
	transcripts = regexp.MustCompile(`^(TestTranscripts|TestPrices?Table)$`)
	models      = regexp.MustCompile(`Model|Twin|AgreementAndLiveness|Fuzz|Equals`)
	failed      = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	panicked    = regexp.MustCompile(`(?m)^\t(Test\w+) \(`) // under "running tests:"
)

// mutate returns what the files of a mutant become, by path.
func (m *mutant) mutate() (map[string]string, error) {
	files := map[string]string{}
	for _, e := range m.edits {
		text, done := files[e.file]
		if !done {
			data, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		if n := strings.Count(text, e.before); n != 1 {
			return nil, fmt.Errorf("%s holds the text that %s replaces %d times, and must hold it once: change the table\n%s", e.file, m.name, n,
				e.before)
		}
		files[e.file] = strings.Replace(text, e.before, e.after, 1)
	}
	return files, nil
}

// overlay writes the mutant's files into dir, and how the compiler finds them.
func (m *mutant) overlay(dir string) (string, error) {
	files, err := m.mutate()
	if err != nil {
		return "", err
	}
	var replace struct{ Replace map[string]string }
	replace.Replace = map[string]string{}
	for name, text := range files {
		path, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			return "", err
		}
		changed := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace.Replace[path] = changed
	}
	data, err := json.Marshal(replace)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}

// ask runs a suite on a mutant, or with overlay "" on none, and returns the tests that fail, as they failed.
func ask(overlay string, s suite) ([]string, error) {
	args := []string{"test", "-vet=off", "-timeout", "15m"}
	if overlay != "" {
		args = append(args, "-overlay", overlay, "-count=1")
	}
	if s.run != "" {
		args = append(args, "-run", s.run)
	}
	command := exec.Command("go", append(append(args, s.pkg), s.args...)...)
	command.Dir = root
	command.Env = quickEnvironment()
	out, err := command.CombinedOutput()
	if err == nil {
		return nil, nil
	}
	text := string(out)
	var names []string
	for _, found := range append(failed.FindAllStringSubmatch(text, -1), panicked.FindAllStringSubmatch(text, -1)...) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	if len(names) > 0 {
		return names, nil
	}
	return nil, fmt.Errorf("%s: %w\n%s", s.pkg, err, text[max(0, len(text)-2000):])
}

// without remembers which tests of a suite fail without any fault: their verdicts
// do not count.
type without map[string][]string

func (w without) fault(t *testing.T, s suite) []string {
	key := fmt.Sprint(s)
	names, known := w[key]
	if known {
		return names
	}
	names, err := ask("", s)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 0 {
		t.Errorf("without any fault %s fails: %s", s.pkg, strings.Join(names, ", "))
	}
	w[key] = names
	return names
}

// catch asks all that may catch a mutant until a test with a meaning does.
func (m *mutant) catch(t *testing.T, overlay string, sound without) (by, kind string, err error) {
	by, kind = "–", byNothing
	for _, stage := range []struct {
		suites []suite
		kind   string
	}{{m.tests, byUnit}, {worldTests[:1], byCampaign}, {worldTests[1:], byScenario}, {m.further, byKill}} {
		for _, s := range stage.suites {
			names, err := ask(overlay, s)
			if err != nil {
				return "", "", err
			}
			for _, name := range names {
				at := strings.TrimPrefix(s.pkg, "./") + "." + name
				switch {
				case slices.Contains(sound.fault(t, s), name):
				case stage.kind == byUnit && transcripts.MatchString(name):
					by, kind = at, byTranscript
				case stage.kind == byUnit && models.MatchString(name):
					return at, byModel, nil
				default:
					return at, stage.kind, nil
				}
			}
		}
	}
	return by, kind, nil
}

// The table fits the sources: each mutant's replaced text exists exactly once.
func TestEveryMutantApplies(t *testing.T) {
	names := map[string]bool{}
	for i := range all {
		m := &all[i]
		if names[m.name] {
			t.Errorf("there are two mutants %s", m.name)
		}
		names[m.name] = true
		if len(m.tests) == 0 || m.what == "" {
			t.Errorf("%s says not what it is, or who is to judge it", m.name)
		}
		files, err := m.mutate()
		if err != nil {
			t.Error(err)
		}
		for name, text := range files { // order: each is judged by itself
			if data, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(data) == text {
				t.Errorf("%s changes nothing in %s: %v", m.name, name, err)
			}
		}
	}
}

// Every small fault is caught by a test with a meaning: not only by a printed
// transcript.
func TestSoakMutants(t *testing.T) {
	if os.Getenv("DEVNET_SOAK") == "" {
		t.Skip("the tests are run once for each mutant; DEVNET_SOAK=1 asks for it")
	}
	wanted := strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "mutant\tfault\tcaught by\tkind")
	ran, sound := 0, without{}
	for i := range all {
		m := &all[i]
		if len(wanted) > 0 && !slices.Contains(wanted, m.name) {
			continue
		}
		ran++
		overlay, err := m.overlay(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		by, kind, err := m.catch(t, overlay, sound)
		if err != nil {
			t.Errorf("%s could not be judged: %v", m.name, err)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.name, m.what, by, kind)
		t.Logf("%s: %s: %s", m.name, kind, by)
		if kind == byNothing || kind == byTranscript {
			t.Errorf("%s (%s) is caught by %s", m.name, m.what, kind)
		}
	}
	table.Flush()
	if ran == 0 || len(wanted) > 0 && ran != len(wanted) {
		t.Errorf("%d mutants were run, of those named %q", ran, *only)
	}
}
