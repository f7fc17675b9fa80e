package scheduler

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
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

// TestTheLongestTimerIsReadBack: the longest handler and watched key that the
// parameters can allow are below the limits of decoding.
func TestTheLongestTimerIsReadBack(t *testing.T) {
	w := newWatchWorld()
	for _, key := range []string{"cip5.max_handler_bytes", "chain.max_state_key_bytes"} {
		info, err := params.Lookup(key)
		if err == nil {
			err = w.p.Set(key, info.Max)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if w.p.MaxTimerHandler > maxStoredBytes || w.p.MaxStateKeyBytes > maxStoredBytes {
		t.Fatalf("a handler may have %d bytes and a key %d; a record has at most %d", w.p.MaxTimerHandler, w.p.MaxStateKeyBytes, maxStoredBytes)
	}
	key := types.Bytes(strings.Repeat("k", int(w.p.MaxStateKeyBytes)))
	w.must(t, bob, program.TimerRequest{Height: 2, Handler: strings.Repeat("h", int(w.p.MaxTimerHandler)),
		Watch: &types.Watch{Actor: alice, Key: key}})
	w.end()
	w.write(string(key), "1")
	if w.fires() != 1 {
		t.Fatal("it does not fire")
	}
}
