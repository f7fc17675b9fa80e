package crowd

import "testing"

// BenchmarkFires makes blocks in which 300 timers are due and 264 fire.
func BenchmarkFires(b *testing.B) {
	room := open(b, Config{Seed: 1, Fires: 264, Crowds: []*Crowd{AlwaysDue("busy", 10, 30, 1, Price{Tip: 100})}})
	run(b, room, 10)
	before := room.World.Fires()
	for b.Loop() {
		run(b, room, 1)
	}
	b.ReportMetric(float64(room.World.Fires()-before)/b.Elapsed().Seconds(), "fires/s")
}
