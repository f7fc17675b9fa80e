package fault

import "testing"

func TestOneIsNotMany(t *testing.T) {
	for what, want := range map[string][2]string{
		"processes ended":   {"1 process ended", "2 processes ended"},
		"frames dropped":    {"1 frame dropped", "2 frames dropped"},
		"disk uses refused": {"1 disk use refused", "2 disk uses refused"},
		"clocks moved":      {"1 clock moved", "2 clocks moved"},
	} {
		if one, two := Counted(1, what), Counted(2, what); one != want[0] || two != want[1] {
			t.Errorf("%q, %q", one, two)
		}
	}
}
