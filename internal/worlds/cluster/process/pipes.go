package process

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"
)

// pipes are the outputs of a process: for each the end to read, and the end to write,
// which only the process has once it has started.
type pipes struct {
	out, errs           *os.File
	writesOut, writeErr *os.File
}

func newPipes(cmd *exec.Cmd) (*pipes, error) {
	var p pipes
	var err, err2 error
	p.out, p.writesOut, err = os.Pipe()
	p.errs, p.writeErr, err2 = os.Pipe()
	if err = errors.Join(err, err2); err != nil {
		p.closeBoth()
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = p.writesOut, p.writeErr
	return &p, nil
}

// readBoth begins to read both, once the process has started. finish waits, once the process
// has ended, until all its output is read, and returns its last lines.
func (p *pipes) readBoth(o *output) (finish func() string) {
	_ = p.writesOut.Close()
	_ = p.writeErr.Close()
	var both sync.WaitGroup
	both.Go(func() { o.readLines(p.out, false) })
	both.Go(func() { o.readLines(p.errs, true) })
	return func() string {
		// A process that inherited the outputs and lives on does not delay this.
		late := time.AfterFunc(outputPatience, p.closeBoth)
		both.Wait()
		late.Stop()
		p.closeBoth()
		return o.stderrTail()
	}
}

func (p *pipes) closeBoth() {
	for _, f := range []*os.File{p.out, p.errs, p.writesOut, p.writeErr} {
		if f != nil {
			_ = f.Close()
		}
	}
}
