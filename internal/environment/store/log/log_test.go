package log

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/storetest"
)

func open(t testing.TB, path string, d store.Durability) *Log {
	t.Helper()
	l, err := Open(path, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func fresh(t testing.TB) *Log { return open(t, filepath.Join(t.TempDir(), "votes.log"), store.Process) }

// content is a whole file that appends of the given records leave.
func content(appends ...[]string) []byte {
	file := fileHeader()
	for _, records := range appends {
		for i, r := range records {
			file = appendRecord(file, []byte(r), i == 0)
		}
	}
	return file
}

// replayFile replays a file of these bytes.
func replayFile(t testing.TB, data []byte) (got []string, cut int64, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "votes.log")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path, store.Process)
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	err = l.Replay(func(r []byte) error { got = append(got, string(r)); return nil })
	return got, l.Cut(), err
}

func TestLog(t *testing.T) {
	for _, d := range []store.Durability{store.Process, store.Disk} {
		t.Run(d.String(), func(t *testing.T) {
			storetest.Log(t, func(t testing.TB) env.Log {
				return open(t, filepath.Join(t.TempDir(), "votes.log"), d)
			})
		})
	}
}

// TestACrashAtAnyByteLeavesWhatWasWritten: cut at each offset, the file replays its
// complete records, reports the cut length, and remains usable.
func TestACrashAtAnyByteLeavesWhatWasWritten(t *testing.T) {
	appends := [][]string{{"one"}, {"", "two", "three"}, {"four"}, {strings.Repeat("five", 20)}}
	whole := content(appends...)
	var records []string
	var ends []int
	at := headerBytes
	for _, a := range appends {
		for _, r := range a {
			at += frameBytes + len(r)
			records, ends = append(records, r), append(ends, at)
		}
	}
	path := filepath.Join(t.TempDir(), "votes.log")
	for size := range len(whole) + 1 {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		kept, end := 0, min(size, headerBytes)
		for kept < len(ends) && ends[kept] <= size {
			end = ends[kept]
			kept++
		}
		l := open(t, path, store.Process)
		if got := storetest.Records(t, l); !slices.Equal(got, records[:kept]) {
			t.Fatalf("cut at %d: got %q", size, got)
		}
		if want := int64(max(size-end, 0)); size >= headerBytes && l.Cut() != want {
			t.Fatalf("cut at %d: told %d, want %d", size, l.Cut(), want)
		}
		if err := l.Append([]byte("more")); err != nil {
			t.Fatal(err)
		}
		l.Close()
		l = open(t, path, store.Process)
		if got := storetest.Records(t, l); !slices.Equal(got, append(slices.Clone(records[:kept]), "more")) {
			t.Fatalf("cut at %d: got %q afterwards", size, got)
		}
		l.Close()
	}
}

// TestAnyChangedByteBeforeTheLastAppendIsDamage, and in the last one it is a
// torn tail: never does a record come out that was not put in.
func TestAnyChangedByteBeforeTheLastAppendIsDamage(t *testing.T) {
	whole := content([]string{"one"}, []string{"two", "three"}, []string{"four", "five"})
	last := len(whole) - len("four") - len("five") - 2*frameBytes
	for at := headerBytes; at < len(whole); at++ {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			data := bytes.Clone(whole)
			data[at] ^= flip
			got, cut, err := replayFile(t, data)
			switch {
			case at < last && !errors.Is(err, ErrDamaged):
				t.Fatalf("byte %d ^ %x: %q, %v", at, flip, got, err)
			case at >= last && (err != nil || cut == 0):
				t.Fatalf("byte %d ^ %x in the last append: %q, %v", at, flip, got, err)
			}
			if want := []string{"one", "two", "three", "four", "five"}; !slices.Equal(got, want[:len(got)]) {
				t.Fatalf("byte %d ^ %x: %q", at, flip, got)
			}
		}
	}
}

func TestDamageNamesFileAndOffset(t *testing.T) {
	data := content([]string{"one"}, []string{"two"}, []string{"three"})
	at := headerBytes + frameBytes + 3
	data[at+frameBytes] ^= 1
	_, _, err := replayFile(t, data)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("votes.log at byte %d, with %d bytes after it", at, len(data)-at)) {
		t.Fatalf("got %v", err)
	}
}

// TestATornAppendMayHaveHoles: a disk may have written the end of the last
// Append and not its beginning.
func TestATornAppendMayHaveHoles(t *testing.T) {
	data := content([]string{"one"}, []string{"two", "three", "four"})
	clear(data[headerBytes+frameBytes+3:][:frameBytes+3])
	got, cut, err := replayFile(t, data)
	if err != nil || !slices.Equal(got, []string{"one"}) || cut == 0 {
		t.Fatalf("got %q, cut %d, %v", got, cut, err)
	}
}

func TestATailLongerThanAnAppendIsDamage(t *testing.T) {
	data := append(content([]string{"one"}), make([]byte, MaxAppendBytes)...)
	if got, cut, err := replayFile(t, data); err != nil || cut != MaxAppendBytes {
		t.Fatalf("got %q, cut %d, %v", got, cut, err)
	}
	if _, _, err := replayFile(t, append(data, 0)); !errors.Is(err, ErrDamaged) {
		t.Fatalf("got %v", err)
	}
}

func TestAnotherFormatIsRefused(t *testing.T) {
	newer := binary.BigEndian.AppendUint32([]byte(magic), version+1)
	for _, data := range [][]byte{[]byte("x"), []byte("#!/bin/sh\necho this is no log\n"), append(newer, 0, 0, 0, 0)} {
		if _, _, err := replayFile(t, data); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "votes.log") {
			t.Errorf("%q: %v", data, err)
		}
	}
}

