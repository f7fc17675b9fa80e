package box

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/transport/quic"
	"github.com/cowboyinc/devnet/internal/worlds/setup"
)

// What makes a live network fast can be turned off; each benchmark runs with
// all of it, and with each part off. These networks have no runners: what those cost is
// in BenchmarkCrowd, BenchmarkAssignment and BenchmarkCallback.
var switches = []struct {
	name string
	set  func(*Config)
}{
	{"all-on", func(*Config) {}},
	{"no-shared-execution", func(c *Config) { c.NoMemo = true }},
	{"no-remembered-signatures", func(c *Config) { c.NoRemember = true }},
	{"durability-disk", func(c *Config) { c.Durability = 1 }},
	{"strict-without-fault-seam", func(c *Config) { c.Strict = true }},
}

// From nothing to four validators at height 1, with files; beside it, four bare
// QUIC meshes connected.
func BenchmarkStart(b *testing.B) {
	b.Run("network", func(b *testing.B) {
		for b.Loop() {
			n, err := Up(context.Background(), Config{Plan: setup.Plan{BlockTime: time.Second, Seed: testSeed()}, Home: b.TempDir() + "/home"})
			if err != nil {
				b.Fatal(err)
			}
			for _, node := range n.List() {
				for node.finalHeight() < 1 {
					time.Sleep(100 * time.Microsecond)
				}
			}
			b.StopTimer()
			n.Close()
			b.StartTimer()
		}
	})
	b.Run("baseline-quic-mesh", func(b *testing.B) {
		for b.Loop() {
			m := newMesh(b)
			b.StopTimer()
			m.close()
			b.StartTimer()
		}
	})
}

// Blocks without a pause; beside it, the messages of a block (a proposal to
// all, then two rounds of votes from all to all) over the same links.
func BenchmarkBlocks(b *testing.B) {
	for _, s := range switches {
		b.Run(s.name, func(b *testing.B) {
			config := Config{Plan: setup.Plan{Seed: testSeed()}, Home: b.TempDir() + "/home"}
			s.set(&config)
			n := up(b, config)
			await(b, n, 1)
			b.ResetTimer()
			from, used := n.Best().finalHeight(), coresTime(b)
			await(b, n, from+types.Height(b.N))
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
			b.ReportMetric(milliseconds(coresTime(b)-used)/float64(b.N), "ms-cores/block")
		})
	}
	b.Run("baseline-messages", func(b *testing.B) {
		m := newMesh(b)
		defer m.close()
		vote := make([]byte, 250)
		b.ResetTimer()
		for range b.N {
			m.round(0, make([]byte, 1500))
			m.all(vote)
			m.all(vote)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
	})
}

// One transaction after the other, from submission to the final receipt.
func BenchmarkTransaction(b *testing.B) {
	for _, s := range switches {
		b.Run(s.name, func(b *testing.B) {
			config := Config{Plan: setup.Plan{Seed: testSeed()}, Home: b.TempDir() + "/home"}
			s.set(&config)
			n := up(b, config)
			alice := newPayer(n, "alice")
			var took []time.Duration
			for b.Loop() {
				begin := time.Now()
				land(b, n, alice.transfer(types.Address{1}, 1))
				took = append(took, time.Since(begin))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
		})
	}
}

// What a network of four validators holds after 1,000 blocks.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		n, err := Up(context.Background(), Config{Plan: setup.Plan{Seed: testSeed()}, Home: b.TempDir() + "/home"})
		if err != nil {
			b.Fatal(err)
		}
		await(b, n, 1000)
		b.ReportMetric(residentMiB(b), "MiB-resident")
		n.Close()
	}
}

func residentMiB(b testing.TB) float64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	return 0
}

// mesh is four bare transports, all connected.
type mesh struct {
	transports []*quic.Transport
	members    []types.Validator
	arrived    chan struct{}
}

func newMesh(b *testing.B) *mesh {
	m := &mesh{arrived: make(chan struct{}, 1024)}
	for i := range 4 {
		key := crypto.DeriveKey(1, fmt.Sprint("mesh", i))
		t, err := quic.New(quic.Config{Signer: key, Listen: "127.0.0.1:0"})
		if err != nil {
			b.Fatal(err)
		}
		m.transports = append(m.transports, t)
		m.members = append(m.members, types.Validator{Address: key.Address(), PublicKey: key.PublicKey(), Endpoint: t.Addr().String()})
	}
	for i, t := range m.transports {
		t.SetPeers(slices.Concat(m.members[:i], m.members[i+1:]))
		if err := t.Start(func(types.Address, []byte) { m.arrived <- struct{}{} }); err != nil {
			b.Fatal(err)
		}
	}
	for _, t := range m.transports {
		for len(t.Connected()) < 3 {
			time.Sleep(100 * time.Microsecond)
		}
	}
	return m
}

// round sends a frame from one to all and waits for its arrivals.
func (m *mesh) round(from int, frame []byte) {
	m.send(from, frame)
	m.wait(3)
}

// all sends a frame from all to all.
func (m *mesh) all(frame []byte) {
	for i := range m.transports {
		m.send(i, frame)
	}
	m.wait(12)
}

func (m *mesh) send(from int, frame []byte) {
	for i, member := range m.members {
		if i != from {
			m.transports[from].Send(member.Address, frame)
		}
	}
}

func (m *mesh) wait(n int) {
	for range n {
		<-m.arrived
	}
}

func (m *mesh) close() {
	for _, t := range m.transports {
		t.Close()
	}
}
