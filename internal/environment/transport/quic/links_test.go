package quic

import (
	"github.com/cowboyinc/devnet/internal/environment/transport/memnet"

	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
)

func TestALossyLinkLosesNoFrame(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := pair(t, with)
		random := rand.New(rand.NewPCG(1, 2))
		net.SetFate(func(string, string, int) (time.Duration, bool) {
			return time.Duration(5+random.IntN(10)) * time.Millisecond, random.IntN(10) == 0
		})
		const count = 200
		for i := range count {
			nodes[0].Send(nodes[1].key.Address(), append(make([]byte, 500), byte(i)))
		}
		for i := range count {
			if got := nodes[1].next(t).frame; got[500] != byte(i) {
				t.Fatalf("frame %d is %d", i, got[500])
			}
		}
	})
}

// TestABlockHoldsUpNoVote: on a link of 1 MB/s a block of 2 MB takes two seconds; a
// vote sent right after it arrives in a fraction of that.
func TestABlockHoldsUpNoVote(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := pair(t, with)
		net.SetFate(bandwidth(1<<20, 10*time.Millisecond))
		to := nodes[1].key.Address()
		start := time.Now()
		nodes[0].Send(to, make([]byte, 2<<20))
		time.Sleep(300 * time.Millisecond)
		sent := time.Now()
		nodes[0].Send(to, []byte("vote"))
		first := nodes[1].next(t)
		took := time.Since(sent)
		if string(first.frame) != "vote" || took > 300*time.Millisecond {
			t.Fatalf("%d bytes came first, after %v", len(first.frame), took)
		}
		if got := nodes[1].next(t); len(got.frame) != 2<<20 {
			t.Fatalf("%d bytes came next", len(got.frame))
		}
		if took := time.Since(start); took < 2*time.Second {
			t.Fatalf("the link has no limit: %v", took)
		}
	})
}

// TestSmallFramesComeFirst: many of them, a megabyte in all, have the link to
// themselves while a block waits.
func TestSmallFramesComeFirst(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := pair(t, with)
		net.SetFate(bandwidth(1<<20, 10*time.Millisecond))
		to := nodes[1].key.Address()
		nodes[0].Send(to, make([]byte, 3<<20))
		time.Sleep(500 * time.Millisecond)
		start := time.Now()
		for range 32 {
			nodes[0].Send(to, make([]byte, promptBytes))
		}
		for i := range 32 {
			if got := nodes[1].next(t); len(got.frame) != promptBytes {
				t.Fatalf("%d bytes came after %d", len(got.frame), i)
			}
		}
		if took := time.Since(start); took > 1500*time.Millisecond {
			t.Fatalf("it took %v", took)
		}
	})
}

// bandwidth is a link of perSecond bytes a second each way that drops packets which
// would wait longer than 100 ms.
func bandwidth(perSecond int, latency time.Duration) func(from, to string, size int) (time.Duration, bool) {
	free := map[string]time.Time{}
	return func(from, to string, size int) (time.Duration, bool) {
		now := time.Now()
		begins := free[from+to]
		if begins.Before(now) {
			begins = now
		}
		if begins.Sub(now) > 100*time.Millisecond {
			return 0, true
		}
		ends := begins.Add(time.Duration(size) * time.Second / time.Duration(perSecond))
		free[from+to] = ends
		return ends.Sub(now) + latency, false
	}
}

// TestAStalledReceiverHoldsUpNoOther: a node that hands nothing on is cut off
// within writeTimeout of its windows filling, what it would have got is
// bounded and counted, and the third node gets everything meanwhile.
func TestAStalledReceiverHoldsUpNoOther(t *testing.T) {
	virtual(t, func(t *testing.T, net *memnet.Net, with func(*Config)) {
		nodes := []*node{newNode(t, "v0", with), newNode(t, "v1", with), newNode(t, "v2", with)}
		name(nodes...)
		sender, stalled, sound := nodes[0], nodes[1], nodes[2]
		sender.start(t)
		sound.start(t)
		if err := stalled.Start(func(types.Address, []byte) { <-stalled.stop }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(fallbackDial + time.Second)
		connects := statsOf(sender, stalled).Connects
		frame := bytes.Repeat([]byte{7}, promptBytes)
		const count = 300
		var got sync.WaitGroup
		got.Go(func() {
			for range count {
				sound.next(t)
			}
		})
		for range count {
			sender.Send(stalled.key.Address(), frame)
			sender.Send(sound.key.Address(), frame)
			time.Sleep(5 * time.Millisecond)
		}
		got.Wait()
		if s := statsOf(sender, sound); s.FramesDropped != 0 {
			t.Fatalf("the sound one lost %+v", s)
		}
		time.Sleep(writeTimeout + time.Second)
		s := statsOf(sender, stalled)
		if s.FramesSent*promptBytes > 4*maxConnectionWindow || s.FramesDropped == 0 {
			t.Fatalf("stats %+v", s)
		}
		if s.Connects == connects && s.Connected {
			t.Fatalf("never cut off: %+v", s)
		}
	})
}

func statsOf(n, peer *node) PeerStats {
	stats := n.Stats()
	return stats[slices.IndexFunc(stats, func(s PeerStats) bool { return s.Address == peer.key.Address() })]
}
