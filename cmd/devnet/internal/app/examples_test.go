package app

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// exampleID is a word of an example that differs from run to run.
var exampleID = regexp.MustCompile(`\$FOUND|0x[0-9a-f]+…?|0x…`)

// plainExample takes out quotes, and the kind of node that a fault may leave out.
var plainExample = strings.NewReplacer("'", "", `"`, "", "devnet fault validator ", "devnet fault ", "devnet fault runner ", "devnet fault ")

// typedElsewhere are the examples that need more than an empty folder, with the script that
// types them.
var typedElsewhere = map[string]string{
	"devnet debug ID --dap":                      "debug_editor.txtar",
	"devnet node runner --config r9.toml":        "noderunner.txtar",
	"devnet node validator --config net/v0.toml": "node_validator.txtar",
	"devnet node health --config net/v0.toml":    "node_validator.txtar",
	"devnet node seeded --name":                  "node_validator.txtar",
	"devnet runner join --public-key":            "jobs.txtar",
	"devnet step --":                             "hold.txtar",
}

func TestEveryExampleOfHelpIsTyped(t *testing.T) {
	script := func(name string) string {
		found, err := filepath.Glob("../script/*/testdata/" + name)
		if err != nil || len(found) != 1 {
			t.Fatalf("%s is in %q (%v)", name, found, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return exampleID.ReplaceAllString(plainExample.Replace(string(text)), "ID")
	}
	typed, seen := script("examples.txtar"), 0
	var visit func(commands []*cli.Command)
	visit = func(commands []*cli.Command) {
		for _, c := range commands {
			for _, line := range strings.Split(c.Description, "\n") {
				example, is := strings.CutPrefix(line, "Example: ")
				if !is {
					continue
				}
				seen++
				plain := exampleID.ReplaceAllString(plainExample.Replace(example), "ID")
				if strings.Contains(typed, plain+"\n") || strings.Contains(typed, plain+" ") {
					continue
				}
				there := false
				for begins, name := range typedElsewhere {
					there = there || strings.HasPrefix(plain, begins) && strings.Contains(script(name), begins)
				}
				if !there {
					t.Errorf("no script types the example %q of %s", example, c.Name)
				}
			}
			visit(c.Subcommands)
		}
	}
	visit(newApp(io.Discard, io.Discard).Commands)
	if seen < 90 {
		t.Errorf("only %d examples were found", seen)
	}
}
