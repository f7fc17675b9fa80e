package lossy

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// sink is a socket that keeps what is written, with the time.
type sink struct {
	net.PacketConn
	mu    sync.Mutex
	wrote []string
	at    []time.Duration
	begin time.Time
}

func (s *sink) WriteTo(p []byte, _ net.Addr) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrote = append(s.wrote, string(p))
	s.at = append(s.at, time.Since(s.begin))
	return len(p), nil
}

func (s *sink) Close() error { return nil }

func (s *sink) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote
}

var peer = netip.MustParseAddrPort("127.0.0.1:7")

// world runs body in virtual time with a Conn over a sink; every test ends with
// a Close that leaves no goroutine, which synctest checks.
func world(t *testing.T, rule Rule, body func(c *Conn, s *sink, send func(string))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &sink{begin: time.Now()}
		c := Wrap(s, 1)
		if rule != (Rule{}) {
			c.SetRules(map[netip.AddrPort]Rule{peer: rule})
		}
		body(c, s, func(p string) {
			if n, err := c.WriteTo([]byte(p), net.UDPAddrFromAddrPort(peer)); n != len(p) || err != nil {
				t.Errorf("%d %v", n, err)
			}
		})
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestWithoutARulePacketsPass(t *testing.T) {
	world(t, Rule{}, func(c *Conn, s *sink, send func(string)) {
		send("a")
		if len(s.got()) != 1 || c.wake != nil {
			t.Error("a packet without a rule did not pass at once")
		}
	})
}

func TestLatencyKeepsOrder(t *testing.T) {
	var counts fault.Counts
	world(t, Rule{Link: fault.Link{Latency: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}, LinkCounts: &counts},
		func(c *Conn, s *sink, send func(string)) {
			for i := range 100 {
				send(fmt.Sprint(i))
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Second)
			if len(s.got()) != 100 || counts.Delayed.Load() != 100 {
				t.Fatalf("%d came, %d were delayed", len(s.wrote), counts.Delayed.Load())
			}
			for i, p := range s.wrote {
				if p != fmt.Sprint(i) {
					t.Fatalf("packet %s came as number %d", p, i)
				}
				if late := s.at[i] - time.Duration(i)*time.Millisecond; late < 20*time.Millisecond || late > 31*time.Millisecond {
					t.Errorf("packet %d took %v", i, late)
				}
			}
		})
}

func TestLossDuplicationAndReordering(t *testing.T) {
	var counts fault.Counts
	world(t, Rule{Link: fault.Link{Latency: 5 * time.Millisecond, Loss: 0.2, Duplicate: 0.1, Reorder: 0.1}, LinkCounts: &counts},
		func(c *Conn, s *sink, send func(string)) {
			for i := range 1000 {
				send(fmt.Sprint(i))
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Second)
			lost, doubled, reordered := counts.Dropped.Load(), counts.Duplicated.Load(), counts.Reordered.Load()
			if lost < 150 || lost > 250 || doubled < 50 || doubled > 120 || reordered < 50 || reordered > 150 {
				t.Errorf("%s", counts.Text(fault.SetLink, fault.Live))
			}
			if got := int64(len(s.got())); got != 1000-lost+doubled {
				t.Errorf("%d came, want %d", got, 1000-lost+doubled)
			}
			overtaken := 0
			for i := 1; i < len(s.wrote); i++ {
				var a, b int
				fmt.Sscan(s.wrote[i-1], &a)
				fmt.Sscan(s.wrote[i], &b)
				if b < a {
					overtaken++
				}
			}
			if overtaken == 0 {
				t.Error("no packet was overtaken")
			}
		})
}

func TestBandwidthSpacesPackets(t *testing.T) {
	var counts fault.Counts
	world(t, Rule{Link: fault.Link{Bandwidth: 1000}, LinkCounts: &counts}, func(c *Conn, s *sink, send func(string)) {
		for range 10 {
			send(string(make([]byte, 100)))
		}
		time.Sleep(2 * time.Second)
		if len(s.got()) != 10 || s.at[9] != time.Second {
			t.Errorf("1000 bytes at 1000 a second took %v", s.at)
		}
	})
}

func TestACutLosesWhatWaitsToo(t *testing.T) {
	var slow, cut fault.Counts
	world(t, Rule{Link: fault.Link{Latency: 50 * time.Millisecond}, LinkCounts: &slow}, func(c *Conn, s *sink, send func(string)) {
		send("waits")
		c.SetRules(map[netip.AddrPort]Rule{peer: {Cut: true, CutCounts: &cut}})
		send("cut")
		time.Sleep(time.Second)
		if len(s.got()) != 0 || cut.Dropped.Load() != 2 {
			t.Errorf("%q came over a cut link, %d were counted", s.wrote, cut.Dropped.Load())
		}
		c.SetRules(nil)
		send("healed")
		if len(s.got()) != 1 {
			t.Error("a healed link takes no packets")
		}
	})
}

func TestTheQueueIsBounded(t *testing.T) {
	var counts fault.Counts
	world(t, Rule{Link: fault.Link{Latency: time.Minute}, LinkCounts: &counts}, func(c *Conn, s *sink, send func(string)) {
		for range MaxPackets + 3 {
			send("x")
		}
		if counts.Dropped.Load() != 3 || len(c.queue) != MaxPackets {
			t.Errorf("%d wait, %d were lost", len(c.queue), counts.Dropped.Load())
		}
		c.Kill()
		send("big")
		c.dead.Store(false)
		for range MaxBytes/(1<<10) + 2 {
			send(string(make([]byte, 1<<10)))
		}
		if c.bytes > MaxBytes {
			t.Errorf("%d bytes wait", c.bytes)
		}
	})
}

func TestTheDeadSendNothing(t *testing.T) {
	var counts fault.Counts
	world(t, Rule{Link: fault.Link{Latency: time.Millisecond}, LinkCounts: &counts}, func(c *Conn, s *sink, send func(string)) {
		send("waits")
		c.Kill()
		send("goodbye")
		time.Sleep(time.Second)
		if len(s.got()) != 0 {
			t.Errorf("the dead sent %q", s.wrote)
		}
	})
}

func TestOneSeedLosesTheSamePackets(t *testing.T) {
	var runs [2][]string
	for i := range runs {
		var counts fault.Counts
		world(t, Rule{Link: fault.Link{Loss: 0.5}, LinkCounts: &counts}, func(c *Conn, s *sink, send func(string)) {
			for i := range 100 {
				send(fmt.Sprint(i))
			}
			time.Sleep(time.Second)
			runs[i] = s.got()
		})
	}
	if fmt.Sprint(runs[0]) != fmt.Sprint(runs[1]) || len(runs[0]) == 100 {
		t.Errorf("%v\n%v", runs[0], runs[1])
	}
}

// Rules change while many goroutines send: for the race detector.
func TestRulesChangeWhilePacketsFly(t *testing.T) {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := Wrap(socket, 1)
	var counts fault.Counts
	to := net.UDPAddrFromAddrPort(peer)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 500 {
				_, _ = c.WriteTo([]byte("packet"), to) // no socket listens there
			}
		})
	}
	for i := range 200 {
		c.SetRules(map[netip.AddrPort]Rule{peer: {Link: fault.Link{Latency: time.Duration(i) * time.Microsecond, Loss: 0.1, Reorder: 0.1},
			LinkCounts: &counts}})
		c.SetRules(map[netip.AddrPort]Rule{peer: {Cut: true, CutCounts: &counts}})
		c.SetRules(nil)
	}
	wait.Wait()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
