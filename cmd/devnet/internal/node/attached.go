package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// attachedFlag is for supervisors that must not be outlived by their nodes.
var attachedFlag = &cli.BoolFlag{Name: "attached",
	Usage: "end when standard input does, so that it never outlives who started it; a runner waits for its devnet"}

const (
	// abandonedPatience is how long a node may take to end once its supervisor is
	// gone.
	abandonedPatience = 10 * time.Second
	// answeringEvery is how often a runner looks whether its devnet answers by now.
	answeringEvery = 50 * time.Millisecond
)

// errAbandoned is why a context ended: standard input did.
var errAbandoned = errors.New("the process that started this node ended")

// isAbandoned reports whether a node ends because its supervisor is gone: its jobs are no
// longer needed.
func isAbandoned(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errAbandoned) }

// attachToInput ends the command's context with standard input, if that was requested. The
// command calls done when it ends.
func attachToInput(c *cli.Context) (done func()) {
	if !c.Bool("attached") {
		return func() {}
	}
	ctx, cancel := context.WithCancelCause(c.Context)
	c.Context = ctx
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel(errAbandoned)
		time.AfterFunc(abandonedPatience, func() { os.Exit(failure.ExitFailed) })
	}()
	return func() { cancel(nil) }
}

// awaitReady returns the answer of a runner's devnet to a readiness request. A runner that
// is attached, supervised, or told to wait asks until it answers: its supervisor starts the
// validators too.
func awaitReady(c *cli.Context, n *client.API, waits bool) (ready model.Ready, err error) {
	told := false
	for {
		ready, err = n.Ready(c.Context)
		if _, unreachable := errors.AsType[*client.Unreachable](err); !unreachable || !waits {
			return ready, err
		}
		if !told {
			told = true
			fmt.Fprintf(c.App.Writer, "Waiting for the devnet at %s.\n", n.URL())
		}
		if !command.Sleep(c.Context, answeringEvery) {
			return ready, err
		}
	}
}
