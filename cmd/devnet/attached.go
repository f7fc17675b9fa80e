package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/faces/api/client"
	"github.com/cowboyinc/devnet/internal/faces/api/model"
)

// attachedFlag is for who runs nodes and must not be outlived by them.
var attachedFlag = &cli.BoolFlag{Name: "attached",
	Usage: "end when standard input does, so that it never outlives who started it; a runner waits for its devnet"}

const (
	// abandonedPatience is how long a node may take to end once whoever it was
	// attached to is gone.
	abandonedPatience = 10 * time.Second
	// answeringEvery is how often a runner looks whether its devnet answers by now.
	answeringEvery = 50 * time.Millisecond
)

// errAbandoned is why a context ended: standard input did.
var errAbandoned = errors.New("the process that started this node ended")

// abandoned reports whether a node ends since whoever it was attached to is gone: nobody
// waits for its jobs.
func abandoned(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errAbandoned) }

// attach has the command's context end with standard input, where that was asked for.
// What it returns is called when the command ends.
func attach(c *cli.Context) (done func()) {
	if !c.Bool("attached") {
		return func() {}
	}
	ctx, cancel := context.WithCancelCause(c.Context)
	c.Context = ctx
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel(errAbandoned)
		time.AfterFunc(abandonedPatience, func() { os.Exit(exitFailed) })
	}()
	return func() { cancel(nil) }
}

// answering returns what a runner's devnet says of itself. One that is attached, driven, or
// told to wait does so until it answers: who started it starts the validators too.
func answering(c *cli.Context, n *client.Client, waits bool) (ready model.Ready, err error) {
	told := false
	for {
		ready, err = n.Ready(c.Context)
		var unreachable *client.Unreachable
		if err == nil || !waits || !errors.As(err, &unreachable) {
			return ready, err
		}
		if !told {
			told = true
			fmt.Fprintf(c.App.Writer, "Waiting for the devnet at %s.\n", n.Address())
		}
		if !pause(c.Context, answeringEvery) {
			return ready, err
		}
	}
}
