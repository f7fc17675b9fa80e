package command

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

func TestLawAmountsReadWhatTheyWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := types.WeiOf(rapid.Uint64().Draw(t, "wei")).Mul(rapid.Uint64Range(1, 1<<40).Draw(t, "times"))
		got, err := ParseCBY("value", words.CBY(w))
		if err != nil || got != w {
			t.Fatalf("%s wei is written %s and read %s (%v)", w, words.CBY(w), got, err)
		}
	})
}

func TestAmountsThatAreNoneAreRefused(t *testing.T) {
	for text, want := range map[string]string{"1": "1000000000", "0.5": "500000000", ".5": "500000000", "2.": "2000000000", "0.000000001": "1",
		"1 CBY": "1000000000", "007": "7000000000", "12wei": "12", "12 wei": "12", "0wei": "0"} {
		if got, err := ParseCBY("fund", text); err != nil || got.String() != want {
			t.Errorf("%q is %s (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "-1", "+1", "1e9", "0x10", "1.0000000001", "1,5", "1.2.3", "CBY", strings.Repeat("9", 80),
		"wei", "1.0wei", "1 CBY wei", "1 wei CBY", "12weis", "-1wei"} {
		if got, err := ParseCBY("fund", text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}
