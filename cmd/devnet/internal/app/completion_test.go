package app

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

func TestCompletionOffersCommandsFlagsAndElseNothing(t *testing.T) {
	for _, c := range []struct {
		words     []string
		some, not []string // among the candidates, and not among them; neither: no candidate at all
	}{
		{[]string{""}, []string{"up", "actor", "version"}, []string{"--help"}},
		{[]string{"ac"}, []string{"actor", "account"}, []string{"up"}},
		{[]string{"actor", ""}, []string{"deploy", "new"}, []string{"up"}},
		{[]string{"actor", "de"}, []string{"deploy"}, []string{"new"}},
		{[]string{"actor", "new", "--"}, []string{"--style", "--out", "--json", "--help"}, []string{"--from"}},
		{[]string{"actor", "new", "--style", ""}, nil, nil},
		{[]string{"actor", "new", "tally"}, nil, nil},
		{[]string{"run", "--", "--"}, nil, nil},
		{[]string{"nosuch", "--xyz"}, nil, nil},
		{nil, nil, nil},
	} {
		var names []string
		for _, found := range completionCandidates(newApp(io.Discard, io.Discard), c.words) {
			names = append(names, found.name)
		}
		if c.some == nil && len(names) > 0 {
			t.Errorf("%q offers %q, want nothing", c.words, names)
		}
		for _, name := range c.some {
			if !slices.Contains(names, name) {
				t.Errorf("%q offers %q, without %s", c.words, names, name)
			}
		}
		for _, name := range c.not {
			if slices.Contains(names, name) {
				t.Errorf("%q offers %s", c.words, name)
			}
		}
	}
}

// Every command and flag is reached by its own first letters.
func TestCompletionOffersEveryCommandOfHelp(t *testing.T) {
	app := newApp(io.Discard, io.Discard)
	for _, c := range app.Commands {
		list := completionCandidates(app, []string{c.Name})
		if !c.Hidden && !slices.ContainsFunc(list, func(found topic) bool { return found.name == c.Name }) {
			t.Errorf("%s is not offered", c.Name)
		}
		for _, sub := range c.Subcommands {
			if !sub.Hidden && !slices.ContainsFunc(completionCandidates(app, []string{c.Name, sub.Name}),
				func(found topic) bool { return found.name == sub.Name }) {
				t.Errorf("%s %s is not offered", c.Name, sub.Name)
			}
		}
	}
}

// asked are shell lines that load a script and print the candidates of "devnet actor de".
var asked = map[string]string{
	"bash": `. "$0"; COMP_WORDS=(devnet actor de); COMP_CWORD=2; _devnet; printf '%s\n' "${COMPREPLY[@]}"`,
	"zsh": `_describe() { print -l -- $found; }; _files() { print files; }; compdef() { :; }; . "$0"
		words=(devnet actor de); CURRENT=3; _devnet`,
	"fish": `source $argv[1]; complete -C 'devnet actor de'`,
}

// Each script asks the binary for the words up to the cursor. A shell that is not installed is left out.
func TestEachShellsScriptAsksTheBinary(t *testing.T) {
	dir := t.TempDir()
	binary := "#!/bin/sh\nprintf '%s\\n' \"$*\" >\"$ASKED\"\nprintf 'deploy\\tput a file on the chain\\n'\n"
	if err := os.WriteFile(filepath.Join(dir, "devnet"), []byte(binary), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("the shell is not installed: " + shell)
			}
			var out bytes.Buffer
			if code := Run([]string{"devnet", "completion", shell}, &out, &out); code != failure.ExitDone {
				t.Fatalf("exit code %d: %s", code, &out)
			}
			script, words := filepath.Join(dir, "script."+shell), filepath.Join(dir, "asked."+shell)
			if err := os.WriteFile(script, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, "-c", asked[shell], script)
			command.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "ASKED="+words, "HOME="+dir)
			said, err := command.CombinedOutput()
			if err != nil || !strings.Contains("\n"+string(said), "\ndeploy") {
				t.Errorf("%v, and it offers %q", err, said)
			}
			if got, err := os.ReadFile(words); err != nil || string(got) != "__complete actor de\n" {
				t.Errorf("the binary was asked %q (%v)", got, err)
			}
		})
	}
}
