package node

import (
	"errors"
	"fmt"

	"github.com/cowboyinc/devnet/internal/environment/env"
)

// ObserverConfig is what one observer is opened from.
type ObserverConfig struct {
	Parts
	// Chain is made anew at each start, and closed at its end.
	Chain func() (env.ChainView, error)
	// Boot starts what runs there, and returns what stops it.
	Boot func(env.Observer) (stop func(), err error)
}

// Observer is one observer and its machine.
type Observer struct {
	Machine
	config ObserverConfig
	view   env.ChainView
	stop   func()
}

// NewObserver makes an observer. Nothing is opened before Start.
func NewObserver(c ObserverConfig) *Observer {
	o := &Observer{config: c}
	o.assemble(c.Parts)
	return o
}

// Start opens log and view, and starts what runs on them. Where that fails all is
// closed again.
func (o *Observer) Start() (err error) {
	if err := o.disk.openLog(); err != nil {
		return fmt.Errorf("%s: its log: %w", o.Name, err)
	}
	view, err := o.config.Chain()
	if err != nil {
		return errors.Join(fmt.Errorf("%s: its view of the chain: %w", o.Name, err), o.halt())
	}
	base := o.boot()
	if o.stop, err = o.config.Boot(env.Observer{Base: base, Chain: o.gate.chain(view)}); err != nil {
		return errors.Join(err, view.Close(), o.halt())
	}
	o.view = view
	o.begun()
	return nil
}

// Stop ends the process.
func (o *Observer) Stop() error {
	if !o.ending() {
		return o.halt()
	}
	o.stop()
	return errors.Join(o.view.Close(), o.halt())
}
