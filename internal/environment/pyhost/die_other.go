//go:build unix && !linux

package pyhost

import (
	"os/exec"
	"syscall"
)

// contain makes the host a process group, which kill ends as a whole and a
// terminal's Ctrl-C does not reach. It ends when its standard input does.
func contain(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
