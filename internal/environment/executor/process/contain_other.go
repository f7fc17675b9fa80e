//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// containProcess makes the program a process group. It ends when its standard input does,
// if it reads that.
func containProcess(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a program that was started, and its group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// awaitEnd does nothing here. A program whose output has ended usually ends itself;
// one that continues without output is killed.
func awaitEnd(_ *exec.Cmd) {}

// limitMemory does nothing: a process cannot bound another here (docs/RUNNERS.md).
func limitMemory(_ int, _ uint64) error { return nil }

// endStrays does nothing: the environment of other processes is not known here.
func endStrays(_ string) {}
