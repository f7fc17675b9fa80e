package process

import (
	"os/exec"
	"syscall"
)

// bindToParent makes a node a process group, which a terminal's Ctrl-C does not reach, and has
// the kernel kill it when the thread that started it ends.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
