// Package self is what this program knows of itself: its name, its version, and how it is started again.
package self

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// ProgramName is how this binary was called, so that commands in help and messages can be
// typed unchanged. A binary that the shell finds by PATH goes by its name, and one
// built by go run by the installed name.
var ProgramName = sync.OnceValue(func() string { return programNameOf(os.Args[0]) })

func programNameOf(as string) string {
	name := filepath.Base(as)
	if found, err := exec.LookPath(name); err == nil && (as == name || as == found) {
		return name
	}
	if strings.Contains(as, "go-build") {
		return "devnet"
	}
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(as) {
		if short, err := filepath.Rel(here, as); err == nil && !strings.HasPrefix(short, "..") {
			as = short
		}
	}
	if !strings.ContainsRune(as, filepath.Separator) {
		as = "." + string(filepath.Separator) + as
	}
	return as
}

// CommandNames are the names of all commands. The list of commands sets it before any runs.
var CommandNames []string

// CommandLine finds the commands that a text advises.
var CommandLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^-./\w])devnet (COMMAND|--help|` + strings.Join(CommandNames, "|") + `)\b`)
})

// ReplaceName puts how this binary was called into the commands of a text.
func ReplaceName(text string) string {
	if ProgramName() == "devnet" {
		return text
	}
	return CommandLine().ReplaceAllString(text, "${1}"+strings.ReplaceAll(ProgramName(), "$", "$$")+" ${2}")
}
