package devnet_test

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	devnet "github.com/cowboyinc/devnet/testcontainers"
)

// Containers that are not started yet hold no port: the same must not be chosen for two.
func TestNoPortIsChosenForTwoContainers(t *testing.T) {
	chosen := map[uint16]bool{}
	for range 1_000 { // of 12,000: chance would meet some twice
		port, err := devnet.FreePort(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
		if err != nil {
			t.Fatal(err)
		}
		if chosen[port] {
			t.Fatalf("the port %d is chosen twice, the second time after %d others", port, len(chosen))
		}
		chosen[port] = true
	}
}

// A port that another program takes before its container starts is left for another.
func TestAPortThatIsTakenMeanwhileIsLeftForAnother(t *testing.T) {
	ctx := t.Context()
	n, err := devnet.Open(ctx, image(t), devnet.WithValidators(1), devnet.WithRunners(0))
	if err != nil {
		t.Fatal(err)
	}
	devnet.CleanUp(t, n)
	bind, port := n.Validator("v0").Published()
	other, err := net.Listen("tcp", net.JoinHostPort(bind, fmt.Sprint(port)))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := n.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if _, now := n.Validator("v0").Published(); now == port {
		t.Errorf("the container has the port %d, at which another program listens", port)
	}
	if _, err := n.Height(ctx); err != nil {
		t.Errorf("the client of the cluster does not reach it: %v", err)
	}
}
