package scheduler

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/types"
	"pgregory.net/rapid"
)

// TestRecordsAreReadAsTheDecoderReadsThem: what the quick readers take is what the
// decoder takes, and nothing cut off passes.
func TestRecordsAreReadAsTheDecoderReadsThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		height := func(name string) types.Height { return types.Height(rapid.Uint64().Draw(t, name)) }
		r := record{At: height("at"), Rank: rapid.Uint64().Draw(t, "rank"), Seq: types.Seq(height("seq")), Height: height("height"),
			Handler: strings.Repeat("h", rapid.IntRange(0, 300).Draw(t, "handler")), ScheduledAt: height("scheduled at")}
		data := codec.Marshal(&r)
		var slow record
		mustRead(data, &slow)
		quick, ok := decodeRecord(data)
		if ok != (len(r.Handler) < 256) || ok && quick != r || slow != r || mustReadRecord(data) != r {
			t.Fatalf("%+v is read as %+v", r, quick)
		}
		if _, ok := decodeRecord(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")]); ok {
			t.Fatal("a record that was cut off is read")
		}
		r.Watch = &types.Watch{Key: types.Bytes("k")}
		if _, ok := decodeRecord(codec.Marshal(&r)); ok || string(mustReadRecord(codec.Marshal(&r)).Watch.Key) != "k" {
			t.Fatal("a watch is lost")
		}

		own := tally{Pending: rapid.Uint64().Draw(t, "pending"), Nonce: rapid.Uint64().Draw(t, "nonce")}
		data = codec.Marshal(&own)
		if got, ok := decodeTally(data); !ok || got != own {
			t.Fatalf("%+v is read as %+v", own, got)
		}
		if _, ok := decodeTally(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut tally")]); ok {
			t.Fatal("a tally that was cut off is read")
		}
	})
}
