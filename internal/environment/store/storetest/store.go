// Package storetest holds the tests that every env.Store and every env.Log must
// pass, and the benchmarks they are compared by.
package storetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// pair is what a Scan hands out.
type pair struct{ key, value string }

// scan collects at most limit pairs; 0 is unlimited.
func scan(t fataler, s env.Store, b env.Bucket, from, to []byte, backwards bool, limit int) []pair {
	var got []pair
	err := s.Scan(b, from, to, backwards, func(k, v []byte) bool {
		got = append(got, pair{string(k), string(v)})
		return len(got) != limit
	})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return got
}

type fataler interface{ Fatalf(string, ...any) }

// model is the dumbest store there is.
type model map[env.Bucket]map[string]string

func (m model) commit(writes []env.Write) {
	for _, w := range writes {
		if m[w.Bucket] == nil {
			m[w.Bucket] = map[string]string{}
		}
		if w.Value == nil {
			delete(m[w.Bucket], string(w.Key))
		} else {
			m[w.Bucket][string(w.Key)] = string(w.Value)
		}
	}
}

func (m model) scan(b env.Bucket, from, to []byte, backwards bool, limit int) []pair {
	var all []pair
	for k, v := range m[b] {
		if k >= string(from) && (to == nil || k < string(to)) {
			all = append(all, pair{k, v})
		}
	}
	slices.SortFunc(all, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	if backwards {
		slices.Reverse(all)
	}
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all
}

// Store tests a store; open gives an empty one.
func Store(t *testing.T, open func(testing.TB) env.Store) {
	t.Run("EqualsItsModel", func(t *testing.T) { storeEqualsModel(t, open(t)) })
	t.Run("CommitIsAllOrNothing", func(t *testing.T) { storeAllOrNothing(t, open(t)) })
	t.Run("ValuesAreCopied", func(t *testing.T) { storeCopies(t, open(t)) })
	t.Run("EmptyIsNotMissing", func(t *testing.T) { storeEmptyValue(t, open(t)) })
	t.Run("ReadersSeeWholeCommits", func(t *testing.T) { storeReadersSeeWholeCommits(t, open(t)) })
	t.Run("ClosedIsAnError", func(t *testing.T) { testClosedStore(t, open(t)) })
}

func storeEqualsModel(t *testing.T, s env.Store) {
	key := rapid.SliceOfN(rapid.ByteRange(0, 3), 1, 4)
	bound := rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.ByteRange(0, 4), 0, 4))
	bucket := rapid.SampledFrom([]env.Bucket{"a", "b", "c"})
	write := rapid.Custom(func(r *rapid.T) env.Write {
		w := env.Write{Bucket: bucket.Draw(r, "bucket"), Key: key.Draw(r, "key")}
		if rapid.IntRange(0, 2).Draw(r, "put") > 0 {
			w.Value = append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(r, "value")...)
		}
		return w
	})
	rapid.Check(t, func(r *rapid.T) {
		m := model{}
		clearStore(r, s)
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			writes := rapid.SliceOfN(write, 0, 60).Draw(r, "writes")
			if err := s.Commit(writes); err != nil {
				r.Fatalf("commit: %v", err)
			}
			m.commit(writes)
			b, from, to := bucket.Draw(r, "scanned"), bound.Draw(r, "from"), bound.Draw(r, "to")
			backwards, limit := rapid.Bool().Draw(r, "backwards"), rapid.IntRange(0, 5).Draw(r, "limit")
			got, want := scan(r, s, b, from, to, backwards, limit), m.scan(b, from, to, backwards, limit)
			if !slices.Equal(got, want) {
				r.Fatalf("scan of %s from %x to %x, backwards %v, limit %d:\n got %q\nwant %q", b, from, to, backwards, limit, got, want)
			}
			k := key.Draw(r, "got")
			value, err := s.Get(b, k)
			wanted, ok := m[b][string(k)]
			if err != nil || (value != nil) != ok || string(value) != wanted {
				r.Fatalf("get %x: %q, %v; want %q, %v", k, value, err, wanted, ok)
			}
		}
	})
}

// clearStore deletes everything in the buckets of the model test.
func clearStore(t fataler, s env.Store) {
	var writes []env.Write
	for _, b := range []env.Bucket{"a", "b", "c"} {
		for _, p := range scan(t, s, b, nil, nil, false, 0) {
			writes = append(writes, env.Write{Bucket: b, Key: []byte(p.key)})
		}
	}
	if err := s.Commit(writes); err != nil {
		t.Fatalf("clear: %v", err)
	}
}

