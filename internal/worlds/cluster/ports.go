package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Range of ports for nodes: above those of well-known services, and below those that
// systems assign by themselves, of which a free one may be taken before its node starts.
const (
	leastPort    = 20_000
	dynamicPorts = 32_000
	portAttempts = 200
)

// FreePort finds a port of this machine that is free, both by UDP and by TCP.
func FreePort() (int, error) { return FreePorts(0, 1) }

// FreePorts finds ports in a row that are free: from a wanted one on, 0 for none, or any.
// It returns the first.
func FreePorts(wanted, count int) (first int, err error) {
	if wanted > 0 && wanted < dynamicPorts && portsFree(wanted, count) {
		return wanted, nil
	}
	if count > dynamicPorts-leastPort {
		return 0, fmt.Errorf("%d nodes are more than this machine has ports for", count)
	}
	for range portAttempts {
		first = leastPort + rand.IntN(dynamicPorts-leastPort-count+1)
		if portsFree(first, count) {
			return first, nil
		}
	}
	return 0, fmt.Errorf("no %d ports in a row are free", count)
}

func portsFree(first, count int) bool {
	for port := first; port < first+count; port++ {
		if portFree(port) != nil {
			return false
		}
	}
	return true
}

func portFree(port int) error {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	udp, err := net.ListenPacket("udp", address)
	if err != nil {
		return errors.Join(err, tcp.Close())
	}
	return errors.Join(tcp.Close(), udp.Close())
}
