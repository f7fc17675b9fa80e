package node

import (
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/chainview"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/connection"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

// A frozen node's gate keeps what its limits have room for, and counts the rest.
func TestAGateKeepsNoMoreThanItsLimits(t *testing.T) {
	for _, c := range []struct {
		name         string
		frame        []byte
		held, beyond int64
	}{
		{"frames", []byte{1}, MaxHeld, 3},
		{"bytes", make([]byte, MaxHeldBytes/4), 4, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g gate
			var counts fault.Counts
			came := int64(0)
			receive := func(types.Address, []byte) { came++ }
			g.freezeArrivals(&counts)
			for range c.held + c.beyond {
				g.admitFrame(receive, types.Address{}, c.frame)
			}
			if came != 0 || counts.Held.Load() != c.held || counts.Dropped.Load() != c.beyond {
				t.Errorf("%d came, %d were held, %d dropped", came, counts.Held.Load(), counts.Dropped.Load())
			}
			g.deliverBacklog()
			g.admitFrame(receive, types.Address{}, c.frame)
			if came != c.held+1 {
				t.Errorf("%d came", came)
			}
		})
	}
}

// Events of connections and views wait for a frozen node: all events of the
// connections, and only the newest head.
func TestAGateKeepsWhatRunnersAreTold(t *testing.T) {
	var g gate
	var counts fault.Counts
	var told []connection.Event
	var heads []types.Height
	links, sight := &toldConnections{}, &toldView{}
	if err := g.gateConnections(links).Start(func(e connection.Event) { told = append(told, e) }); err != nil {
		t.Fatal(err)
	}
	if err := g.gateChainView(sight).Start(func(h *chainview.Head) { heads = append(heads, h.Height) }); err != nil {
		t.Fatal(err)
	}
	sight.receive(&chainview.Head{Height: 1})
	g.freezeArrivals(&counts)
	for i := range MaxHeld + 1 {
		links.receive(connection.Down{ID: connection.ID(i)})
		sight.receive(&chainview.Head{Height: types.Height(i)})
	}
	if len(told) != 0 || len(heads) != 1 || counts.Held.Load() != MaxHeld+2 {
		t.Fatalf("told %d events and %v; %d are held", len(told), heads, counts.Held.Load())
	}
	g.deliverBacklog()
	if len(told) != MaxHeld+1 || told[MaxHeld].Of() != MaxHeld || !slices.Equal(heads, []types.Height{1, MaxHeld}) {
		t.Fatalf("told %d events and %v", len(told), heads)
	}
	sight.receive(&chainview.Head{Height: MaxHeld + 1})
	if len(heads) != 3 {
		t.Fatal("it tells no more")
	}
}

type toldConnections struct {
	env.Connections
	receive func(connection.Event)
}

func (c *toldConnections) Start(receive func(connection.Event)) error {
	c.receive = receive
	return nil
}

type toldView struct {
	env.ChainView
	receive func(*chainview.Head)
}

func (v *toldView) Start(receive func(*chainview.Head)) error {
	v.receive = receive
	return nil
}
