// Package script is what the tests of the command line share: devnet as this binary, and the
// commands of scripts besides devnet. The scripts are in two test packages, so that both cores
// have work from the beginning.
package script

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/app"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/run"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/simulated"
)

// Main lets the scripts of a test package run its binary as devnet. Its TestMain calls it.
func Main(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"devnet": func() { os.Exit(app.Run(os.Args, os.Stdout, os.Stderr)) },
		// The same where no other program is found, Python neither.
		"nopython": func() {
			_ = os.Setenv("PATH", "")
			os.Exit(app.Run(os.Args, os.Stdout, os.Stderr))
		},
		// The same where a simulated run depends on the process it is made in.
		"unsteady": func() {
			run.OpenSimulated = slowWorldOpener(time.Duration(os.Getpid()))
			os.Exit(app.Run(os.Args, os.Stdout, os.Stderr))
		},
		// The same where only the process that a person starts differs from others.
		"haunted": func() {
			if !slices.Contains(os.Args, "--"+run.BatchFlag) {
				run.OpenSimulated = slowWorldOpener(time.Nanosecond)
			}
			os.Exit(app.Run(os.Args, os.Stdout, os.Stderr))
		},
		"webserver": webServer,
		"mcpserver": mcpServer,
	})
}

// slowWorldOpener makes simulated worlds whose links take so much longer.
func slowWorldOpener(by time.Duration) scenario.Open {
	return func(c scenario.Config) (scenario.Backend, error) {
		c.Link.Latency += time.Millisecond + by
		return simulated.Open(c)
	}
}

// Run runs the scripts in the folder testdata of the test package. A script is one file: what a person
// types and reads. Its first lines say what is interesting in it.
func Run(t *testing.T) {
	cache := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			root, err := Repository()
			if err != nil {
				return err
			}
			port, err := FreePorts(4)
			if err != nil {
				return err
			}
			e.Setenv("PORT", strconv.Itoa(port))
			e.Setenv("ACTORS", root+"/fixtures/actors")
			e.Setenv("WORKERS", root+"/fixtures/workers")
			e.Setenv("SUITES", root+"/fixtures/suites")
			e.Setenv("DEBUGPY", withDebugpy())
			e.Setenv("TUTORIAL", root+"/scripts/tutorial")
			// One folder for all scripts: Python proves itself once a run. The user's stays as it is.
			e.Setenv("XDG_CACHE_HOME", cache)
			// A network of one run must never be found by another's commands.
			e.Setenv("DEVNET_HTTP", "")
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "pytest":
				return exec.Command("python3", "-c", "import pytest").Run() == nil, nil
			case "debugpy":
				return os.Getenv("DEVNET_DEBUGPY") == "required" || withDebugpy() != "", nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":   awaitOutput,
			"attach":  attachEditor,
			"answers": checkAnswers,
			"finish":  finishDevnet,
			"exit":    checkExit,
			"found":   findLine,
			"fill":    fillVariables,
			"descend": noteDescendants,
			"gone":    awaitDescendantsEnd,
			"tidy":    endNetworkOf,
		},
	})
}
