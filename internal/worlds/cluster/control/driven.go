package control

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/clock"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/executor/custom"
	"github.com/cowboyinc/devnet/internal/environment/transport/lossy"
	"github.com/cowboyinc/devnet/internal/worlds/byzantine"
	"github.com/cowboyinc/devnet/internal/worlds/node"
)

// DrivenRunner wraps a runner's environment, so that a supervisor may control it. Nil
// is a runner without a supervisor.
type DrivenRunner struct {
	orders *RunnerServer
	server *http.Server
	clock  *clock.Clock
	manual *custom.Manual
	mask   *byzantine.RunnerMask
	held   *gatedExecutor
	socket netip.AddrPort
	reload func() (added, removed []string, err error)

	mu    sync.Mutex
	conn  *lossy.Conn                   // of the process that runs, or ran last; guarded by mu, as rules
	rules map[netip.AddrPort]lossy.Rule // as they were set last
}

// DriveRunner puts a runner that is to be opened under the control of a holder of a secret.
// The clock belongs to the runner; manual is its executor manual, or nil. With strict the
// supervisor only reads, and nothing is wrapped.
func DriveRunner(config *node.RunnerConfig, secret string, strict bool, clock *clock.Clock, manual *custom.Manual) *DrivenRunner {
	d := &DrivenRunner{orders: NewRunnerServer(secret, strict), clock: clock, manual: manual}
	if strict {
		config.WrapConn = func(socket net.PacketConn) net.PacketConn {
			d.socket = socket.LocalAddr().(*net.UDPAddr).AddrPort()
			return socket
		}
		return d
	}
	config.WrapConn = func(socket net.PacketConn) net.PacketConn {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.conn = lossy.Wrap(socket, rand.Uint64())
		d.conn.SetRules(d.rules)
		d.socket = socket.LocalAddr().(*net.UDPAddr).AddrPort()
		return d.conn
	}
	config.Wrap = func(given env.Runner) env.Runner {
		d.mask, given = byzantine.NewRunnerMask(given)
		shown := types.Height(0)
		if d.held != nil {
			shown = d.held.seenHeight()
		}
		d.held = newGatedExecutor(given.Executor)
		d.held.showHeight(shown)
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
		return fmt.Errorf("cannot serve the supervisor at %s: %w", at, err)
	}
	d.reload = reload
	d.orders.Begin(d.runnerOf(r))
	d.server = d.orders.Server()
	go func() { _ = d.server.Serve(listener) }() // it ends with Close
	return nil
}

// Again answers for the next process of the runner, whose executor manual is another.
func (d *DrivenRunner) Again(r *node.Runner, manual *custom.Manual) {
	if d != nil {
		d.manual = manual
		d.orders.Again(d.runnerOf(r))
	}
}

func (d *DrivenRunner) runnerOf(r *node.Runner) Runner {
	does := &byzantine.RunnerProcess{Mask: d.mask, Shell: r.Shell()}
	shown := Runner{Name: r.Name, Shell: r.Shell(), Do: does.Do, Socket: d.socket, SetRules: d.setRules, Mute: d.silenceRunner,
		Clock: d.clock, Manual: d.manual, Reload: d.reload}
	if d.held != nil {
		shown.Show = d.held.showHeight
	}
	return shown
}

func (d *DrivenRunner) setRules(rules map[netip.AddrPort]lossy.Rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = rules
	d.conn.SetRules(rules)
}

func (d *DrivenRunner) silenceRunner() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conn.Kill()
}

// closePatience is how long a driver may take to read the last answers.
const closePatience = 5 * time.Second

// Close stops answering, once open requests are answered: the answer to a panic reports
// that the process ends because of it.
func (d *DrivenRunner) Close() error {
	if d == nil || d.server == nil {
		return nil
	}
	d.orders.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	if d.server.Shutdown(ctx) == nil {
		return nil
	}
	return d.server.Close()
}
