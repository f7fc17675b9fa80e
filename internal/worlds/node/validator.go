package node

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/environment/transport/quic"
	"github.com/cowboyinc/devnet/validators"
)

// Config is what one validator is opened from.
type Config struct {
	Parts
	// Shell has the genesis and the validator's configuration, besides its
	// environment. Its fields Name, Log, Bootstrap, Lost and OnFailure are filled in
	// here.
	Shell   validators.Config
	Runtime *roles.Runtime
	// Listen is host:port of its socket; port 0 takes a free one, which it keeps when
	// it is started again.
	Listen string
	// Announced is host:port by which others reach that; "": its address.
	Announced string
	Book      *AddressBook // where its peers listen; it enters itself
	Programs  program.Host
	Log       *slog.Logger
	Turns     *connections.Turns   // bounds the handshakes of all validators that share it; nil: there is no bound
	Capture   *connections.Capture // writes qlog files and secrets; nil: none
	// WrapConn may put itself between the mesh and its socket. It may be nil.
	WrapConn func(net.PacketConn) net.PacketConn
	// Wrap may put itself between the validator and its environment, at each start.
	// It may be nil.
	Wrap func(env.Validator) env.Validator
	// Twin prepares, at each start, a second process with the validator's key, which start
	// starts. It returns what the first is given, and what ends the second. It may be nil.
	Twin func(given env.Validator, start StartTwin) (first env.Validator, end func())
}

// StartTwin starts a second process with a validator's key, by a configuration in which only
// the reports are set.
type StartTwin func(validators.Config, env.Validator) (*validators.Validator, error)

// Validator is one validator and its machine.
type Validator struct {
	Machine
	config  Config
	listen  string
	socket  atomic.Pointer[quic.Transport]       // nil while it is closed
	runners *connections.Gateway                 // of the runners that dial the socket
	shell   atomic.Pointer[validators.Validator] // stays readable when the node is stopped
	endTwin func()                               // of the process that runs, or ran last; nil: it can have no second one
	// contracts of the present process, or of the last one.
	contracts atomic.Pointer[fault.Contracts]
}

// NewValidator makes a validator and opens its socket, so that others know its
// address before any of them dials. Nothing else is opened before Open.
func NewValidator(c Config) (*Validator, error) {
	v := &Validator{config: c, listen: c.Listen}
	v.assembleParts(c.Parts)
	if err := v.openSocket(); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *Validator) openSocket() error {
	c := &v.config
	log := c.Log.With("node", v.Name)
	runners := connections.NewGateway(log)
	socket, err := quic.New(quic.Config{Signer: c.Signer, Genesis: c.Shell.Genesis.Hash(), Listen: v.listen,
		WrapPacketConn: c.WrapConn, Runners: runners, Turns: c.Turns, Capture: c.Capture, Logger: log})
	if err != nil {
		return fmt.Errorf("%s cannot listen: %w", v.Name, err)
	}
	v.runners, v.listen = runners, socket.Addr().String()
	v.socket.Store(socket)
	c.Book.Enter(v.Address, cmp.Or(c.Announced, v.listen))
	return nil
}

// Open opens the files, and the socket where Stop has closed it. Where that fails
// everything is closed again.
func (v *Validator) Open() error {
	if v.socket.Load() == nil {
		if err := v.openSocket(); err != nil {
			return err
		}
	}
	if err := v.disk.openLog(); err != nil {
		return v.closeAfter(err)
	}
	if err := v.disk.openStore(); err != nil {
		return v.closeAfter(err)
	}
	return nil
}

// Start starts the roles on the parts that Open has opened. Bootstrap has
// validators that it may connect with before it has synced. Where that fails
// everything is closed again.
func (v *Validator) Start(bootstrap []types.Validator) error {
	c := &v.config
	life, err := drawLife()
	if err != nil {
		return v.closeAfter(err)
	}
	given := env.Validator{Base: v.beginProcess(), Life: life, Mesh: v.tapMesh(c.Book.bookMesh(v.socket.Load())), Connections: v.runners,
		Store: v.disk.store, Programs: c.Programs}
	if c.Wrap != nil {
		given = c.Wrap(given)
	}
	given.Mesh, given.Connections = v.gate.gateMesh(given.Mesh), v.gate.gateConnections(given.Connections)
	shell := c.Shell
	contracts := &fault.Contracts{Wait: v.waiterUntilEnd()}
	given.Contracts = contracts
	shell.Name, shell.Log, shell.Bootstrap, shell.Lost, shell.OnFailure = v.Name, c.Log, bootstrap, v.Lost, v.stopNotifier()
	if c.Twin != nil {
		given, v.endTwin = c.Twin(given, func(twin validators.Config, given env.Validator) (*validators.Validator, error) {
			twin.Name, twin.Genesis, twin.Log, twin.Bootstrap = v.Name+"-twin", shell.Genesis, c.Log, bootstrap
			twin.Unfit, twin.Python = shell.Unfit, shell.Python
			given.Store, given.Base.Log = mem.NewStore(), mem.NewLog()
			return validators.Start(c.Runtime, twin, given)
		})
	}
	started, err := validators.Start(c.Runtime, shell, given)
	if err != nil {
		return v.closeAfter(err)
	}
	if cut := v.disk.cutBytes(); cut > 0 {
		c.Log.Warn("a crash interrupted the last write to the log of votes; the incomplete record was cut off", "node", v.Name, "bytes", cut)
	}
	v.shell.Store(started)
	v.contracts.Store(contracts)
	v.noteRolesRun()
	return nil
}

// drawLife draws what names a start of a validator.
func drawLife() (life types.Life, err error) {
	for life.IsZero() && err == nil {
		_, err = rand.Read(life[:])
	}
	return life, err
}

// closeAfter stops a validator that does not come up, for the reason given.
func (v *Validator) closeAfter(why error) error {
	if err := v.Stop(); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// Stop ends the node in good order, or what Kill or a failure has left of it. Its
// last view stays readable if it is in memory.
func (v *Validator) Stop() (err error) {
	if v.noteEnding() {
		if v.endTwin != nil {
			v.endTwin()
		}
		v.shell.Load().Stop()
		v.contracts.Load().End()
	}
	if socket := v.socket.Load(); socket != nil {
		err = socket.Close()
		v.socket.Store(nil)
	}
	return errors.Join(err, v.endLeftovers())
}

// Shell is the running validator, or the one that ran last; nil before the first.
func (v *Validator) Shell() *validators.Validator { return v.shell.Load() }

// Contracts returns the contracts of the running validator.
func (v *Validator) Contracts() *fault.Contracts { return v.contracts.Load() }

// Store is the open store, or nil: memory is open from the first Open on.
func (v *Validator) Store() env.Store { return v.disk.store }

// Socket returns its end of the mesh, for the counters; nil while it is closed.
func (v *Validator) Socket() *quic.Transport { return v.socket.Load() }
