package up

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

// Text that a detached network writes on descriptor 3 when it is ready, and how long
// its earlier output is awaited.
const (
	readyFD       = 3
	readyWord     = "ready\n"
	drainPatience = time.Second
)

// upElsewhere has another process bring the network up, and returns when that is ready.
func upElsewhere(c *cli.Context, s launch.Settings) error {
	if _, runs := home.User(s.Home); runs && s.Wait {
		return waitForRunning(c, s)
	}
	command := self.Command(slices.Concat(os.Args[1:2], []string{"--" + launch.DetachedFlag}, withoutFlags(os.Args[2:], "detach", "wait"))...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal of this terminal is its
	ready, readyEnd, err := os.Pipe()
	if err != nil {
		return failure.NewNoStart("", "%v", err)
	}
	defer ready.Close()
	signal.Ignore(syscall.SIGPIPE) // a reader of this output that leaves, like head, does not end the network
	command.ExtraFiles = []*os.File{readyEnd}
	drained, err := showOutputs(c, command)
	if err == nil {
		err = command.Start()
	}
	_ = readyEnd.Close()
	closeOutputs(command)
	if err != nil {
		return failure.NewNoStart("", "the network does not start: %v", err)
	}
	stop := context.AfterFunc(c.Context, func() { _ = command.Process.Signal(syscall.SIGTERM) })
	defer stop()
	word, _ := io.ReadAll(io.LimitReader(ready, int64(len(readyWord))))
	select {
	case <-drained:
	case <-time.After(drainPatience): // another has its outputs: they are not waited for
	}
	if string(word) == readyWord {
		return command.Process.Release()
	}
	return unreadyError(c, command)
}

// unreadyError is the end of a network that did not become ready: it has told why.
func unreadyError(c *cli.Context, command *exec.Cmd) error {
	err := command.Wait()
	var died *exec.ExitError
	switch {
	case c.Context.Err() != nil:
		return c.Context.Err()
	case errors.As(err, &died) && died.ExitCode() > 0:
		return &failure.Failure{Code: died.ExitCode()}
	}
	return failure.NewNoStart("", "the process of the network ended before that was ready: %v", command.ProcessState)
}

// showOutputs gives a process outputs that are shown here; drained is closed when it has let
// them go.
func showOutputs(c *cli.Context, command *exec.Cmd) (drained chan struct{}, err error) {
	out, outEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errs, errsEnd, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, out.Close(), outEnd.Close())
	}
	command.Stdout, command.Stderr = outEnd, errsEnd
	drained = make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() { copyAll(c.App.Writer, out) })
	both.Go(func() { copyAll(c.App.ErrWriter, errs) })
	go func() {
		both.Wait()
		close(drained)
	}()
	return drained, nil
}

// copyAll copies an output of the process to its end, even after its reader here has left.
func copyAll(to io.Writer, from io.Reader) {
	if _, err := io.Copy(to, from); err != nil {
		_, _ = io.Copy(io.Discard, from)
	}
}

// closeOutputs closes the ends that only the process is to have.
func closeOutputs(command *exec.Cmd) {
	for _, end := range []io.Writer{command.Stdout, command.Stderr} {
		if file, is := end.(*os.File); is {
			_ = file.Close()
		}
	}
}

// withoutFlags leaves boolean flags out of arguments.
func withoutFlags(args []string, flags ...string) (rest []string) {
	for i, arg := range args {
		if arg == "--" {
			return append(rest, args[i:]...)
		}
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "-") || !slices.Contains(flags, name) {
			rest = append(rest, arg)
		}
	}
	return rest
}

// waitForRunning waits until the network that runs on a home is ready.
func waitForRunning(c *cli.Context, s launch.Settings) error {
	ctx, cancel := context.WithTimeout(c.Context, launch.ReadyPatience)
	defer cancel()
	var why error = errors.New("the process has not announced its address yet")
	for {
		if address := command.HomeHTTP(s.Home); address != "" {
			ready, err := client.NewAPI(address).Ready(ctx)
			if err == nil && ready.Ready {
				return foundRunning(c, s, address, ready)
			}
			if why = err; err == nil && ready.Error != nil {
				why = errors.New(ready.Error.Message)
			}
		} else if _, runs := home.User(s.Home); !runs {
			return failure.NewNoStart("Type it again.", "the network that ran on %s has ended", s.Home)
		}
		if !command.Sleep(ctx, readyEvery) {
			return failure.NewNoStart("devnet logs shows the nodes' logs.", "the network on %s is not ready after %s: %v", s.Home,
				launch.ReadyPatience, why)
		}
	}
}

// foundRunning shows a network that runs already.
func foundRunning(c *cli.Context, s launch.Settings, address string, ready model.Ready) error {
	dir, err := filepath.Abs(s.Home)
	if err != nil {
		return err
	}
	u := &running{Context: c, settings: s, address: address, client: client.NewAPI(address), network: foundNetwork{dir: dir}}
	return u.printBanner(ready, pythonProbe{})
}

// foundNetwork is a network that another process has brought up.
type foundNetwork struct {
	upNetwork
	dir string
}

func (n foundNetwork) Dir() string { return n.dir }

func (foundNetwork) brokenNodes() []error { return nil } // its nodes say it

// logPath returns the file to which a detached network writes its output, "" for an
// attached one.
func (u *running) logPath() string {
	if !u.Bool(launch.DetachedFlag) {
		return ""
	}
	return home.NodeLog(u.homeDir(), launch.UpLog)
}

// releaseOutputs redirects the outputs of a detached process: its result is called when the
// network is ready, with its home.
func releaseOutputs(c *cli.Context) func(dir string) error {
	if !c.Bool(launch.DetachedFlag) {
		return func(string) error { return nil }
	}
	unix.CloseOnExec(readyFD) // no process that this one starts may have it
	out, errs := &movable{to: c.App.Writer}, &movable{to: c.App.ErrWriter}
	c.App.Writer, c.App.ErrWriter = out, errs
	return func(dir string) error {
		// The log is bounded; besides it, the Go runtime writes its crash report
		// there.
		log := home.NewLogFile(dir, launch.UpLog)
		out.moveTo(log)
		errs.moveTo(log)
		file, err := os.OpenFile(home.NodeLog(dir, launch.UpLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err == nil {
			err = errors.Join(unix.Dup2(int(file.Fd()), 1), unix.Dup2(int(file.Fd()), 2), file.Close())
		}
		if err != nil {
			return failure.NewNoStart("", "the network cannot be left running: %v", err)
		}
		said := os.NewFile(readyFD, "ready")
		_, err = io.WriteString(said, readyWord)
		if err = errors.Join(err, said.Close()); err != nil {
			return failure.New("", "the process that started this network is gone: %v", err)
		}
		return nil
	}
}

// movable is an output that goes elsewhere from a moment on.
type movable struct {
	mu sync.Mutex
	to io.Writer
}

func (m *movable) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.to.Write(p)
}

func (m *movable) moveTo(to io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.to = to
}
