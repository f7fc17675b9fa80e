package control

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"

	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/node"
)

// DrivenRunner stands between a runner and its environment, so that somebody may drive
// it. Nil is a runner that nobody drives.
type DrivenRunner struct {
	seat   *RunnerSeat
	server *http.Server
	clock  *clock.Clock
	manual *custom.Manual
	mask   *byzantine.RunnerMask
	held   *held
	conn   *lossy.Conn
	socket netip.AddrPort
}

// DriveRunner makes a runner that is to be opened one that is driven by who bears a
// secret. The clock is the runner's; manual is its executor manual, or nil.
func DriveRunner(config *node.RunnerConfig, secret string, clock *clock.Clock, manual *custom.Manual) *DrivenRunner {
	d := &DrivenRunner{seat: NewRunnerSeat(secret), clock: clock, manual: manual}
	config.WrapConn = func(socket net.PacketConn) net.PacketConn {
		d.conn = lossy.Wrap(socket, rand.Uint64())
		d.socket = socket.LocalAddr().(*net.UDPAddr).AddrPort()
		return d.conn
	}
	config.Wrap = func(given env.Runner) env.Runner {
		d.mask, given = byzantine.NewRunnerMask(given)
		d.held = holdBack(given.Executor)
		given.Executor = d.held
		return given
	}
	return d
}

// Begin answers the driver of a runner that runs at host:port. reload reads its settings
// again.
func (d *DrivenRunner) Begin(r *node.Runner, at string, reload func() (added, removed []string, err error)) error {
	if d == nil {
		return nil
	}
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return fmt.Errorf("its driver cannot be answered at %s: %w", at, err)
	}
	d.seat.Begin(Runner{Name: r.Name, Shell: r.Shell(), Mask: d.mask, Socket: d.socket, SetRules: d.conn.SetRules, Mute: d.conn.Kill,
		Clock: d.clock, Manual: d.manual, Show: d.held.show, Reload: reload})
	d.server = d.seat.Server()
	go func() { _ = d.server.Serve(listener) }() // it ends with Close
	return nil
}

// Close answers nobody any more.
func (d *DrivenRunner) Close() error {
	if d == nil || d.server == nil {
		return nil
	}
	d.seat.Close()
	return d.server.Close()
}
