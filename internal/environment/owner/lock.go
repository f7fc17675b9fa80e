//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package owner

import (
	"os"
	"syscall"
)

// flockFile locks a file for as long as it is open.
func flockFile(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// isLocked reports whether another open file has the lock.
func isLocked(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
