package steer

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// A travel that is stopped puts the clock back: no clock is "moved by" less than nothing.
func TestAStoppedTravelSaysThatTheClockWasPutBack(t *testing.T) {
	for by, want := range map[time.Duration]string{
		3 * time.Second:  "moved by 3s",
		0:                "moved by 0s",
		-274 * time.Hour: "put back by 274h0m0s, which the travel had left",
	} {
		if got := describeMove(by); got != want {
			t.Errorf("%v is %q, want %q", by, got, want)
		}
	}
}

// After a storm the timers that went wrong are listed first, and a command lists all.
func TestAStormOfTimersIsShort(t *testing.T) {
	timer := func(i int, status types.TimerStatus, result string) model.AdvanceTimer {
		return model.AdvanceTimer{ID: types.TimerID{byte(i)}, Status: string(status), Result: result}
	}
	a := model.Advance{From: 100, To: 200}
	for i := range 195 {
		a.Timers = append(a.Timers, timer(i, types.TimerFired, "ok"))
	}
	a.Timers[120] = timer(120, types.TimerFired, "reverted")
	a.Timers[194] = timer(194, types.TimerExpired, "")
	a.Ended, a.Fired = 195, 194
	show := func() []string {
		var out bytes.Buffer
		printAdvance(&out, a, naming.New(nil))
		_, table, _ := strings.Cut(out.String(), "ID ")
		return strings.Split(strings.TrimSpace(table), "\n")[1:]
	}
	lines := show()
	if len(lines) != maxShownEnds+1 || lines[maxShownEnds] != self.ReplaceName("… and 185 more: devnet events --type timer --from 101") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	for i, want := range []string{"0x78000000 fired, reverted", "0xc2000000 expired", "0x00000000 fired", "0x01000000 fired"} {
		id, fate, _ := strings.Cut(want, " ")
		if !strings.HasPrefix(lines[i], id) || !strings.HasSuffix(lines[i], "  "+fate) {
			t.Errorf("line %d: %q, want %s", i, lines[i], want)
		}
	}
	a.Timers, a.Ended, a.Fired = a.Timers[115:125], 10, 10
	if lines := show(); len(lines) != 10 || !strings.HasSuffix(lines[5], "  fired, reverted") {
		t.Errorf("ten in their order: %q", lines)
	}
}
