//go:build unix

package pyhost

import (
	"os/exec"
	"syscall"
)

// readNiceness is how much nicer a host of reads is than this process. Beside a busy host of blocks
// it has a tenth of a processor. mostNiceness is the largest of a system.
const (
	readNiceness = 10
	mostNiceness = 19
)

// yieldTo has a process wait for other work of the machine. Its later children inherit that. A system
// that refuses it runs the process like all others.
//
// Spec: decision C18.
func yieldTo(pid int) {
	own, err := nicenessOf(0)
	if err == nil {
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, pid, min(own+readNiceness, mostNiceness))
	}
}

// killGroup ends a fork server that was started and its child. The group's number is
// in use as long as either lives.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// inGroup reports whether a process is in the group of a fork server.
func inGroup(pid int, cmd *exec.Cmd) bool {
	group, err := syscall.Getpgid(pid)
	return err == nil && pid > 0 && group == cmd.Process.Pid
}

// hasGone reports whether a child has ended and its fork server has seen it.
func hasGone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }

// killOne ends the child of a fork server that has not waited for it yet.
func killOne(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
