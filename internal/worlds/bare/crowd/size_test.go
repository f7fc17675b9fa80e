package crowd

import (
	"strings"
	"testing"
)

// A large fire takes its room of the lane, and no more: beside two of four, two small ones are all that fit into ten.
func TestALargeFireTakesItsRoom(t *testing.T) {
	large, small := AlwaysDue("large", 2, 1, 1, Price{Tip: 200}), AlwaysDue("small", 6, 1, 1, Price{Tip: 1})
	large.Size = 4
	room := open(t, Config{Seed: 1, Fires: 10, Crowds: []*Crowd{large, small}, Params: map[string]string{
		"cip1.lane_basefee_gain_permille": "0"}})
	run(t, room, 10)
	room.Reset()
	run(t, room, 50)
	if large.Counts.Fired != 2*50 || small.Counts.Fired != 2*50 {
		t.Errorf("%d large and %d small fires in 50 blocks, want 100 and 100", large.Counts.Fired, small.Counts.Fired)
	}
	if used, had := room.Use(); used != had {
		t.Errorf("the fires used %d cycles of %d, want all", used, had)
	}
	if err := room.World.Audit(); err != nil {
		t.Error(err)
	}
}

// Agents have sizes too, and are asked as others are.
func TestAgentsHaveSizes(t *testing.T) {
	raise, none := uint64(0), uint64(0)
	agents := Bidders("agents", 3, Bids{Top: 1_000_000, Patience: &none, AreTips: true, RaisePermille: &raise})
	agents.Size = 2
	room := open(t, Config{Seed: 2, Fires: 6, Crowds: []*Crowd{agents}, Params: map[string]string{"cip1.lane_basefee_gain_permille": "0"}})
	run(t, room, 20)
	room.Reset()
	run(t, room, 20)
	if used, had := room.Use(); used != had || room.Asked() == 0 {
		t.Errorf("agents are asked for %d cycles, and their fires used %d of %d, want all", room.Asked(), used, had)
	}
}

func TestAFireThatFitsIntoNoLaneIsRefused(t *testing.T) {
	one := AlwaysDue("one", 1, 1, 1, Price{})
	one.Size = 11
	if _, err := New(Config{Seed: 1, Fires: 10, Crowds: []*Crowd{one}}); err == nil || !strings.Contains(err.Error(), "holds 10") {
		t.Errorf("got %v, want an error about the lane", err)
	}
}