func TestLimits(t *testing.T) {
	l := fresh(t)
	if err := l.Append(make([]byte, MaxRecordBytes+1)); !errors.Is(err, ErrTooLong) {
		t.Errorf("got %v", err)
	}
	if err := l.Rewrite([][]byte{make([]byte, MaxRecordBytes+1)}); !errors.Is(err, ErrTooLong) {
		t.Errorf("got %v", err)
	}
	four := make([]byte, MaxAppendBytes/4)
	if err := l.Append(four, four, four, four); !errors.Is(err, ErrTooLong) {
		t.Errorf("got %v", err)
	}
	longest := bytes.Repeat([]byte{7}, MaxRecordBytes)
	if err := l.Append(longest, []byte("end")); err != nil {
		t.Fatal(err)
	}
	if got := storetest.Records(t, l); len(got) != 2 || got[0] != string(longest) || got[1] != "end" {
		t.Fatalf("%d records", len(got))
	}
}

func TestAppendBeforeReplayGoesBehindTheLastRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "votes.log")
	if err := os.WriteFile(path, append(content([]string{"one"}), "torn"...), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path, store.Process)
	if err := l.Append([]byte("two")); err != nil {
		t.Fatal(err)
	}
	if got := storetest.Records(t, l); !slices.Equal(got, []string{"one", "two"}) || l.Cut() != 4 {
		t.Fatalf("got %q, cut %d", got, l.Cut())
	}
}

// TestNothingOfATornTailIsLeft: what is appended after it is shorter, and the
// file ends there.
func TestNothingOfATornTailIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "votes.log")
	torn := content([]string{"one"}, []string{strings.Repeat("x", 100)})
	if err := os.WriteFile(path, torn[:len(torn)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, path, store.Process)
	if err := l.Append([]byte("two")); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if got, want := mustRead(t, path), content([]string{"one"}, []string{"two"}); !bytes.Equal(got, want) {
		t.Fatalf("the file is %x, want %x", got, want)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestALongRandomTailIsJudgedSoon: telling a torn tail from damage looks at
// every offset, and must not checksum at every one.
func TestALongRandomTailIsJudgedSoon(t *testing.T) {
	tail := make([]byte, 4<<20)
	random := rand.NewChaCha8([32]byte{1})
	random.Read(tail)
	tail[0] = 0xff
	checked := 0
	for at := 1; at+frameBytes <= len(tail); at++ {
		if isPlausible(tail[at:]) {
			checked++
		}
	}
	if checked > 64 {
		t.Fatalf("%d checksums over %d bytes", checked, len(tail))
	}
	if _, cut, err := replayFile(t, append(content([]string{"one"}), tail...)); err != nil || cut != int64(len(tail)) {
		t.Fatalf("cut %d, %v", cut, err)
	}
}

// FuzzReplay: whatever a file holds, Replay neither panics nor invents: what it
// hands out is encoded in the file, and a second Replay agrees with the first.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(nil))
	f.Add(fileHeader())
	f.Add(content([]string{"one"}, []string{"two", "three"}))
	f.Add(append(content([]string{"one"}), "torn"...))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		path := filepath.Join(dir, "votes.log")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, store.Process)
		if err != nil {
			return
		}
		defer l.Close()
		var got []string
		err = l.Replay(func(r []byte) error { got = append(got, string(r)); return nil })
		at := headerBytes
		for _, r := range got {
			if frame := data[at+frameBytes:]; !bytes.HasPrefix(frame, []byte(r)) {
				t.Fatalf("record %q is not at %d", r, at)
			}
			at += frameBytes + len(r)
		}
		if err != nil {
			return
		}
		if again := storetest.Records(t, l); !slices.Equal(again, got) {
			t.Fatalf("got %q, then %q", got, again)
		}
	})
}

func BenchmarkLog(b *testing.B) {
	for _, d := range []store.Durability{store.Process, store.Disk} {
		b.Run(d.String(), func(b *testing.B) {
			storetest.BenchLog(b, func(t testing.TB) env.Log {
				return open(t, filepath.Join(t.TempDir(), "votes.log"), d)
			})
		})
	}
	b.Run("bare-file", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		record := make([]byte, 200)
		b.SetBytes(200)
		for b.Loop() {
			f.Write(record)
		}
	})
}

func BenchmarkReplay(b *testing.B) {
	l := fresh(b)
	record := make([]byte, 1000)
	for range 10_000 {
		l.Append(record)
	}
	b.SetBytes(l.Size())
	for b.Loop() {
		l.Replay(func([]byte) error { return nil })
	}
}

// What is rewritten is longer than the buffer it goes through, and what is appended afterwards
// stands behind all of it.
func TestALongRewriteIsAppendedTo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "votes.log")
	l := open(t, path, store.Process)
	var want []string
	var records [][]byte
	for i := range 5 {
		records = append(records, bytes.Repeat([]byte{byte(i)}, readBytes/2+i))
		want = append(want, string(records[i]))
	}
	if err := errors.Join(l.Append([]byte("old")), l.Rewrite(records), l.Append([]byte("end"))); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != l.Size() {
		t.Errorf("the file has %d bytes, and the log says %d: %v", info.Size(), l.Size(), err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := storetest.Records(t, open(t, path, store.Process)); !slices.Equal(got, append(want, "end")) {
		t.Errorf("%d records come back, want %d as they were written", len(got), len(want)+1)
	}
}
