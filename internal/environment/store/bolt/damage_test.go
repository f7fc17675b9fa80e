package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
)

// filled is a closed file with branches, overflows, small and free pages, and
// what it held after its last commit and after the one before.
func filled(t testing.TB, path string) (last, before map[string]string) {
	t.Helper()
	s, err := Open(path, store.Process)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	last = map[string]string{}
	for round := range 12 {
		before = maps.Clone(last)
		var writes []env.Write
		for i := range 150 {
			w := env.Write{Bucket: env.Bucket(fmt.Sprint("b", i%3)), Key: fmt.Appendf(nil, "key %d", rng.IntN(900))}
			if round < 10 || i%2 == 0 {
				w.Value = bytes.Repeat([]byte{byte(round), byte(i)}, 1+rng.IntN(80))
				if i == 7 {
					w.Value = make([]byte, 9000)
				}
			}
			writes = append(writes, w)
			if at := string(w.Bucket) + "/" + string(w.Key); w.Value == nil {
				delete(last, at)
			} else {
				last[at] = string(w.Value)
			}
		}
		if err := s.Commit(append(writes, env.Write{Bucket: "small", Key: []byte("k"), Value: []byte{byte(round)}})); err != nil {
			t.Fatal(err)
		}
		last["small/k"] = string([]byte{byte(round)})
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return last, before
}

// rewritten has another program of bbolt write to the file, with bbolt's defaults: it stores a
// list of free pages, and some are free.
func rewritten(t testing.TB, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 2 { // so that both metas have the list
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("foreign"))
			if err != nil {
				return err
			}
			value := make([]byte, 3*4096)
			stored := binary.LittleEndian.AppendUint32(nil, sumOf("foreign", []byte("k"), value))
			return b.Put([]byte("k"), append(stored, value...))
		})
		if err == nil {
			err = db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("foreign")) })
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// compacted is a file as bbolt's own command compacts it.
func compacted(t testing.TB, path string) (to string) {
	t.Helper()
	to = path + ".compact"
	from, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	db, err := bbolt.Open(to, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(bbolt.Compact(db, from, 65536), db.Close()); err != nil {
		t.Fatal(err)
	}
	return to
}

// P6: a file that another program of bbolt wrote is read, and goes on as one of devnet's own.
func TestAFileOfAnotherProgramIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	last, _ := filled(t, path)
	touched := path + ".touched"
	if data, err := os.ReadFile(path); err != nil || os.WriteFile(touched, data, 0o600) != nil {
		t.Fatal(err)
	}
	rewritten(t, touched)
	for _, path := range []string{compacted(t, path), touched} {
		for range 3 {
			s, err := Open(path, store.Process)
			if err != nil {
				t.Fatal(err)
			}
			if found, err := content(s); err != nil || !maps.Equal(found, last) {
				t.Errorf("%s holds something else: %v", path, err)
			}
			if err := s.Commit([]env.Write{{Bucket: "more", Key: []byte("k"), Value: make([]byte, 20_000)}}); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A list of free pages that names one in use would have bbolt write over data.
func TestAFreePageIsInNoUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	filled(t, path)
	rewritten(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	root, err := newestMeta(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	list := whole[int64(root.freelist)*int64(root.pageBytes):]
	if n := order.Uint16(list[10:]); n < 2 {
		t.Fatalf("%d pages are free", n)
	}
	own, second := order.Uint64(list[pageHead:]), order.Uint64(list[pageHead+idBytes:])
	for what, id := range map[string]uint64{"the root": root.bucket, "the list itself": root.freelist, "listed twice": second, "a meta": 1,
		"beyond the end": root.end} {
		order.PutUint64(list[pageHead:], id)
		if found := verifyFile(bytes.NewReader(whole), int64(len(whole)), checkValue); !strings.Contains(found, "is free") {
			t.Errorf("%s: %q", what, found)
		}
	}
	order.PutUint64(list[pageHead:], own)
	order.PutUint16(list[10:], 60_000)
	if found := verifyFile(bytes.NewReader(whole), int64(len(whole)), checkValue); !strings.Contains(found, "has room for") {
		t.Errorf("a list that is too long: %q", found)
	}
}

// content reads all that a store holds.
func content(s *Store) (map[string]string, error) {
	found := map[string]string{}
	for _, b := range []env.Bucket{"b0", "b1", "b2", "small"} {
		err := s.Scan(b, nil, nil, false, func(k, v []byte) bool {
			found[string(b)+"/"+string(k)] = string(v)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// spoil damages a file's bytes in one of the ways that disks do.
func spoil(rng *rand.Rand, data []byte) []byte {
	page := func() int { return rng.IntN(len(data)/4096) * 4096 }
	switch rng.IntN(7) {
	case 6: // how many elements a page has
		data[page()+10] ^= 1 << rng.IntN(8)
	case 0, 1: // bits
		for range 1 + rng.IntN(30) {
			data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
		}
	case 2: // a head
		data[page()+rng.IntN(64)] ^= 1 << rng.IntN(8)
	case 3: // a page of nothing
		clear(data[page():][:4096])
	case 4: // a page at the place of another
		copy(data[page():][:4096], data[page():][:4096])
	case 5:
		data = data[:rng.IntN(len(data))]
	}
	return data
}

// After any damage to the file, the store opens with the last commit, or the one
// before if a meta is lost, or names the file; it never panics, and never shows
// other data.
func TestDamageIsNamed(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		t.Run(fmt.Sprintf("written by another program %v", foreign), func(t *testing.T) { testDamage(t, foreign) })
	}
}

func testDamage(t *testing.T, foreign bool) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state.db")
	last, before := filled(t, path)
	if foreign {
		rewritten(t, path)
		before = last
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 3))
		path := filepath.Join(dir, fmt.Sprint(seed))
		if err := os.WriteFile(path, spoil(rng, bytes.Clone(whole)), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, store.Process)
		if err != nil {
			if named++; !strings.Contains(err.Error(), path) || !errors.As(err, new(*store.DamagedError)) {
				t.Errorf("seed %d: %v", seed, err)
			}
			continue
		}
		found, err := content(s)
		if err != nil {
			t.Errorf("seed %d: opened, then: %v", seed, err)
		} else if !maps.Equal(found, last) && !maps.Equal(found, before) && len(found) > 0 {
			t.Errorf("seed %d: it holds something else", seed)
		}
		if err := s.Commit([]env.Write{{Bucket: "b0", Key: []byte("new"), Value: []byte("v")}}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		s.Close()
		os.Remove(path)
	}
	if named < 200 {
		t.Errorf("only %d of 400 damages were named", named)
	}
}

// A page that claims the next page, which belongs to another, is noticed though its
// content is valid: bbolt would free both with it, and overwrite the other's data.
func TestAPageIsUsedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	filled(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.NewReader(whole)
	root, err := newestMeta(file, file.Size())
	if err != nil {
		t.Fatal(err)
	}
	w := &walk{file: file, page: int64(root.pageBytes), end: root.end, seen: make([]uint64, root.end/64+1),
		value: func(_, _, _ []byte) error { return nil }}
	if err := w.walkTree(root.bucket, span{}, nil, 0); err != nil {
		t.Fatal(err)
	}
	begins := func(id uint64) bool { // a page of the tree, and not the continuation of another
		return id < root.end && w.seen[id/64]&(1<<(id%64)) != 0 && order.Uint64(whole[int64(id)*w.page:]) == id
	}
	tried := 0
	for id := uint64(2); id < root.end; id++ {
		head := whole[int64(id)*w.page:]
		if !begins(id) || !begins(id+1) || order.Uint32(head[12:]) != 0 {
			continue
		}
		tried++
		order.PutUint32(head[12:], 1)
		if what := verifyFile(file, file.Size(), w.value); !strings.Contains(what, "is used twice") {
			t.Errorf("page %d continues into the next: %q", id, what)
		}
		order.PutUint32(head[12:], 0)
	}
	if tried == 0 {
		t.Error("no two pages of the file are adjacent")
	}
}

// A file that is damaged while it is open ends the reads, and not the process.
func TestDamageWhileOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	filled(t, path)
	s := open(t, path, store.Process)
	if err := os.Truncate(path, 16<<10); err != nil {
		t.Fatal(err)
	}
	_, err := content(s)
	if damaged := (*store.DamagedError)(nil); !errors.As(err, &damaged) || damaged.Path != path {
		t.Fatalf("got %v", err)
	}
	if err := s.Commit([]env.Write{{Bucket: "b0", Key: []byte("new"), Value: []byte("v")}}); !errors.As(err, new(*store.DamagedError)) {
		t.Errorf("got %v", err)
	}
}

// A panic of the code that reads is its own, and no damage.
func TestAPanicOfTheReaderIsItsOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	filled(t, path)
	s := open(t, path, store.Process)
	defer func() {
		if recover() != "mine" {
			t.Error("the panic is lost")
		}
		if _, err := content(s); err != nil {
			t.Errorf("the store is spoilt: %v", err)
		}
	}()
	s.Scan("b0", nil, nil, false, func(_, _ []byte) bool { panic("mine") })
}

func FuzzVerify(f *testing.F) {
	path := filepath.Join(f.TempDir(), "state.db")
	filled(f, path)
	rewritten(f, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{})
	f.Add(uint32(4096+8), []byte{9, 9})
	f.Add(uint32(8192+16), []byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, at uint32, over []byte) {
		data := bytes.Clone(whole)
		copy(data[int(at)%len(data):], over)
		verifyFile(bytes.NewReader(data), int64(len(data)), checkValue)
	})
}
