// Package listen judges the address at which an API listens, and who may call it.
package listen

import (
	"net"
	"os"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// Check refuses an invalid address.
func Check(address string) error {
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
		return failure.NewUsage("Give HOST:PORT, like 127.0.0.1:4000; port 0: any.", "--http: invalid address %q: %v", address,
			failure.InnermostCause(err))
	}
	return nil
}

// NewInUse is the end of a command whose address another program has.
func NewInUse(address string, err error) error {
	return failure.NewNoStart("Stop what listens there, or choose another address with --http (port 0: any).",
		"cannot listen on the HTTP address %s: %v", address, failure.InnermostCause(err))
}

// CallableNames are the names by which clients may call a server at address. A server that
// listens on all addresses may be called by this machine's own name, as a container is
// by its neighbours.
func CallableNames(address string) []string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		name, err := os.Hostname()
		if err != nil {
			return nil
		}
		return []string{strings.ToLower(name)}
	}
	return []string{host}
}

// ReachableAddress is how this machine reaches a server at address, which may listen
// on all of its addresses.
func ReachableAddress(address string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

// NoteAllAddresses says that an API listens on all addresses; "" if it listens on one.
func NoteAllAddresses(bound string) string {
	if ReachableAddress(bound) == bound {
		return ""
	}
	return ", and all other addresses of this machine"
}
