package pyhost

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the host should this process die without a
// word, and keeps a terminal's Ctrl-C from it. Everywhere the host also ends
// when its standard input does.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
