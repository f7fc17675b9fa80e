//go:build !linux

package pyhost

import "os/exec"

// dieWithParent does nothing here: the host ends when its standard input does.
func dieWithParent(*exec.Cmd) {}
