package main

import "testing"

func TestRowsOfNamesAreToldByTheirEnds(t *testing.T) {
	for want, names := range map[string][]string{
		"":                    nil,
		"r0":                  {"r0"},
		"r0 to r3":            {"r0", "r1", "r2", "r3"},
		"r0, r2 to r3":        {"r0", "r2", "r3"},
		"r0 to r1, r9 to r11": {"r0", "r1", "r9", "r10", "r11"},
		"median, r0, x":       {"median", "r0", "x"},
	} {
		if got := nameRanges(names); got != want {
			t.Errorf("%v: %q, not %q", names, got, want)
		}
	}
}
