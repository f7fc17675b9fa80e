//go:build unix && !linux

package pyhost

import (
	"os/exec"
	"syscall"
)

// contain makes the host a process group, which kill ends as a whole and a
// terminal's Ctrl-C does not reach. It ends when its standard input does.
func contain(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// niceness is that of a process, of this one for 0.
func niceness(pid int) (int, error) { return syscall.Getpriority(syscall.PRIO_PROCESS, pid) }
