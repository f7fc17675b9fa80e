package plural

import "testing"

func TestOneThingHasNoPlural(t *testing.T) {
	for want, got := range map[string]string{"0 bytes": Of(0, "byte"), "1 byte": Of(uint64(1), "byte"), "2 bytes": Of(2, "byte"),
		"-1 bytes": Of(-1, "byte"), "1 process": Of(1, "process"), "2 processes": Of(2, "process"), "2 disk uses": Of(2, "disk use")} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