func storeAllOrNothing(t *testing.T, s env.Store) {
	for _, bad := range [][]byte{nil, {}, make([]byte, store.MaxKeyBytes+1)} {
		for _, value := range [][]byte{nil, []byte("v")} {
			err := s.Commit([]env.Write{{Bucket: "b", Key: []byte("good"), Value: []byte("v")}, {Bucket: "b", Key: bad, Value: value}})
			if !errors.Is(err, store.ErrKey) {
				t.Fatalf("key of %d bytes: %v", len(bad), err)
			}
		}
	}
	if got := scan(t, s, "b", nil, nil, false, 0); len(got) != 0 {
		t.Fatalf("half a commit: %q", got)
	}
	longest := bytes.Repeat([]byte{1}, store.MaxKeyBytes)
	if err := s.Commit([]env.Write{{Bucket: "b", Key: longest, Value: []byte("v")}}); err != nil {
		t.Fatal(err)
	}
}

func storeCopies(t *testing.T, s env.Store) {
	key, value := []byte("key"), []byte("value")
	if err := s.Commit([]env.Write{{Bucket: "b", Key: key, Value: value}}); err != nil {
		t.Fatal(err)
	}
	key[0], value[0] = 'X', 'X'
	got, _ := s.Get("b", []byte("key"))
	if string(got) != "value" {
		t.Fatalf("got %q", got)
	}
	got[0] = 'X'
	if again, _ := s.Get("b", []byte("key")); string(again) != "value" {
		t.Fatalf("got %q", again)
	}
}

func storeEmptyValue(t *testing.T, s env.Store) {
	if err := s.Commit([]env.Write{{Bucket: "b", Key: []byte("empty"), Value: []byte{}}, {Bucket: "none", Key: []byte("x")}}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get("b", []byte("empty")); got == nil || len(got) != 0 || err != nil {
		t.Fatalf("got %v, %v", got, err)
	}
	for _, b := range []env.Bucket{"b", "none", "never"} {
		if got, err := s.Get(b, []byte("x")); got != nil || err != nil {
			t.Fatalf("%s: got %v, %v", b, got, err)
		}
	}
}

func storeReadersSeeWholeCommits(t *testing.T, s env.Store) {
	const keys, commits = 8, 50
	commit := func(generation int) {
		var writes []env.Write
		for k := range keys {
			writes = append(writes, env.Write{Bucket: "b", Key: []byte{byte(k)}, Value: []byte{byte(generation)}})
		}
		if err := s.Commit(writes); err != nil {
			t.Error(err)
		}
	}
	commit(0)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				seen := scan(t, s, "b", nil, nil, false, 0)
				for _, p := range seen {
					if len(seen) != keys || p.value != seen[0].value {
						t.Errorf("a reader saw %q", seen)
						return
					}
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for generation := range commits {
		commit(generation)
	}
	close(done)
	readers.Wait()
}

func testClosedStore(t *testing.T, s env.Store) {
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit([]env.Write{{Bucket: "b", Key: []byte("k"), Value: []byte("v")}}); err == nil {
		t.Error("a closed store took a commit")
	}
	if _, err := s.Get("b", []byte("k")); err == nil {
		t.Error("a closed store answered")
	}
	if err := s.Scan("b", nil, nil, false, func(_, _ []byte) bool { return true }); err == nil {
		t.Error("a closed store scanned")
	}
}

// BenchStore measures commits into 100,000 keys of 32 bytes with values of 64,
// and a scan over them.
func BenchStore(b *testing.B, s env.Store) {
	const held = 100_000
	var writes []env.Write
	for i := range held {
		writes = append(writes, benchWrite(i))
	}
	if err := s.Commit(writes); err != nil {
		b.Fatal(err)
	}
	next := 0
	for _, size := range []int{1, 20, 1000} {
		b.Run(fmt.Sprintf("commit=%d", size), func(b *testing.B) {
			for b.Loop() {
				writes = writes[:0]
				for range size {
					next++
					writes = append(writes, benchWrite(next*7919%(2*held)))
				}
				if err := s.Commit(writes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("get", func(b *testing.B) {
		key := benchWrite(7).Key
		for b.Loop() {
			if v, err := s.Get("bench", key); v == nil || err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("scan=1000", func(b *testing.B) {
		for b.Loop() {
			n := 0
			s.Scan("bench", nil, nil, false, func(_, _ []byte) bool { n++; return n < 1000 })
		}
	})
}

func benchWrite(i int) env.Write {
	key := make([]byte, 32)
	binary.BigEndian.PutUint64(key, uint64(i)*0x9e3779b97f4a7c15) // spread, like hashes
	return env.Write{Bucket: "bench", Key: key, Value: make([]byte, 64)}
}
