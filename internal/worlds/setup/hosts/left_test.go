package hosts

import "testing"

// What a folder notes of who has left is read at the next start of all.
func TestWhoHasLeftIsKnownAtTheNextStart(t *testing.T) {
	dir, _ := written(t, nil)
	for _, left := range []bool{true, true, false, false} {
		for _, name := range []string{"v0", "r0"} {
			if err := SetLeft(dir, name, left); err != nil {
				t.Fatal(err)
			}
		}
		n, err := Reopen(dir)
		if err != nil || n.Validators[0].Left != left || n.Runners[0].Left != left {
			t.Fatalf("noted %t, and read %v, %v", left, n, err)
		}
	}
}
