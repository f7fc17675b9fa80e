package simulated

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/bench"
)

// A bench shows the links and views of its network; what a snapshot takes back is gone.
func TestABenchShowsLinksAndViews(t *testing.T) {
	b, err := NewBench("test", bench.Config{Validators: 4, BlockTime: "1s", Open: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	run := func(d time.Duration) {
		t.Helper()
		if err := b.Run(d); err != nil {
			t.Fatal(err)
		}
	}
	run(5 * time.Second)
	if told := b.Views().Last(100); len(told.Views) < 4 || told.Views[0].Final == 0 || len(told.Members) != 4 || told.Failed != 0 {
		t.Errorf("%+v", told)
	}
	if all := b.Links(); len(all) != 12 || !all[0].Up || all[0].Rule != nil {
		t.Errorf("%+v", all)
	}
	revert, err := b.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	run(3 * time.Second)
	if err := revert(); err != nil || len(b.Views().Last(100).Views) != 0 {
		t.Errorf("views of what was taken back: %+v, %v", b.Views().Last(1), err)
	}
	run(3 * time.Second)
	for _, o := range []fault.Order{{Verb: fault.Partition, Groups: [][]string{{"v0", "v1"}, {}}},
		{Verb: fault.SetLink, A: "v0", B: "v1", Link: fault.Link{Latency: 20 * time.Millisecond}}} {
		if effect, err := b.Do(o); err != nil || effect.Order == nil || effect.Order.Verb != o.Verb {
			t.Fatalf("%+v, %v", effect, err)
		}
	}
	for _, l := range b.Links() {
		apart := (l.From == "v0" || l.From == "v1") != (l.To == "v0" || l.To == "v1")
		ruled := l.From == "v0" && l.To == "v1" || l.From == "v1" && l.To == "v0"
		if l.Cut != apart || l.Up == apart || (l.Rule != nil) != ruled || l.Dropped != nil {
			t.Errorf("%+v", l)
		}
	}
}
