package container

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/client"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/worlds/box"
	"github.com/cowboyinc/devnet/internal/worlds/cluster"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// measured is the time in which blocks are counted.
const measured = 5 * time.Second

// BenchmarkContainers measures a network in containers, and one in a single process
// in the same run. It reports the time from start to ready, blocks per second when
// blocks follow one another at once, and memory.
func BenchmarkContainers(b *testing.B) {
	name := image(b)
	b.Run("ready/engine alone", func(b *testing.B) { // the same container, whose process has nothing to do
		for b.Loop() {
			id := ran(b, name, "version")
			b.StopTimer()
			gone(b, id)
			b.StartTimer()
		}
	})
	b.Run("ready/one container", func(b *testing.B) {
		for b.Loop() {
			readyInOne(b, name)
		}
	})
	b.Run("ready/4 and 4", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			c, nodes := made(b, name, 4, 4, time.Second)
			b.StartTimer()
			all(b, nodes, c.Start)
			readyAt(b, c.Control("v0"))
			b.StopTimer()
			closed(b, c)
			b.StartTimer()
		}
	})
	b.Run("blocks/4 containers", func(b *testing.B) {
		c, nodes := made(b, name, 4, 0, 0)
		defer closed(b, c)
		all(b, nodes, c.Start)
		readyAt(b, c.Control("v0"))
		count(b, func() types.Height { return height(b, c.Control("v0")) })
		b.ReportMetric(memory(b, c, nodes), "MiB/node")
	})
	b.Run("blocks/one process", func(b *testing.B) {
		n, err := box.Up(b.Context(), box.Config{Plan: setup.Plan{Validators: 4, ChainID: 8011}, Home: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		defer n.Close()
		count(b, func() types.Height { return n.Nodes()[0].Height })
	})
}

// readyInOne runs the whole network in one container, as the image does by itself.
func readyInOne(b *testing.B, image string) {
	id := ran(b, image)
	at, err := callDocker(b.Context(), nil, "port", id, "4000/tcp")
	if err != nil {
		b.Fatal(err)
	}
	readyAt(b, "http://"+splitLines(at)[0])
	b.StopTimer()
	gone(b, id)
	b.StartTimer()
}

// ran is a container of an image that the engine has started.
func ran(b *testing.B, image string, command ...string) (id string) {
	b.Helper()
	id, err := callDocker(b.Context(), nil, append([]string{"run", "--detach", "--publish", "127.0.0.1::4000", image}, command...)...)
	if err != nil {
		b.Fatal(err)
	}
	return id
}

func gone(b *testing.B, id string) {
	b.Helper()
	if _, err := callDocker(b.Context(), nil, "rm", "--force", "--volumes", id); err != nil {
		b.Fatal(err)
	}
}

func readyAt(b *testing.B, address string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	for {
		ready, err := client.NewAPI(address).Ready(ctx)
		if err == nil && ready.Ready {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			b.Fatalf("it is not ready: %v", err)
		}
	}
}

func height(b *testing.B, address string) types.Height {
	b.Helper()
	h, err := client.NewAPI(address).Height(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return h
}

// count reports how many blocks a second are made.
func count(b *testing.B, height func() types.Height) {
	for b.Loop() {
		from, begun := height(), time.Now()
		time.Sleep(measured)
		b.ReportMetric(float64(height()-from)/time.Since(begun).Seconds(), "blocks/s")
	}
}

// memory is what containers use, each on the average.
func memory(b *testing.B, c *Carrier, nodes []cluster.Node) float64 {
	b.Helper()
	args := []string{"stats", "--no-stream", "--format", "{{.MemUsage}}"}
	for _, n := range nodes {
		args = append(args, c.Container(n.Name))
	}
	answer, err := callDocker(b.Context(), nil, args...)
	if err != nil {
		b.Fatal(err)
	}
	sum := 0.0
	for _, line := range splitLines(answer) {
		used, _, _ := strings.Cut(line, "MiB")
		mib, err := strconv.ParseFloat(used, 64)
		if err != nil {
			b.Fatalf("docker stats says %q", line)
		}
		sum += mib
	}
	return sum / float64(len(nodes))
}

func closed(b *testing.B, c *Carrier) {
	b.Helper()
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}
