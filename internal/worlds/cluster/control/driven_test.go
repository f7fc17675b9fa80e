package control

import (
	"net"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/environment/roles"
)

// closing notifies when it is closed.
type closing struct {
	net.Listener
	closed chan struct{}
}

func (l *closing) Close() error {
	err := l.Listener.Close()
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return err
}

// Under the strategy stop a runner's process ends for a panic while its driver waits for
// the answer, which reports the panic's effect.
func TestADriverHearsOfAPanicThatEndsTheProcess(t *testing.T) {
	d := &DrivenRunner{orders: NewRunnerServer(secret, false)}
	d.server = d.orders.Server()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := &closing{inner, make(chan struct{})}
	go func() { _ = d.server.Serve(listener) }()
	closed := make(chan error, 1)
	d.orders.Begin(Runner{Do: func(_ *fault.Order, counts *fault.Counts, over func(time.Duration)) error {
		go func() { closed <- d.Close() }()
		<-listener.closed
		roles.TakenAlong.Count(&counts.Panicked, &counts.Restarted, &counts.Ended)
		over(0)
		return nil
	}})
	c := NewClient(func() string { return "http://" + inner.Addr().String() }, secret)
	defer c.Close()
	all, err := c.Order(t.Context(), 1, fault.Order{Verb: fault.Panic, Node: "r0", Role: "runner"})
	var counts fault.Counts
	roles.TakenAlong.Count(&counts.Panicked, &counts.Restarted, &counts.Ended)
	if err != nil || len(all) != 1 || all[0] != (Count{1, counts.Figures(), true}) {
		t.Errorf("the driver hears %v, %v", all, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
