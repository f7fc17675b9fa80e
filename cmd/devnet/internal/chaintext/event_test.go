package chaintext

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/naming"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// The chain's own events are CBOR maps: they are shown as what they hold.
func TestAnEventIsShownAsWhatItHolds(t *testing.T) {
	clamped := codec.Marshal(map[string]any{"stated": 30, "clamped": 3, "timer_id": []byte{0xab, 0xcd}})
	drawn := codec.Marshal(map[string]any{"attempt": 2, "runner": nil, "committee": []types.Address{{7}, {8}},
		"price": types.WeiOf(1 << 63).Mul(2)})
	for want, data := range map[string][]byte{
		"clamped 3, stated 30, timer_id 0xabcd": clamped,
		"change 1":                              []byte("change 1"),
		"-256 (0xff00)":                         {0xff, 0x00},
		"":                                      {},
		"0xa0":                                  codec.Marshal(map[string]any{}),
		"0xa1616180":                            codec.Marshal(map[string]any{"a": []int{}}),
		types.Bytes(clamped[:9]).String():       clamped[:9],
	} {
		if got := words.EventData(data); got != want {
			t.Errorf("%x is shown as %q, want %q", data, got, want)
		}
	}
	if got := words.EventData(drawn); got != "attempt 2, committee 0x07000000 0x08000000, price 18446744073709551616" {
		t.Errorf("a draw is shown as %q", got)
	}
	id, name := bytes.Repeat([]byte{9}, 32), func(a types.Address) string { return "r" + string('0'+rune(a[0])) }
	line := codec.Marshal(map[string]any{"id": id, "runner": types.Address{3}, "committee": []types.Address{{3}, {4}}})
	if got := words.EventLine(line, name); got != "committee r3 r4, id 0x09090909, runner r3" {
		t.Errorf("in a list it is shown as %q", got)
	}
	if got := words.EventLine(append([]byte{0xff}, id...), name); got != "0xff0909090909090909090909… 33 bytes" {
		t.Errorf("bytes in a list are shown as %q", got)
	}
	var out bytes.Buffer
	PrintEvents(&out, []model.Event{{Name: "e"}, {Name: "f", Data: types.Bytes("x")}})
	if out.String() != "event e\nevent f x\n" {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	failed := codec.Marshal(map[string]any{"reason": "type_error", "bidder": make([]byte, 2)})
	events := slices.Repeat([]model.Event{{Name: "timer.gas_bid_failed", Data: failed}}, maxShownEvents+3)
	PrintBlock(&out, model.Block{Events: events}, "", nil, naming.New(nil))
	if text := out.String(); strings.Count(text, "event timer.gas_bid_failed bidder 0x0000, reason type_error\n") != maxShownEvents ||
		!strings.HasSuffix(text, "\n… and 3 more events: --json\n") {
		t.Errorf("%s", text)
	}
}
