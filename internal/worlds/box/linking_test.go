package box

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/environment/fault"
)

func linkOf(t *testing.T, n *Network, from, to string) model.Link {
	t.Helper()
	for _, l := range n.Links() {
		if l.From == from && l.To == to {
			return l
		}
	}
	t.Fatalf("there is no link from %s to %s", from, to)
	return model.Link{}
}

// A link tells what it carries, which fault is on it, and what that lost; healed, it
// remembers the losses alone. The views of the network have a leader and votes each.
func TestLinksAndViewsOfALiveNetwork(t *testing.T) {
	n := up(t, quick())
	await(t, n, 3)
	awaitConnected(t, n)
	if all := n.Links(); len(all) != 12 {
		t.Fatalf("%d links between 4 validators", len(all))
	}
	l := linkOf(t, n, "v0", "v1")
	if !l.Up || l.Cut || l.Rule != nil || *l.Dropped != 0 || *l.Frames == 0 || *l.Bytes < *l.Frames || l.RTTMicro == nil {
		t.Errorf("%+v", l)
	}
	done(t, order(n, fault.Order{Verb: fault.SetLink, A: "v0", B: "v1", Link: fault.Link{Latency: time.Millisecond}}))
	done(t, order(n, fault.Order{Verb: fault.Partition, Groups: [][]string{{"v3"}, {}}}))
	await(t, n, n.Best().finalHeight()+4)
	ruled, cut := linkOf(t, n, "v0", "v1"), linkOf(t, n, "v0", "v3")
	if ruled.Rule == nil || ruled.Rule.Latency != "1ms" || ruled.Cut || *ruled.Delayed == 0 || !cut.Cut ||
		cut.Rule != nil || *cut.Dropped == 0 {
		t.Errorf("%+v %+v", ruled, cut)
	}
	done(t, order(n, fault.Order{Verb: fault.Heal}))
	if l := linkOf(t, n, "v0", "v3"); l.Cut || *l.Dropped < *cut.Dropped {
		t.Errorf("%+v", l)
	}
	if r := lastFault(n); r.Order == nil || r.Order.Verb != fault.Partition || len(r.Order.Groups) != 2 {
		t.Errorf("%+v", r.Order)
	}
	told := n.Views().Last(1 << 20)
	final := 0
	for i := range told.Views {
		if v := &told.Views[i]; v.Final != 0 {
			final++
			if v.Leader.IsZero() || v.Height == 0 {
				t.Errorf("%+v", v)
			}
		}
	}
	if final < 5 || len(told.Members) != 4 {
		t.Errorf("%d of %d views are final, by %d members", final, len(told.Views), len(told.Members))
	}
}
