package connections

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"
)

// Limits of the wait for a port.
const (
	portPatience = time.Second
	portInterval = 10 * time.Millisecond
)

// Socket opens a UDP socket on host:port; port 0 takes a free one, and "" one of the local
// host. A port in use is tried again for a second. A child in fork keeps sockets that were
// closed meanwhile, until it executes its program.
func Socket(listen string) (net.PacketConn, error) {
	address := cmp.Or(listen, "127.0.0.1:0")
	for until := time.Now().Add(portPatience); ; time.Sleep(portInterval) {
		socket, err := net.ListenPacket("udp", address)
		if err == nil {
			return socket, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(until) {
			return nil, fmt.Errorf("open a socket on %s (is another process on that port?): %w", address, err)
		}
	}
}
