//go:build unix

package pyhost

import (
	"os/exec"
	"syscall"
)

// kill ends a fork server that was started and its child. The group's number is
// in use as long as either lives.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
