package devnet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"

	"github.com/cowboyinc/devnet/client"
)

// Container is a whole network in one container, and a client of it. Its faults are
// the faults of devnet up: of nodes and links, by the client's methods.
type Container struct {
	testcontainers.Container
	*client.Client
	claim *claim
}

// Run starts a whole network in one container of an image, and returns when it is
// ready. If it fails the container is gone, and the error ends with its log. It first
// removes what tests of this machine left that were killed.
func Run(ctx context.Context, image string, options ...testcontainers.ContainerCustomizer) (*Container, error) {
	s, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	engine, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return nil, err
	}
	claim, err := newClaim(ctx, engine)
	if err = errors.Join(err, engine.Close()); err != nil {
		return nil, errors.Join(err, claim.releaseClaim())
	}
	for range startTries {
		var n *Container
		if n, err = s.runNetwork(ctx, image, claim); err == nil {
			return n, nil
		}
		if !isPortTaken(err) {
			break
		}
	}
	return nil, errors.Join(err, claim.releaseClaim())
}

// runNetwork starts a whole network at a port that is free.
func (s *settings) runNetwork(ctx context.Context, image string, claim *claim) (*Container, error) {
	at, err := chooseAPI(ctx)
	if err != nil {
		return nil, err
	}
	made := []testcontainers.ContainerCustomizer{
		testcontainers.WithCmd(s.upCommand()...), at.publishOption(), claim.labelOption(),
		testcontainers.WithExposedPorts(fmt.Sprintf("%d/tcp", port)),
		testcontainers.WithFiles(testcontainers.ContainerFile{Reader: strings.NewReader(s.configFile()),
			ContainerFilePath: inside + "/devnet.toml",
			FileMode:          0o644})}
	c, err := testcontainers.Run(ctx, image, append(made, s.customizers...)...)
	if err != nil {
		return nil, errors.Join(err, testcontainers.TerminateContainer(c))
	}
	n := &Container{c, client.New(at.URL, nil), claim}
	if err := waitReady(ctx, c, n.Client); err != nil {
		return nil, errors.Join(err, testcontainers.TerminateContainer(c))
	}
	return n, nil
}

// waitReady waits until a node finds its network ready, for as long as its container
// runs.
func waitReady(ctx context.Context, c testcontainers.Container, n *client.Client) error {
	return whileRunning(ctx, c, n.WaitReady)
}

// waitAnswer waits until a node's API answers, for as long as its container runs.
func waitAnswer(ctx context.Context, c testcontainers.Container, n *client.Client) error {
	return whileRunning(ctx, c, func(ctx context.Context) error {
		tick := time.NewTicker(answerEvery)
		defer tick.Stop()
		for {
			if _, err := n.Ready(ctx); err == nil {
				return nil
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return fmt.Errorf("%s does not answer: %w", n.URL(), ctx.Err())
			}
		}
	})
}

// whileRunning waits for something, for as long as a container runs, and no longer than
// a network may take to be ready.
func whileRunning(ctx context.Context, c testcontainers.Container, wait func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		watchUntilEnd(ctx, c)
		cancel()
	}()
	err := wait(ctx)
	cancel()
	<-watched
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, lastLog(c))
	}
	return err
}

// CleanUp ends a network with its test, whether it passed or not, and shows what its
// containers logged last where it failed.
func CleanUp(t testing.TB, n Network) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("devnet: the test failed; its containers logged last:\n%s", n.LastLogs())
		}
		if err := n.End(); err != nil {
			t.Errorf("devnet: the containers could not be removed: %v", err)
		}
	})
}

// Network is what CleanUp ends.
type Network interface {
	// LastLogs are the last lines that each of its containers logged.
	LastLogs() string
	// End removes its containers and what they keep.
	End() error
}

// LastLogs implements Network.
func (n *Container) LastLogs() string { return lastLog(n.Container) }

// End implements Network.
func (n *Container) End() error {
	err := errors.Join(testcontainers.TerminateContainer(n.Container, testcontainers.StopTimeout(0)), n.claim.releaseClaim())
	n.claim = nil
	return err
}
