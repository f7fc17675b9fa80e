package control

import (
	"net"
	"net/netip"
)

// reachableAddress is where peers find a socket: one that listens at every address of its host
// has the first that is not loopback's.
func reachableAddress(socket netip.AddrPort) netip.AddrPort {
	if !socket.Addr().IsUnspecified() {
		return netip.AddrPortFrom(socket.Addr().Unmap(), socket.Port())
	}
	addresses, err := net.InterfaceAddrs()
	if err == nil {
		for _, a := range addresses {
			if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Is4() && !prefix.Addr().IsLoopback() {
				return netip.AddrPortFrom(prefix.Addr(), socket.Port())
			}
		}
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), socket.Port())
}
