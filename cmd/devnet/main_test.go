package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cowboyinc/devnet/internal/faces/scenario"
	simulated "github.com/cowboyinc/devnet/internal/worlds/sim/stage"
)

// TestMain lets scripts run this binary as devnet.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"devnet": func() { os.Exit(run(os.Args, os.Stdout, os.Stderr)) },
		// The same where no other program is found, Python neither.
		"nopython": func() {
			_ = os.Setenv("PATH", "")
			os.Exit(run(os.Args, os.Stdout, os.Stderr))
		},
		// The same where a simulated run depends on the process it is made in.
		"unsteady": func() {
			openSimulated = slower(time.Duration(os.Getpid()))
			os.Exit(run(os.Args, os.Stdout, os.Stderr))
		},
		// The same where only the process that a person starts differs from others.
		"haunted": func() {
			if !slices.Contains(os.Args, "--"+batchFlag) {
				openSimulated = slower(time.Nanosecond)
			}
			os.Exit(run(os.Args, os.Stdout, os.Stderr))
		},
		"webserver": webServer,
		"mcpserver": mcpServer,
	})
}

// slower makes simulated worlds whose links take so much longer.
func slower(by time.Duration) scenario.Open {
	return func(c scenario.Config) (scenario.Backend, error) {
		c.Link.Latency += time.Millisecond + by
		return simulated.Open(c)
	}
}

// TestScripts is what a person types and reads. A script is one file of
// testdata/script; its first lines say what is interesting in it.
func TestScripts(t *testing.T) {
	cache := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			root, err := repository()
			if err != nil {
				return err
			}
			port, err := freePorts(4)
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
			"await":   await,
			"attach":  attachEditor,
			"answers": answers,
			"finish":  finish,
			"exit":    exit,
			"found":   found,
			"fill":    fill,
			"descend": descend,
			"gone":    gone,
			"tidy":    tidy,
		},
	})
}
