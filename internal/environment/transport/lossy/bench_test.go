package lossy

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// BenchmarkWrite is one packet to loopback: by the socket itself, by a Conn
// without rules, with a rule for another peer, and with a delay.
func BenchmarkWrite(b *testing.B) {
	var counts fault.Counts
	for _, one := range []struct {
		name  string
		wrap  bool
		rules func(to netip.AddrPort) map[netip.AddrPort]Rule
	}{
		{"socket", false, nil},
		{"norule", true, nil},
		{"otherpeer", true, func(netip.AddrPort) map[netip.AddrPort]Rule { return map[netip.AddrPort]Rule{peer: {Cut: true}} }},
		{"delayed", true, func(to netip.AddrPort) map[netip.AddrPort]Rule {
			return map[netip.AddrPort]Rule{to: {Link: fault.Link{Latency: time.Microsecond}, LinkCounts: &counts}}
		}},
	} {
		b.Run(one.name, func(b *testing.B) {
			listener, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer listener.Close()
			socket, err := net.ListenPacket("udp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			if one.wrap {
				c := Wrap(socket, 1)
				if one.rules != nil {
					c.SetRules(one.rules(listener.LocalAddr().(*net.UDPAddr).AddrPort()))
				}
				socket = c
			}
			defer socket.Close()
			packet := make([]byte, 1200)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := socket.WriteTo(packet, listener.LocalAddr()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
