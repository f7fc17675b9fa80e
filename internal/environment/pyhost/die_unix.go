//go:build unix

package pyhost

import (
	"os/exec"
	"syscall"
)

// kill ends a fork server that was started and its child. The group's number is
// in use as long as either lives.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// killOne ends the child of a fork server that has not waited for it yet.
func killOne(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
