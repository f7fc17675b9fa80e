package pyhost

import (
	"os/exec"
	"syscall"
)

// contain makes the host a process group, which kill ends as a whole and a
// terminal's Ctrl-C does not reach, and has the kernel kill it should this
// process die without a word. Everywhere the host also ends when its standard
// input does.
func contain(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// niceness is that of a process, of this one for 0. The kernel returns 20 less it.
func niceness(pid int) (int, error) {
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	return 20 - priority, err
}
