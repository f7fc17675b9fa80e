package scheduler

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// Any one key taken away is damage; only the payload's absence looks like an
// empty payload.
func TestCheckFindsEveryMissingKey(t *testing.T) {
	w := rich()
	w.must(t, alice, program.TimerRequest{Height: 9, Payload: []byte("x")})
	w.must(t, bob, program.TimerRequest{Height: 9})
	if err := Check(&w.p, w.kv); err != nil {
		t.Fatal(err)
	}
	for _, p := range w.kv.dump() {
		mark := w.kv.mark()
		w.kv.Set(p.key, nil)
		if err := Check(&w.p, w.kv); (err == nil) != (string(p.key[:3]) == "t/p") {
			t.Errorf("without %q: %v", p.key, err)
		}
		w.kv.rollback(mark)
	}
	w.kv.Set(keyPayload([32]byte{1}), []byte("x"))
	if Check(&w.p, w.kv) == nil {
		t.Error("a payload without a timer passes")
	}
}

func TestTotalCountsEveryPendingTimer(t *testing.T) {
	w := rich()
	for range 3 {
		w.must(t, alice, program.TimerRequest{Height: 2})
		w.must(t, bob, program.TimerRequest{Height: 9})
	}
	if n := Total(w.kv); n != 6 {
		t.Fatalf("%d, want 6", n)
	}
	w.block()
	w.block()
	if n := Total(w.kv); n != 3 {
		t.Fatalf("%d after three fired", n)
	}
}
