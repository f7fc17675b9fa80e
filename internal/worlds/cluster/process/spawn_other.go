//go:build !linux

package process

import (
	"os/exec"
	"syscall"
)

// bindToParent makes a node a process group, which a terminal's Ctrl-C does not reach. That this
// process has died the node hears from its standard input.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
