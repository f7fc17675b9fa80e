// Package author has the commands of authors who test and debug their actors on simulated networks.
package author

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/coverage"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
)

// Programs for Python to run. The tests' folder comes after Python's own in the
// import path: an actor may be called token.py, like one of Python's files.
const (
	// Python collects no garbage while it imports, and never what was imported: there is none.
	runPytest = "import gc, os, sys\n" +
		"gc.disable()\n" +
		"try: import pytest\n" +
		"except ModuleNotFoundError as e: sys.exit(%d) if e.name == 'pytest' else None; raise\n" +
		"gc.freeze(); gc.enable()\n" +
		"sys.path.append(os.getcwd()); sys.exit(pytest.main(sys.argv[1:]))"
	runUnittest = "import collections, os, sys, unittest, unittest.main; sys.path.append(os.getcwd()); " +
		"r = unittest.main(module=None, argv=['devnet test --unittest'] + sys.argv[1:], exit=False).result; " +
		"[print('skipped %d: %s' % (n, why), file=sys.stderr) for why, n in collections.Counter(w for _, w in r.skipped).items()]; " +
		"sys.exit(1 if not r.wasSuccessful() else 0 if r.testsRun or r.skipped else 5)"
)

// maxTestSeeds bounds --seeds: each repeats every test.
const maxTestSeeds = 100_000

// endPatience is how long tests that were interrupted may take to end.
const endPatience = 10 * time.Second

// TestCommand is the command test.
func TestCommand() *cli.Command {
	return &cli.Command{Name: "test", Usage: "run the tests of actors, on simulated networks", ArgsUsage: "[PATH…] [-- PYTEST-ARGUMENT…]",
		Description: "Example: devnet test --unittest try/suites -k transfer\ndevnet examples try writes the folder try.\n" +
			"Runs pytest with cowboy_sdk.testing and its fixture chain; docs/ACTORS.md describes how to write tests.\n" +
			"Exit code 1 when a test fails, 2 when the tests cannot be read, 3 when there is no Python or no pytest.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "k", Usage: "run the tests whose names match `EXPR`"},
			&cli.StringFlag{Name: "seed", Usage: "the seed `N` of the networks, or the first of them (default: 1)"},
			&cli.StringFlag{Name: "seeds", Usage: "run each test with `N` seeds; needs pytest"},
			&cli.BoolFlag{Name: "hold", Usage: "stop at each failed test, and serve its network where it failed; needs pytest"},
			&cli.BoolFlag{Name: "gas-report", Usage: "list what each handler cost"},
			&cli.StringFlag{Name: "snapshot", Usage: "fail where costs differ from `FILE`; write it where it is missing"},
			&cli.BoolFlag{Name: "coverage", Usage: "say which lines and branches of the deployed files ran"},
			&cli.StringFlag{Name: "coverage-out", Usage: "write the same to `FILE`: JSON if its name ends in .json, otherwise lcov"},
			&cli.BoolFlag{Name: "unittest", Usage: "run them with unittest, which every Python has"},
			&cli.BoolFlag{Name: "watch", Usage: "run them again when a Python file below changes"},
			&cli.StringFlag{Name: "http", Usage: "run them on the live network at `HOST:PORT`, one after another"},
			&cli.StringFlag{Name: "python", Usage: "the Python `FILE` that runs the tests (default: the python3 on PATH)"},
		},
		Action: testActors}
}

// tests is what devnet test was asked for.
type tests struct {
	sdk
	words       []string // arguments of the command after the interpreter
	environment []string
	paths       []string
	more        []string    // of the runner of tests, as they were given
	bench       *begunBench // for the first run; nil: it begins one
	coverage    bool
	coverageOut string // a file, or ""
}

func testActors(c *cli.Context) error {
	t, err := readTesting(c)
	if t != nil {
		defer func() {
			t.bench.awaitEnd()
			t.remove()
		}()
	}
	if err != nil {
		return err
	}
	if c.Bool("watch") {
		return t.watchFiles(c)
	}
	return t.runTests(c)
}

