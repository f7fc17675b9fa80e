//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// contain makes the program a process group. It ends when its standard input does,
// if it reads that.
func contain(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// kill ends a program that was started, and its group.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// await does nothing here. A program whose output has ended usually ends itself;
// one that continues without output is killed.
func await(_ *exec.Cmd) {}

// limit does nothing: a process cannot bound another here (docs/RUNNERS.md).
func limit(_ int, _ uint64) error { return nil }

// endStrays does nothing: the environment of other processes is not known here.
func endStrays(_ string) {}
