package lossy

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// The rules' effects on the packets for an address stay counted when rules change and
// end.
func TestLossesAreCountedByAddress(t *testing.T) {
	var counts fault.Counts
	delayed := Rule{Link: fault.Link{Latency: time.Second}, LinkCounts: &counts}
	world(t, delayed, func(c *Conn, s *sink, send func(string)) {
		send("a")
		send("b")
		c.SetRules(map[netip.AddrPort]Rule{peer: {Link: fault.Link{Loss: 1}, LinkCounts: &counts}})
		send("c")
		c.SetRules(map[netip.AddrPort]Rule{peer: {Cut: true, CutCounts: &counts}})
		send("d")
		time.Sleep(2 * time.Second) // what waited is lost in the cut
		synctest.Wait()
		c.SetRules(nil)
		send("e")
		dropped, late := c.Tally(peer)
		if got := s.got(); dropped != 4 || late != 2 || len(got) != 1 || counts.Dropped.Load() != 4 {
			t.Errorf("%d dropped, %d delayed, %q arrived", dropped, late, got)
		}
		if dropped, late := c.Tally(netip.MustParseAddrPort("127.0.0.1:8")); dropped != 0 || late != 0 {
			t.Error("another address is counted")
		}
	})
}

// Peers that reconnect under other addresses make the counts no longer than a bound.
func TestTheCountsAreBounded(t *testing.T) {
	world(t, Rule{}, func(c *Conn, _ *sink, _ func(string)) {
		for i := range 3 * maxTallies {
			c.SetRules(map[netip.AddrPort]Rule{
				netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 1): {Cut: true},
			})
		}
		if len(c.told) > maxTallies {
			t.Errorf("%d addresses", len(c.told))
		}
	})
}