func readTesting(c *cli.Context) (*tests, error) {
	seed, seeds, err := testSeeds(c)
	if err != nil {
		return nil, err
	}
	t := &tests{coverageOut: c.String("coverage-out")}
	t.coverage = c.Bool("coverage") || t.coverageOut != ""
	if t.coverage && c.IsSet("http") {
		return nil, failure.NewUsage("Leave out --http, or --coverage.", "coverage needs simulated networks: a live one does not report lines")
	}
	if c.Bool("hold") && (c.IsSet("http") || c.Bool("watch")) {
		return nil, failure.NewUsage("Leave out --hold, or --http and --watch.", "--hold: a simulated network is held, in one run of the tests")
	}
	for i, path := range c.Args().Slice() {
		if strings.HasPrefix(path, "-") {
			t.more = c.Args().Slice()[i:]
			break
		}
		file, _, _ := strings.Cut(path, "::")
		if _, err := os.Stat(file); err != nil && (!c.Bool("unittest") || isPath(path)) {
			return nil, failure.CausedBy(err, failure.NewUsage("Name a file or folder of tests, or file.py::test_name.", "cannot read %s: %v", file,
				failure.InnermostCause(err)))
		}
		if filepath.Ext(file) == ".star" {
			return nil, failure.NewUsage("devnet run "+path+" plays it.", "%s is a scenario, and no test of pytest's", file)
		}
		t.paths = append(t.paths, path)
	}
	if c.IsSet("http") {
		if _, err := command.NewClient(c).Accounts(c.Context); err != nil {
			return nil, err // said once, and not by each test
		}
	} else if !t.coverage {
		t.bench = beginBench(nil, c.App.ErrWriter)
	}
	if t.sdk, err = openSDK(c); err != nil {
		return t, err
	}
	executable, err := ownPath()
	if err != nil {
		return t, err
	}
	t.environment = append(os.Environ(), "DEVNET="+executable, "DEVNET_TEST="+self.ShellWords(t.paths), "DEVNET_SEED="+seed,
		"DEVNET_TEST_HTTP="+c.String("http"),
		"PYTHONPATH="+strings.Join(append([]string{t.folder}, filepath.SplitList(os.Getenv("PYTHONPATH"))...), string(os.PathListSeparator)))
	if c.Bool("unittest") {
		err = t.runUnittest(c)
	} else {
		t.usePytest(c, seed, seeds)
	}
	if k := c.String("k"); k != "" {
		t.words = append(t.words, "-k", k)
	}
	t.words = slices.Concat(t.words, t.paths, t.more)
	return t, err
}

// isPath reports that an argument of unittest is not a module's name.
func isPath(word string) bool {
	return strings.HasSuffix(word, ".py") || strings.ContainsRune(word, filepath.Separator)
}

// ownPath is this program by the name that it was started by.
func ownPath() (string, error) {
	found, err := exec.LookPath(os.Args[0])
	if err != nil {
		return os.Executable()
	}
	return filepath.Abs(found)
}

func testSeeds(c *cli.Context) (seed, seeds string, err error) {
	seed, seeds = cmp.Or(c.String("seed"), "1"), cmp.Or(c.String("seeds"), "1")
	if _, err := command.ParseSeed(seed); err != nil {
		return "", "", err
	}
	_, err = command.ParseCount("seeds", "seeds", seeds, maxTestSeeds)
	return seed, seeds, err
}

// sdk is the Python that --python names, and the folder of the modules that devnet gives it.
type sdk struct {
	python, folder string
	remove         func() // what is gone when it is over
}

// openSDK puts what Python imports where caches are kept, or, where this user has no such place,
// into a folder of this run.
func openSDK(c *cli.Context) (s sdk, err error) {
	s.remove = func() {}
	slow := func(words string) { fmt.Fprintf(c.App.ErrWriter, "%s.\n", words) }
	if s.python, err = pyhost.Interpreter(c.String("python"), slow); err != nil {
		return s, failure.NewNoStart("", "%v", err)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		if s.folder, err = pyhost.Unpack(filepath.Join(cache, "devnet")); err == nil {
			return s, nil
		}
	}
	temporary, err := os.MkdirTemp("", "devnet-test-")
	if err == nil {
		s.remove = func() { os.RemoveAll(temporary) }
		s.folder, err = pyhost.Unpack(temporary)
	}
	if err != nil {
		return s, failure.NewNoStart("", "the SDK cannot be unpacked: %v", err)
	}
	return s, nil
}

func (t *tests) usePytest(c *cli.Context, seed, seeds string) {
	t.words = []string{"-P", "-c", fmt.Sprintf(runPytest, pytestMissing), "-p", "cowboy_sdk.testing.plugin", "--devnet-seed", seed,
		"--devnet-seeds", seeds}
	if c.Bool("hold") {
		t.words = append(t.words, "--devnet-hold")
	}
	if c.Bool("gas-report") {
		t.words = append(t.words, "--devnet-gas-report")
	}
	if file := c.String("snapshot"); file != "" {
		t.words = append(t.words, "--devnet-gas-snapshot", file)
	}
}

