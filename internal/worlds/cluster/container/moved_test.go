package container

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// addressOf is where a node's neighbours find it, "" while it is on no network.
func addressOf(t *testing.T, container string) string {
	t.Helper()
	address, err := callDocker(t.Context(), nil, "inspect", "--format", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", container)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// maxHolders bounds the containers that take addresses until one has that of a node.
const maxHolders = 32

// hold takes an address of a network, so that its former holder gets another.
func hold(t *testing.T, c *Carrier, address string) {
	t.Helper()
	for range maxHolders {
		call := append(append([]string{"run", "--detach", "--no-healthcheck", "--network", c.engineName("net")}, c.labels...),
			"--entrypoint", "python3", c.config.Image, "-c", "import signal; signal.pause()")
		id, err := callDocker(t.Context(), nil, call...)
		if err != nil {
			t.Fatal(err)
		}
		if addressOf(t, id) == address {
			return
		}
	}
	t.Fatalf("%d containers did not get the address %s", maxHolders, address)
}

// Genesis names hosts, and a host may move: a validator that runs on under another
// address, and one that starts under another, are found again by validators and runners.
func TestNodesAreFoundAtOtherAddresses(t *testing.T) {
	t.Parallel() // it waits for blocks, most of the time
	c, nodes := opened(t, 4, 1)
	all(t, nodes, c.Start)
	reach(t, c, "v0", 2)
	for _, one := range []struct {
		name       string
		away, back func(context.Context, string) error
	}{{"v1", c.Detach, c.Attach}, {"v2", c.Stop, c.Start}, {"r0", c.Detach, c.Attach}} {
		before := addressOf(t, c.Container(one.name))
		if err := one.away(t.Context(), one.name); err != nil {
			t.Fatal(err)
		}
		hold(t, c, before)
		if err := one.back(t.Context(), one.name); err != nil {
			t.Fatal(err)
		}
		if after := addressOf(t, c.Container(one.name)); after == before || after == "" {
			t.Fatalf("%s was at %s, and is at %q", one.name, before, after)
		}
	}
	height := reach(t, c, "v0", 0)
	if err := c.Kill(t.Context(), "v3"); err != nil { // without those that moved there is no quorum
		t.Fatal(err)
	}
	left := []string{"v0", "v1", "v2"}
	for _, name := range left {
		height = reach(t, c, name, height+3)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for { // a runner belongs to three of four validators, so that two of them are left
		with := slices.DeleteFunc(slices.Clone(left), func(name string) bool { return !connects(t, c, name) })
		if len(with) >= 2 {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("the runner is connected only with %v\n%s", with, logOf(t, c, "r0"))
		}
	}
}

// connects reports whether a validator says that it is connected with a runner.
func connects(t *testing.T, c *Carrier, name string) bool {
	t.Helper()
	n := client.NewAPI(c.Control(name))
	all, err := n.Validators(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runners, err := client.Collect(n.Runners(t.Context(), "Healthy", client.Page{}))
	if err != nil {
		t.Fatal(err)
	}
	here := slices.IndexFunc(all, func(v model.Validator) bool { return v.Name == name })
	return here >= 0 && slices.ContainsFunc(runners, func(r model.Runner) bool { return slices.Contains(r.Connected, all[here].Address) })
}
