package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
	})
}

// TestScripts is what a person types and reads. A script is one file of
// testdata/script; its first lines say what is interesting in it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			root, err := repository()
			if err != nil {
				return err
			}
			e.Setenv("ACTORS", root+"/fixtures/actors")
			// A network of one run must never be found by another's commands.
			e.Setenv("DEVNET_HTTP", "")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":  await,
			"finish": finish,
			"exit":   exit,
		},
	})
}
