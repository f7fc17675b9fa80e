package execution

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

func TestWordsAreCutAtTheBorderOfACharacter(t *testing.T) {
	if short := "a short text"; Clip(short) != short {
		t.Errorf("%q was cut to %q", short, Clip(short))
	}
	for pad := range 4 {
		long := strings.Repeat("a", pad) + strings.Repeat("€", MaxDetail)
		cut := Clip(long)
		if len(cut) > MaxDetail || len(cut) < MaxDetail-3 || !utf8.ValidString(cut) || !strings.HasPrefix(long, cut) {
			t.Errorf("after %d letters: %d bytes, valid %t", pad, len(cut), utf8.ValidString(cut))
		}
	}
}

func TestARefusalSaysItsReason(t *testing.T) {
	r := Refuse(push.Unsupported, "no model %q", strings.Repeat("m", 2*MaxDetail))
	if !strings.HasPrefix(r.Error(), "Unsupported: no model \"mm") || len(r.Detail) != MaxDetail {
		t.Errorf("%d bytes: %s", len(r.Detail), r)
	}
}
