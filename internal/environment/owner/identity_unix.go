//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package owner

import (
	"fmt"
	"os"
	"syscall"
)

// identityOf tells a folder from every other of this machine; "" if it is not there.
func identityOf(dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return ""
	}
	stat, is := info.Sys().(*syscall.Stat_t)
	if !is {
		return ""
	}
	return fmt.Sprintf("%x.%x", stat.Dev, stat.Ino)
}
