//go:build unix && !linux

package pyhost

import (
	"os/exec"
	"syscall"
)

// containHost makes the host a process group, which kill ends as a whole and a
// terminal's Ctrl-C does not reach. It ends when its standard input does.
func containHost(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// nicenessOf is that of a process, of this one for 0.
func nicenessOf(pid int) (int, error) { return syscall.Getpriority(syscall.PRIO_PROCESS, pid) }
