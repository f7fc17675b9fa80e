package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/environment/env"
)

// Records returns what a log replays.
func Records(t fataler, l env.Log) []string {
	var got []string
	if err := l.Replay(func(r []byte) error { got = append(got, string(r)); return nil }); err != nil {
		t.Fatalf("replay: %v", err)
	}
	return got
}

// Log tests a log; open gives an empty one.
func Log(t *testing.T, open func(testing.TB) env.Log) {
	t.Run("EqualsItsModel", func(t *testing.T) { logEqualsModel(t, open(t)) })
	t.Run("RecordsAreCopied", func(t *testing.T) { logCopies(t, open(t)) })
	t.Run("AnErrorOfEachIsReturned", func(t *testing.T) { logEachError(t, open(t)) })
	t.Run("ClosedIsAnError", func(t *testing.T) { testClosedLog(t, open(t)) })
}

func logEqualsModel(t *testing.T, l env.Log) {
	records := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 40), 0, 5)
	rapid.Check(t, func(r *rapid.T) {
		var want []string
		if err := l.Rewrite(nil); err != nil {
			r.Fatalf("rewrite: %v", err)
		}
		empty := l.Size()
		for range rapid.IntRange(1, 10).Draw(r, "steps") {
			added := records.Draw(r, "records")
			before := l.Size()
			var err error
			if rapid.IntRange(0, 4).Draw(r, "rewrite") == 0 {
				want, before = nil, empty
				err = l.Rewrite(added)
			} else {
				err = l.Append(added...)
			}
			if err != nil {
				r.Fatalf("write: %v", err)
			}
			bytes := 0
			for _, a := range added {
				want = append(want, string(a))
				bytes += len(a)
			}
			if got := Records(r, l); !slices.Equal(got, want) {
				r.Fatalf("got %q, want %q", got, want)
			}
			if l.Size() < before+int64(bytes) {
				r.Fatalf("%d bytes after %d and %d", l.Size(), before, bytes)
			}
		}
	})
}

func logCopies(t *testing.T, l env.Log) {
	record := []byte("record")
	if err := l.Append(record); err != nil {
		t.Fatal(err)
	}
	record[0] = 'X'
	l.Replay(func(r []byte) error { r[0] = 'Y'; return nil })
	if got := Records(t, l); !slices.Equal(got, []string{"record"}) {
		t.Fatalf("got %q", got)
	}
}

func logEachError(t *testing.T, l env.Log) {
	if err := l.Append([]byte("a"), []byte("b")); err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	calls := 0
	err := l.Replay(func([]byte) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Fatalf("%v after %d calls", err, calls)
	}
	if err := l.Append([]byte("c")); err != nil {
		t.Fatal(err)
	}
	if got := Records(t, l); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Fatalf("got %q", got)
	}
}

func testClosedLog(t *testing.T, l env.Log) {
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Append([]byte("x")); err == nil {
		t.Error("a closed log took a record")
	}
	if err := l.Rewrite(nil); err == nil {
		t.Error("a closed log was rewritten")
	}
	if err := l.Replay(func([]byte) error { return nil }); err == nil {
		t.Error("a closed log was replayed")
	}
}

// BenchLog measures appends of votes and of blocks.
func BenchLog(b *testing.B, open func(testing.TB) env.Log) {
	for _, size := range []int{200, 20_000, 1 << 20} {
		b.Run(fmt.Sprintf("append=%d", size), func(b *testing.B) {
			l := open(b)
			record := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				if err := l.Append(record); err != nil {
					b.Fatal(err)
				}
				if l.Size() > 64<<20 {
					b.StopTimer()
					l.Rewrite(nil)
					b.StartTimer()
				}
			}
		})
	}
}
