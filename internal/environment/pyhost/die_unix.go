//go:build unix

package pyhost

import (
	"os/exec"
	"syscall"
)

// kill ends a fork server that was started and its child. The group's number is
// in use as long as either lives.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// inGroup reports whether a process is in the group of a fork server.
func inGroup(pid int, cmd *exec.Cmd) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && pid > 0 && group == cmd.Process.Pid
}

// gone reports whether a child has ended and its fork server has seen it.
func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

// killOne ends the child of a fork server that has not waited for it yet.
func killOne(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
