package polling

import "testing"

// J24: a signed poll is of one chain and one time, and counts for two minutes.
func TestJ24ASignedPollIsOfItsChainAndTime(t *testing.T) {
	if got := Digest(8011, 1_700_000_000_000).String(); got != "0x1bc31b5157c48cf81f7a850bf2ce69ed7bc9ed8173267a30504a7f108efefd36" {
		t.Errorf("the digest is %s", got)
	}
	if Digest(1, 2) == Digest(2, 1) || Digest(1, 2) == Digest(1, 3) {
		t.Error("two polls have one digest")
	}
	const now = 1_700_000_000_000
	for at, fresh := range map[uint64]bool{1_700_000_000_000: true, 1_700_000_120_000: true, 1_699_999_880_000: true,
		1_700_000_120_001: false, 1_699_999_879_999: false, 0: false, 1<<64 - 1: false} {
		if got := (&Signed{At: at}).Fresh(now); got != fresh {
			t.Errorf("%d is fresh: %t", at, got)
		}
	}
}
