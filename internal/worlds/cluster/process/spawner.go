package process

import (
	"os/exec"
	"runtime"
)

// spawner starts processes on a dedicated thread: Linux kills them when that ends, and
// the threads on which goroutines run come and go.
type spawner struct {
	asked chan spawning
}

type spawning struct {
	cmd  *exec.Cmd
	done chan error
}

func newSpawner() *spawner {
	s := &spawner{asked: make(chan spawning)}
	go func() {
		runtime.LockOSThread() // for good: the thread ends with this goroutine
		for one := range s.asked {
			one.done <- one.cmd.Start()
		}
	}()
	return s
}

// startProcess starts a process. It must not be called after close.
func (s *spawner) startProcess(cmd *exec.Cmd) error {
	one := spawning{cmd, make(chan error, 1)}
	s.asked <- one
	return <-one.done
}

// stopThread ends the thread, and with it all its processes that still run.
func (s *spawner) stopThread() { close(s.asked) }
