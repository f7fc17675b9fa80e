package chaintext

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Decision C18: "devnet block" tells what was passed over, in a line, and nothing
// where that is nothing.
func TestABlockTellsWhatWasPassedOver(t *testing.T) {
	for want, p := range map[string]model.Passed{ // order: each is judged alone
		"": {},
		"host_failed over 1 timer: 0x01000000, 2 messages, 1 gas bidding agent; no time for more timers, messages": {
			Timers: []types.TimerID{{1}}, Messages: []types.Seq{3, 4}, Agents: make([]model.Asked, 1), Stopped: []string{"timers", "messages"}},
		"no time for more agents": {Stopped: []string{"agents"}},
	} {
		if got := passedOver(&p); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
