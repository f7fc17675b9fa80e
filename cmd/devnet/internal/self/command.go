package self

import (
	"os"
	"os/exec"
	"strings"
)

// ShellWords are words as a shell reads them.
func ShellWords(words []string) string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = ShellQuote(word)
	}
	return strings.Join(all, " ")
}

// ShellQuote is a word as a shell reads it.
func ShellQuote(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Command is this program with other arguments, not started.
func Command(args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0] // starting it tells
	}
	command := exec.Command(self)
	command.Args = append([]string{os.Args[0]}, args...)
	return command
}
