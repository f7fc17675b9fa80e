package container

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"

	"github.com/cowboyinc/devnet/internal/environment/owner"
)

// events follows the engine's events about a network's containers.
type events struct {
	cancel context.CancelFunc
	over   chan struct{} // closed when nothing more is told
}

// listenForDeaths calls died for every container that ends from now on, one at a time and in
// the engine's order.
func listenForDeaths(ctx context.Context, id string, died func(container, code string)) (*events, error) {
	// The engine's clock may be another: what it tells begins with its own now.
	now, err := callDocker(ctx, nil, "info", "--format", "{{.SystemTime}}")
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(life, "docker", "events", "--since", now, "--filter", "type=container", "--filter", "event=die",
		"--filter", "label="+owner.NetworkLabel+"="+id, "--format", "{{.Actor.Attributes.name}} {{.Actor.Attributes.exitCode}}")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	e := &events{cancel: cancel, over: make(chan struct{})}
	go func() {
		defer close(e.over)
		told := bufio.NewScanner(out)
		for told.Scan() {
			container, code, _ := strings.Cut(told.Text(), " ")
			died(container, code)
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}()
	return e, nil
}

// stopListening ends it, and returns when nothing more is told.
func (e *events) stopListening() {
	e.cancel()
	<-e.over
}

// errDeaf says that the ends of containers are told no more.
var errDeaf = errors.New("docker events has ended: is the engine still there?")
