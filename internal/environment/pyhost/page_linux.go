package pyhost

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// unnamedFile makes a file in memory.
func unnamedFile() (*os.File, error) {
	fd, err := unix.MemfdCreate("meter", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "meter"), nil
}

// cpuTime is how long a process has been on a processor.
func cpuTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of a whole process; the bits above it are the inverted process id
	var at unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &at); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return time.Duration(at.Nano()), nil
}