// runUnittest runs what is named, or finds the tests below here.
func (t *tests) runUnittest(c *cli.Context) error {
	for _, flag := range []string{"seeds", "gas-report", "snapshot", "hold"} {
		if c.IsSet(flag) {
			return failure.NewUsage("Leave out --unittest, or --"+flag+".", "--%s needs pytest", flag)
		}
	}
	t.words = []string{"-P", "-c", runUnittest}
	if len(t.paths) == 1 {
		// By its folder, since unittest imports a file argument only from there.
		if info, err := os.Stat(t.paths[0]); err == nil && info.IsDir() {
			t.words, t.paths = append(t.words, "discover", "-s", t.paths[0]), nil
		} else if err == nil {
			t.words, t.paths = append(t.words, "discover", "-s", filepath.Dir(t.paths[0]), "-p", filepath.Base(t.paths[0])), nil
		}
	}
	return nil
}

// The exit codes of pytest that are not those of devnet.
const (
	pytestInterrupted = 2
	pytestNoTests     = 5
	pytestMissing     = 117 // exit code of this program, which pytest does not use
)

// runTests runs the tests, which print their own output, and reports their number.
func (t *tests) runTests(c *cli.Context) error {
	if !t.coverage {
		return t.playTests(c, t.environment)
	}
	folder, err := os.MkdirTemp("", "devnet-coverage-")
	if err != nil {
		return failure.NewNoStart("", "cannot make a folder for the results of the tests: %v", err)
	}
	defer os.RemoveAll(folder)
	ended := t.playTests(c, append(slices.Clip(t.environment), coverage.Variable+"="+folder))
	return errors.Join(ended, t.reportCoverage(c, folder))
}

// reportCoverage prints and writes what the tests ran.
func (t *tests) reportCoverage(c *cli.Context, folder string) error {
	pool := pyhost.New(pyhost.Config{Hosts: 1})
	defer pool.Close()
	files, err := coverage.ReadFiles(folder, pool.Points)
	if err != nil {
		return failure.New("", "the coverage cannot be told: %v", err)
	}
	coverage.Print(c.App.Writer, files)
	if t.coverageOut != "" {
		if err := coverage.WriteReport(t.coverageOut, files); err != nil {
			return failure.New("", "the coverage cannot be written: %v", err)
		}
	}
	return nil
}

// playTests runs the tests.
func (t *tests) playTests(c *cli.Context, environment []string) error {
	command := exec.CommandContext(c.Context, t.python, t.words...)
	if t.bench == nil && c.String("http") == "" {
		t.bench = beginBench(environment, c.App.ErrWriter)
	}
	command.Env = slices.Clone(environment)
	t.bench.giveTo(command)
	defer func() {
		t.bench.awaitEnd()
		t.bench = nil
	}()
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, c.App.Writer, c.App.ErrWriter
	// Ctrl-C reaches the tests from the terminal; a signal to this process alone is passed on. They end by themselves and say how.
	command.WaitDelay = endPatience
	command.Cancel = func() error {
		if terminal.IsTerminal(os.Stdin) {
			return nil
		}
		return command.Process.Signal(os.Interrupt)
	}
	err := command.Start()
	t.bench.giveAway()
	if err == nil {
		err = command.Wait()
	}
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &ended):
		return failure.NewNoStart("", "the tests cannot be run: %v", err)
	case ended.ExitCode() == pytestMissing && !c.Bool("unittest"):
		return failure.NewNoStart(fmt.Sprintf("Install it with: %s -m pip install pytest. "+
			"Tests that are unittest's run without it: devnet test --unittest.",
			t.python), "pytest is missing in %s", t.python)
	case ended.ExitCode() == pytestNoTests && c.String("k") != "":
		return failure.New("It is a part of a test's name, or such parts with and, or, not.", "-k %s leaves no test", c.String("k"))
	case ended.ExitCode() == pytestNoTests:
		return failure.New("A test is a function test_… in a file test_….py, or a method of a TestCase.", "no test was found")
	case ended.ExitCode() == pytestInterrupted || ended.ExitCode() == 1 || ended.ExitCode() < 0:
		return &failure.Failure{Code: failure.ExitFailed}
	}
	return &failure.Failure{Code: failure.ExitUsage}
}
