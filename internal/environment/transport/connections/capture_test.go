package connections

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
)

// logTo is a log in memory.
func logTo(text *bytes.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(text, nil)) }

// record writes a file of a connection with the given number of events.
func record(t *testing.T, w *Capture, id byte, events int) {
	t.Helper()
	config := &quic.Config{}
	w.QUIC(config)
	trace := config.Tracer(context.Background(), false, quic.ConnectionIDFromBytes([]byte{id, 1, 2, 3}))
	if trace == nil {
		return
	}
	r := trace.AddProducer()
	for range events {
		r.RecordEvent(qlog.DebugEvent{EventName: "test", Message: strings.Repeat("x", 100)})
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// held is the text of each qlog file in a folder.
func held(t *testing.T, dir string) (all []string, bytes int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.sqlog"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, bytes = append(all, string(data)), bytes+len(data)
	}
	return all, bytes
}

// A folder of qlog files has a bound over all runs, and what is in it are whole records.
func TestQlogFilesHaveABoundOfBytes(t *testing.T) {
	dir, said := t.TempDir(), new(bytes.Buffer)
	for run := range byte(3) {
		w, err := NewCapture(dir, "v0", nil, logTo(said))
		if err != nil {
			t.Fatal(err)
		}
		w.most = 10_000
		record(t, w, 2*run, 60)
		record(t, w, 2*run+1, 60)
	}
	texts, size := held(t, filepath.Join(dir, "v0"))
	if size < 10_000 || size > 11_000 {
		t.Errorf("%d bytes, want 10,000 and one more record of each file", size)
	}
	for _, text := range texts {
		for i, record := range strings.Split(text, "\x1e") {
			if i > 0 && !json.Valid([]byte(record)) {
				t.Errorf("record %d is not whole: %.200q", i, record)
			}
		}
	}
	if n := strings.Count(said.String(), "the folder is full"); n != 3 {
		t.Errorf("%d runs told that the folder is full, want 3:\n%s", n, said)
	}
}

// A folder takes a bounded number of files: connections of strangers cost nothing.
func TestQlogFilesHaveABoundOfFiles(t *testing.T) {
	w, err := NewCapture(t.TempDir(), "v0", nil, logTo(new(bytes.Buffer)))
	if err != nil {
		t.Fatal(err)
	}
	w.files.Store(maxQlogs - 1)
	for id := range byte(5) {
		record(t, w, id, 1)
	}
	if texts, _ := held(t, w.dir); len(texts) != 1 {
		t.Errorf("%d files were begun, want the one that there was room for", len(texts))
	}
}

// A file of secrets that two processes append to has a bound. A full one ends no handshake.
func TestTheFileOfSecretsHasABound(t *testing.T) {
	path, said := filepath.Join(t.TempDir(), "keys.log"), new(bytes.Buffer)
	var both [2]*KeyLog
	for i := range both {
		k, err := OpenKeyLog(path, logTo(said))
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		k.most, both[i] = 1_000, k
	}
	line := strings.Repeat("k", 99) + "\n"
	for range 20 {
		for _, k := range both {
			if n, err := io.WriteString(k, line); n != len(line) || err != nil {
				t.Fatalf("%d, %v: a handshake would end", n, err)
			}
		}
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != strings.Repeat(line, 10) {
		t.Errorf("it has %d bytes, want 10 lines of 100: %v", len(data), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
	if n := strings.Count(said.String(), "TLS secrets are left out"); n != 2 {
		t.Errorf("it was told %d times, want once by each:\n%s", n, said)
	}
	config := &tls.Config{Time: time.Now}
	(&Capture{keys: both[0]}).TLS(config)
	if config.KeyLogWriter == nil {
		t.Error("the secrets are not asked for")
	}
}
