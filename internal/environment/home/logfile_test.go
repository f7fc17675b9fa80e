package home

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestAFullLogBeginsAnew(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, logsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	f := NewLogFile(dir, "v0")
	line := bytes.Repeat([]byte("x"), maxLogBytes/4)
	for range 9 {
		if n, err := f.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	f.Close()
	for path, want := range map[string]int64{f.path: maxLogBytes / 4, f.old: maxLogBytes} {
		if info, err := os.Stat(path); err != nil || info.Size() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	read, err := OpenLog(dir, "v0")
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if n, err := io.Copy(io.Discard, read); err != nil || n != maxLogBytes/4*5 {
		t.Errorf("%d bytes are read (%v)", n, err)
	}
}
