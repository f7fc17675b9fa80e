package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The refusal comes before anything is compiled, and so is the only error.
func TestABuildForWindowsIsRefusedWithTheRemedy(t *testing.T) {
	load := func(name string) (string, error) {
		command := exec.Command("go", "list", "-deps", name)
		command.Env = append(command.Environ(), "GOOS=windows", "CGO_ENABLED=0")
		said, err := command.CombinedOutput()
		return string(said), err
	}
	said, err := load(".")
	if err == nil || strings.Count(said, "build constraints exclude") != 1 || !strings.Contains(said, "run_it_in_WSL") {
		t.Errorf("a build for Windows ends with %v:\n%s", err, said)
	}
	if said, err := load("github.com/cowboyinc/devnet/client"); err != nil {
		t.Errorf("package client does not load for Windows:\n%s", said)
	}
}
