package run

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// A long run says at each tick where its network is, also as it is made again.
func TestALongRunSaysHowFarItIs(t *testing.T) {
	p, pulse, timeline := &runProgress{}, &scenario.Pulse{}, &scenario.Timeline{}
	said := func(want string) {
		t.Helper()
		if got := p.describePlace(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	said("before the script began")
	p.watchPulse(pulse)
	said("before the network's first block")
	pulse.Follow(timeline)
	said("before the network's first block")
	begun := types.Time(time.Hour)
	timeline.Final(begun, 1, nil)
	timeline.Final(begun+types.Time(58*time.Second+200*time.Millisecond), 61, nil)
	said("at block 61 of the network, second 58.2")

	ctx, end := context.WithCancel(context.Background())
	ticks, done, out := make(chan time.Time), make(chan struct{}), &bytes.Buffer{}
	go func() {
		defer close(done)
		printTicks(ctx, ticks, func(at time.Time) { p.printPlace(out, "a.star", at.Sub(time.Time{})) })
	}()
	ticks <- time.Time{}.Add(10 * time.Second)
	ticks <- time.Time{}.Add(20 * time.Second)
	end()
	<-done
	const first = "a.star runs for 10s, and is at block 61 of the network, second 58.2.\n"
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.HasPrefix(got, first) {
		t.Errorf("%q", got)
	}

	pulse.Follow(&scenario.Timeline{}) // the script's next network
	said("before the network's first block")
	p.watchPulse(&scenario.Pulse{})
	said("before the network's first block")
}
