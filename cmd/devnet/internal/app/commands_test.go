package app

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// repository is the top of this source tree.
const repository = "../../../../"

var (
	entered = regexp.MustCompile(`(?m)^(?:\$ )?bin/devnet (.*)$`)
	example = regexp.MustCompile(`(?m)^Example: (?:\S*/)?devnet (.*)$`)
	listed  = regexp.MustCompile(`(?m)^  ([a-z-]+)  `)
	file    = regexp.MustCompile(`fixtures/[a-z_/*.]+`)
)

// README, RUNNING and all help show only commands that exist, with files that exist.
func TestEveryCommandShownIsOne(t *testing.T) {
	help := func(words ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := Run(append(append([]string{"devnet"}, words...), "--help"), &out, &out); code != failure.ExitDone {
			t.Errorf("devnet %s --help: exit code %d\n%s", strings.Join(words, " "), code, &out)
		}
		return out.String()
	}
	checked := 0
	is := func(where, line string) {
		t.Helper()
		checked++
		for _, name := range file.FindAllString(line, -1) {
			if found, _ := filepath.Glob(repository + name); len(found) == 0 {
				t.Errorf("%s: devnet %s names %s, which is not there", where, line, name)
			}
		}
		// --help is answered when all words before it are known; a mistyped flag
		// is found by the flags that help lists.
		text := help(commandOf(line)...)
		for _, flag := range regexp.MustCompile(` (--[a-z-]+)`).FindAllStringSubmatch(line, -1) {
			if !strings.Contains(text, flag[1]) && flag[1] != "--help" {
				t.Errorf("%s: devnet %s has a flag %s that its help does not know:\n%s", where, line, flag[1], text)
			}
		}
	}
	for _, page := range []string{"README.md", "docs/RUNNING.md"} {
		text, err := os.ReadFile(repository + page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range entered.FindAllStringSubmatch(string(text), -1) {
			is(page, m[1])
		}
	}
	var visit func(path []string)
	visit = func(at []string) {
		text := help(at...)
		found := example.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("devnet %s shows no example", strings.Join(at, " "))
		}
		for _, m := range found {
			is("help of devnet "+strings.Join(at, " "), m[1])
		}
		_, list, group := strings.Cut(text, "\nCommands:\n")
		list, _, _ = strings.Cut(list, "\n\n")
		if group {
			for _, m := range listed.FindAllStringSubmatch("\n"+list, -1) {
				visit(append(append([]string{}, at...), m[1]))
			}
		}
	}
	visit(nil)
	if checked < 40 {
		t.Errorf("only %d commands were found", checked)
	}
}

// commandOf is the words of a command line before its flags and files, enough to
// find the command.
func commandOf(line string) (out []string) {
	for _, word := range strings.Fields(line) {
		if !regexp.MustCompile(`^[a-z]+$`).MatchString(word) {
			break
		}
		out = append(out, word)
	}
	return out
}
