package main

import (
	"strings"
	"testing"
)

// A changed digest, a script that is new and one that is gone are each named.
func TestEachRunThatDiffersIsNamed(t *testing.T) {
	before := []string{"a 1 height 3 code 0 0x01", "a 2 height 3 code 0 0x02", "b 1 height 9 code 0 0x03"}
	if differ := compareRuns(before, before, true); len(differ) > 0 {
		t.Errorf("the same runs differ: %q", differ)
	}
	after := []string{"a 1 height 3 code 0 0x01", "a 2 height 3 code 0 0x05", "c 1 height 1 code 0 0x04"}
	differ := strings.Join(compareRuns(before, after, true), "\n")
	want := `before a 2 height 3 code 0 0x02
after  a 2 height 3 code 0 0x05
before no such run
after  c 1 height 1 code 0 0x04
before b 1 height 9 code 0 0x03
after  no such script`
	if differ != want {
		t.Errorf("have\n%s\nwant\n%s", differ, want)
	}
	if differ := compareRuns(before, before[:1], false); len(differ) > 0 {
		t.Errorf("for only some scripts and seeds, these differ: %q", differ)
	}
}
