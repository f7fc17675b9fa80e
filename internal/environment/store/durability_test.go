package store

import "testing"

func TestDurabilityReadsWhatItWrites(t *testing.T) {
	for _, want := range []Durability{Process, Disk} {
		text, _ := want.MarshalText()
		var got Durability
		if err := got.UnmarshalText(text); err != nil || got != want {
			t.Errorf("%v: got %v, %v", want, got, err)
		}
	}
	var d Durability
	if err := d.UnmarshalText([]byte("forever")); err == nil || err.Error() != `durability "forever" is neither process nor disk` {
		t.Errorf("got %v", err)
	}
}
