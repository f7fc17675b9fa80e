package writeback

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/environment/store/mem"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

func openBolt(t testing.TB, path string) env.Store {
	t.Helper()
	s, err := bolt.Open(path, store.Process)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStoreOverBolt(t *testing.T) {
	storetest.Store(t, func(t testing.TB) env.Store {
		s := New(openBolt(t, filepath.Join(t.TempDir(), "state.db")))
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// flushing flushes after every few commits, so that rows are behind, being written and gathered.
type flushing struct {
	*Store
	commits int
}

func (f *flushing) Commit(writes []env.Write) error {
	if err := f.Store.Commit(writes); err != nil {
		return err
	}
	if f.commits++; f.commits%3 == 0 {
		return f.Flush()
	}
	return nil
}

func TestStoreThatFlushes(t *testing.T) {
	storetest.Store(t, func(t testing.TB) env.Store {
		s := &flushing{Store: New(openBolt(t, filepath.Join(t.TempDir(), "state.db")))}
		t.Cleanup(func() { s.Close() })
		return s
	})
}

// held is a store whose commits wait for a sign: a flush that takes long.
type held struct {
	env.Store
	began, goOn chan struct{}
}

func (h *held) Commit(writes []env.Write) error {
	h.began <- struct{}{}
	<-h.goOn
	return h.Store.Commit(writes)
}

// Scans that begin before, during and after a flush see the same rows, newest values first, from the three places.
func TestReadersSeeEachRowOnceWhileAFlushIsUnderWay(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		behind := mem.NewStore()
		slow := &held{Store: behind, began: make(chan struct{}), goOn: make(chan struct{})}
		s := New(slow)
		model := map[string]string{}
		commit := func(round int, into env.Store) {
			var writes []env.Write
			for _, k := range rapid.SliceOfN(rapid.IntRange(0, 99), 0, 80).Draw(r, "keys") {
				w := env.Write{Bucket: "b", Key: fmt.Appendf(nil, "%02d", k)}
				if rapid.IntRange(0, 3).Draw(r, "put") > 0 {
					w.Value = fmt.Appendf(nil, "%d", round)
					model[string(w.Key)] = string(w.Value)
				} else {
					delete(model, string(w.Key))
				}
				writes = append(writes, w)
			}
			if err := into.Commit(writes); err != nil {
				r.Fatal(err)
			}
		}
		check := func(when string) {
			for _, backwards := range []bool{false, true} {
				from := fmt.Sprintf("%02d", rapid.IntRange(0, 60).Draw(r, "from"))
				to := fmt.Sprintf("%02d", rapid.IntRange(40, 99).Draw(r, "to"))
				var got, want []string
				err := s.Scan("b", []byte(from), []byte(to), backwards, func(k, v []byte) bool {
					got = append(got, string(k)+"="+string(v))
					return true
				})
				if err != nil {
					r.Fatal(err)
				}
				for k, v := range model {
					if k >= from && k < to {
						want = append(want, k+"="+v)
					}
				}
				slices.Sort(want)
				if backwards {
					slices.Reverse(want)
				}
				if !slices.Equal(got, want) {
					r.Fatalf("%s: backwards %v, [%s, %s):\n got %v\nwant %v", when, backwards, from, to, got, want)
				}
			}
			for k, v := range model {
				if got, err := s.Get("b", []byte(k)); err != nil || string(got) != v {
					r.Fatalf("%s: %s is %q, %v; want %q", when, k, got, err, v)
				}
			}
		}
		commit(1, behind)
		commit(2, s)
		gathered := len(s.gathered) > 0
		var flushed sync.WaitGroup
		flushed.Go(func() {
			if err := s.Flush(); err != nil {
				t.Error(err)
			}
		})
		if gathered {
			<-slow.began
		} else {
			flushed.Wait()
		}
		commit(3, s)
		check("during the flush")
		close(slow.goOn)
		flushed.Wait()
		check("after it")
		slow.began = make(chan struct{}, 1)
		if err := s.Flush(); err != nil {
			r.Fatal(err)
		}
		check("after the second")
	})
}

// What was flushed is in the file of a process that ends without Close, and what was not is not.
func TestAFlushSurvivesAndWhatGatheredSinceDoesNot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	s := New(openBolt(t, path))
	put := func(key string) {
		if err := s.Commit([]env.Write{{Bucket: "b", Key: []byte(key), Value: []byte("v")}}); err != nil {
			t.Fatal(err)
		}
	}
	put("flushed")
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	put("gathered")
	if err := s.Abandon(); err != nil {
		t.Fatal(err)
	}
	again := openBolt(t, path)
	defer again.Close()
	for key, want := range map[string]string{"flushed": "v", "gathered": ""} {
		if got, err := again.Get("b", []byte(key)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", key, got, err, want)
		}
	}
}

// full is a store that takes nothing.
type full struct{ env.Store }

var errFull = errors.New("file too large")

func (full) Commit([]env.Write) error { return errFull }

// A disk that is full ends the store with its reason; readers keep what was shown.
func TestAFailedFlushIsReportedAndTakesNothingFromReaders(t *testing.T) {
	s := New(full{mem.NewStore()})
	write := []env.Write{{Bucket: "b", Key: []byte("k"), Value: []byte("v")}}
	if err := s.Commit(write); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); !errors.Is(err, errFull) {
		t.Fatalf("the flush: %v", err)
	}
	if err := s.Commit(write); !errors.Is(err, errFull) {
		t.Errorf("a commit after it: %v", err)
	}
	if got, err := s.Get("b", []byte("k")); string(got) != "v" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func BenchmarkStore(b *testing.B) {
	b.Run("writeback", func(b *testing.B) {
		s := &flushing{Store: New(openBolt(b, filepath.Join(b.TempDir(), "state.db")))}
		defer s.Close()
		storetest.BenchStore(b, s)
	})
	b.Run("bolt", func(b *testing.B) {
		s := openBolt(b, filepath.Join(b.TempDir(), "state.db"))
		defer s.Close()
		storetest.BenchStore(b, s)
	})
}
