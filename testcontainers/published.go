package devnet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
)

// port is the port of a node's HTTP API in its container.
const port = 4000

// inside is the folder of a node in its container, which its user owns.
const inside = "/devnet"

// publishedAPI is where a container's API is reached: the same for all of its lives.
type publishedAPI struct {
	bind netip.Addr
	port uint16
	URL  string
}

// chooseAPI chooses where an API is to be reached. The API signs for the named accounts,
// so that where the engine is this machine's own, only this machine reaches it.
func chooseAPI(ctx context.Context) (p publishedAPI, err error) {
	provider, err := testcontainers.NewDockerProvider()
	if err != nil {
		return p, err
	}
	defer provider.Close()
	host, err := provider.DaemonHost(ctx)
	if err != nil {
		return p, err
	}
	p.bind = netip.IPv4Unspecified()
	if host == "localhost" || host == "127.0.0.1" {
		host, p.bind = "127.0.0.1", netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	// Docker gives a container that starts again another port; one that is asked for it
	// keeps. That it is free until then is likely, not sure.
	if p.port, err = freePort(p.bind); err != nil {
		return p, err
	}
	p.URL = "http://" + net.JoinHostPort(host, fmt.Sprint(p.port))
	return p, nil
}

// Ports are chosen below those that systems give to outgoing connections, one of which
// could take a container's while that is down.
const firstPort, ports, portTries = 20_000, 12_000, 100

// startTries is how often a container is made at another port, when another program took
// the one that was free when it was chosen.
const startTries = 4

// given are the ports that this process chose. Two containers that are not started yet must
// not have the same, though both still look free.
var given struct {
	sync.Mutex
	ports map[uint16]bool
}

// freePort is a port without a listener, which this process chose for no other container.
func freePort(at netip.Addr) (port uint16, err error) {
	given.Lock()
	defer given.Unlock()
	if len(given.ports) >= ports/2 { // most of those containers are gone
		given.ports = nil
	}
	for range portTries {
		port = uint16(firstPort + rand.IntN(ports))
		if given.ports[port] {
			continue
		}
		free, refused := net.Listen("tcp", netip.AddrPortFrom(at, port).String())
		if refused == nil {
			if given.ports == nil {
				given.ports = map[uint16]bool{}
			}
			given.ports[port] = true
			return port, free.Close()
		}
		err = refused
	}
	return 0, fmt.Errorf("no port from %d on is free: %w", firstPort, err)
}

// isPortTaken reports whether the engine could not start a container because another program has
// its port. Docker and the kernel write these words.
func isPortTaken(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "port is already allocated") ||
		strings.Contains(err.Error(), "address already in use"))
}

// publishOption has a container publish its API there.
func (p publishedAPI) publishOption() testcontainers.CustomizeRequestOption {
	return testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
		if c.PortBindings == nil {
			c.PortBindings = network.PortMap{}
		}
		c.PortBindings[network.MustParsePort(fmt.Sprintf("%d/tcp", port))] = []network.PortBinding{{HostIP: p.bind, HostPort: fmt.Sprint(p.port)}}
	})
}
