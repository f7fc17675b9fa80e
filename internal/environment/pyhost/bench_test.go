package pyhost

import (
	"bufio"
	"io"
	"os/exec"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// BenchmarkEcho is the baseline: a frame there and back over the same kind of
// pipe, with a Python that does nothing.
func BenchmarkEcho(b *testing.B) {
	p := openPool(b, Config{})
	found, _ := p.python.findOnce()
	cmd := exec.Command(found.path, "-S", "-s", "-B", "-c", "import os\nwhile d := os.read(0, 65536): os.write(1, d)")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	r, frame := bufio.NewReader(out), make([]byte, 250)
	b.ResetTimer()
	for range b.N {
		in.Write(frame)
		if _, err := io.ReadFull(r, frame); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

func benchmark(b *testing.B, source string, kind program.Kind, handler string, peeks bool) {
	w := openWorld(b)
	at := w.deploy(1, source)
	m := program.Message{Kind: kind, Sender: alice, Self: at, Handler: handler, Payload: []byte("1"), Owner: owner}
	c := w.context(m, plenty)
	var ctx program.Context = noPeek{c}
	if peeks {
		ctx = c
	}
	b.ResetTimer()
	for range b.N {
		c.cycles, c.cells, w.trace = plenty, 1<<20, w.trace[:0]
		out, err := w.session.Handle(ctx, w.actors[at].code, m)
		if err != nil || out.Fault != nil {
			b.Fatal(out, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
}

const readWrite = "import pvm_host\ndef f(p):\n    n = int(pvm_host.get_state(b'n') or b'0')\n    pvm_host.set_state(b'n', str(n + " +
	"1).encode())\n"

func BenchmarkEmptyHandler(b *testing.B) { benchmark(b, "def f(p): pass\n", program.Call, "f", false) }
func BenchmarkReadWrite(b *testing.B)    { benchmark(b, readWrite, program.Call, "f", false) }

// BenchmarkReadWriteSentAhead has a Context that can Peek.
func BenchmarkReadWriteSentAhead(b *testing.B) { benchmark(b, readWrite, program.Call, "f", true) }
func BenchmarkHeartbeat(b *testing.B) {
	benchmark(b, fixture(b, "heartbeat.py"), program.Timer, "handle_timer", true)
}

// benchmarkSessions opens a session for each few messages, as a block does.
func benchmarkSessions(b *testing.B, purpose program.Purpose, messages int) {
	p := openPool(b, Config{Hosts: 2})
	w := newWorld(nil)
	at := w.deploy(1, readWrite)
	m := program.Message{Kind: program.Call, Sender: alice, Self: at, Handler: "f", Payload: []byte("1"), Owner: owner}
	run := func() {
		s, err := p.Open(purpose)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		for range messages {
			c := w.context(m, plenty)
			w.trace = w.trace[:0]
			if out, err := s.Handle(c, w.actors[at].code, m); err != nil || out.Fault != nil {
				b.Fatal(out, err)
			}
		}
	}
	for range 4 {
		run() // both hosts start and are told the code
	}
	b.ResetTimer()
	for range b.N {
		run()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sessions/s")
}

func BenchmarkBlockOfOne(b *testing.B)     { benchmarkSessions(b, program.ForBlock, 1) }
func BenchmarkBlockOfTwenty(b *testing.B)  { benchmarkSessions(b, program.ForBlock, 20) }
func BenchmarkBlockOfHundred(b *testing.B) { benchmarkSessions(b, program.ForBlock, 100) }
func BenchmarkRead(b *testing.B)           { benchmarkSessions(b, program.ForRead, 1) }
