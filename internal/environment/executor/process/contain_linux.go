package process

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// containProcess makes the program a process group, and has the kernel kill it should
// this process die without a word.
func containProcess(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup ends a program that was started, and its group.
func killGroup(cmd *exec.Cmd) { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }

// awaitEnd returns when a program that was started has ended, and keeps it a zombie,
// so that its group's number is not used again.
func awaitEnd(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// limitMemory bounds the memory that a program may write to, of a program that was started. Address
// space that it only reserves is not counted: runtimes of Go and JavaScript reserve far more
// than they use. Memory shared with another process is not counted either. The program has
// no data of the job yet: that comes later, over its standard input.
func limitMemory(pid int, memory uint64) error {
	err := unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	if err == nil && memory > 0 {
		err = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: memory, Max: memory}, nil)
	}
	if errors.Is(err, unix.ESRCH) {
		return nil // it has ended already
	}
	return err
}
