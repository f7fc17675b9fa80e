package api

import (
	"net/http"
	"sync"
)

// Driven serves a backend that one goroutine at a time may use, and whose time passes only while a
// request drives it. The holder of its lock drives it; on unlocking, followers of its blocks
// are notified.
type Driven struct {
	*Server
	mu   sync.Mutex
	tell func()
}

// NewDriven returns the server of a backend; tell announces its height.
func NewDriven(backend Backend, cfg Config, tell func()) *Driven {
	d := &Driven{tell: tell}
	cfg.World, cfg.FreeReads = d, true
	d.Server = New(backend, cfg)
	return d
}

// Lock takes the backend.
func (d *Driven) Lock() { d.mu.Lock() }

// Unlock announces its height, and releases it.
func (d *Driven) Unlock() {
	d.tell()
	d.mu.Unlock()
}

// ServeHTTP holds the backend while it answers, but for a stream, which does not end.
func (d *Driven) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !Endless(r.URL.Path) {
		d.Lock()
		defer d.Unlock()
	}
	d.Handler().ServeHTTP(w, r)
}
