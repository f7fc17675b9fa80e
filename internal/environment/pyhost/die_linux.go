package pyhost

import (
	"os/exec"
	"syscall"
)

// containHost makes the host a process group, which kill ends as a whole and a
// terminal's Ctrl-C does not reach, and has the kernel kill it should this
// process die without a word. Everywhere the host also ends when its standard
// input does.
func containHost(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// nicenessOf is that of a process, of this one for 0. The kernel returns 20 less it.
func nicenessOf(pid int) (int, error) {
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
	return 20 - priority, err
}
