package author

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// begunBench is a `devnet bench` that starts while Python does, for the first network
// of the tests: what it takes to start is over before a test runs. The tests' process
// inherits its pipes. If no test uses a network, it stays unused.
type begunBench struct {
	command   *exec.Cmd
	out, into *os.File // its output, and its input
}

// beginBench starts one; nil if that fails: the tests then start their own, and report
// why they cannot.
func beginBench(environment []string, stderr io.Writer) *begunBench {
	self, err := ownPath()
	if err != nil {
		return nil
	}
	in, into, err := os.Pipe()
	if err != nil {
		return nil
	}
	out, said, err := os.Pipe()
	if err != nil {
		in.Close()
		into.Close()
		return nil
	}
	b := &begunBench{exec.Command(self, "bench"), out, into}
	b.command.Env = environment
	b.command.Stdin, b.command.Stdout, b.command.Stderr = in, said, stderr
	err = b.command.Start()
	in.Close()
	said.Close()
	if err != nil {
		b.giveAway()
		return nil
	}
	return b
}

// giveTo lets the tests' command inherit the bench, and informs it in a variable: the
// process that gave it, and the descriptors to read and write. A nil one is not
// given.
func (b *begunBench) giveTo(to *exec.Cmd) {
	if b == nil {
		return
	}
	first := 3 + len(to.ExtraFiles)
	to.ExtraFiles = append(to.ExtraFiles, b.out, b.into)
	to.Env = append(to.Env, fmt.Sprintf("DEVNET_BENCH=%d:%d:%d", os.Getpid(), first, first+1))
}

// giveAway closes the pipes here, once the tests have them: the bench ends when they
// close theirs.
func (b *begunBench) giveAway() {
	if b != nil {
		b.out.Close()
		b.into.Close()
	}
}

// awaitEnd waits for its end, after the tests have ended or could not be run.
func (b *begunBench) awaitEnd() {
	if b == nil {
		return
	}
	b.giveAway()
	late := time.AfterFunc(endPatience, func() { _ = b.command.Process.Kill() }) // something that a test left behind has its pipes
	_ = b.command.Wait()
	late.Stop()
}
