package connections

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/quic-go/quic-go"
	_ "github.com/quic-go/quic-go/qlog" // the schema of its events
	"github.com/quic-go/quic-go/qlogwriter"
)

// Bounds of the files, over all runs. Connections of strangers cost nothing, and each
// has a file and secrets.
const (
	maxQlogs       = 4_096     // files in the folder of a node
	maxQlogBytes   = 256 << 20 // in these files, but for the last record of each
	maxKeyLogBytes = 16 << 20  // in the file of secrets of all nodes
)

// Capture writes qlog files and TLS secrets of the QUIC connections of one node, for tools
// that look into them. Each connection has a file (draft-ietf-quic-qlog-main-schema). Each
// secret is a line in the format of NSS, with which anybody can read the connection. A nil
// Capture writes nothing.
type Capture struct {
	dir   string // of the qlog files; "": none are written
	keys  io.Writer
	log   *slog.Logger
	most  int64        // bytes of qlog files
	files atomic.Int64 // in the folder
	bytes atomic.Int64 // in these files
	full  sync.Once    // the log was told
}

// NewCapture returns the capture of a node. Its qlog files go into a folder of the node's
// name below dir, and its secrets to keys; either may be empty. Files of former runs count
// for the bounds. Its error says that there is no such folder.
func NewCapture(dir, node string, keys io.Writer, log *slog.Logger) (*Capture, error) {
	if dir == "" && keys == nil {
		return nil, nil
	}
	w := &Capture{keys: keys, log: log, most: maxQlogBytes}
	if dir == "" {
		return w, nil
	}
	w.dir = filepath.Join(dir, node)
	if err := errors.Join(os.MkdirAll(w.dir, 0o755), w.countFiles()); err != nil {
		return nil, fmt.Errorf("connections: no folder for the qlog files of %s: %w", node, err)
	}
	return w, nil
}

// countFiles counts the files of former runs.
func (w *Capture) countFiles() error {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return err
		}
		w.files.Add(1)
		w.bytes.Add(info.Size())
	}
	return nil
}

// hasRoom reports whether the folder takes more, and tells the log once if it does not.
func (w *Capture) hasRoom(files int64) bool {
	if files <= maxQlogs && w.bytes.Load() < w.most {
		return true
	}
	w.full.Do(func() {
		w.log.Warn("no more qlog is written: the folder is full; remove its files and start the node again", "folder", w.dir,
			"files", files, "bytes", w.bytes.Load(), "most_files", maxQlogs, "most_bytes", w.most)
	})
	return false
}

// QUIC makes the connections of a configuration write qlog files.
func (w *Capture) QUIC(config *quic.Config) {
	if w != nil && w.dir != "" {
		config.Tracer = w.beginTrace
	}
}

// TLS makes the connections of a configuration write their secrets.
func (w *Capture) TLS(config *tls.Config) {
	if w != nil && w.keys != nil {
		config.KeyLogWriter = w.keys
	}
}

// beginTrace begins the file of a connection. Where it cannot, the connection goes without one.
func (w *Capture) beginTrace(_ context.Context, isClient bool, id quic.ConnectionID) qlogwriter.Trace {
	if !w.hasRoom(w.files.Add(1)) {
		return nil
	}
	end := "server"
	if isClient {
		end = "client"
	}
	file, err := os.Create(filepath.Join(w.dir, fmt.Sprintf("%s_%s.sqlog", id, end)))
	if err != nil {
		w.log.Warn("a qlog file cannot be written", "error", err)
		return nil
	}
	events := qlogwriter.NewConnectionFileSeq(&bufferedFile{Writer: bufio.NewWriterSize(file, 64<<10), file: file, watch: w}, isClient, id)
	go events.Run()
	return events
}

// bufferedFile is a file that is written in pieces, and in whole records: it ends where the
// folder is full. One goroutine writes it.
type bufferedFile struct {
	*bufio.Writer
	file  *os.File
	watch *Capture
	full  bool
}

// Write takes what follows a full folder without writing it: an error would have quic-go
// write to standard error.
func (b *bufferedFile) Write(p []byte) (int, error) {
	if len(p) > 0 && p[0] == qlogwriter.RecordSeparator && !b.full {
		b.full = !b.watch.hasRoom(0)
	}
	if b.full {
		return len(p), nil
	}
	b.watch.bytes.Add(int64(len(p)))
	return b.Writer.Write(p)
}

// Close writes what is left.
func (b *bufferedFile) Close() error { return errors.Join(b.Flush(), b.file.Close()) }

// KeyLog is a file of TLS secrets, to which the nodes of several processes may append. It is
// safe for concurrent use.
type KeyLog struct {
	file *os.File
	log  *slog.Logger
	most int64 // bytes
	full sync.Once
}

// OpenKeyLog opens or makes a file of secrets, which only its owner can read. An error of
// the file is returned.
func OpenKeyLog(path string, log *slog.Logger) (*KeyLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &KeyLog{file: file, log: log, most: maxKeyLogBytes}, nil
}

// Write appends a line. A line that cannot be written, or that would exceed 16 MiB, is left
// out: an error would end the handshake.
func (k *KeyLog) Write(line []byte) (int, error) {
	info, err := k.file.Stat() // other processes append to it
	switch {
	case err == nil && info.Size()+int64(len(line)) > k.most:
		err = fmt.Errorf("%d bytes, want at most %d", info.Size(), k.most)
	case err == nil:
		_, err = k.file.Write(line)
	}
	if err != nil {
		k.full.Do(func() {
			k.log.Warn("TLS secrets are left out: remove the file and start the node again", "file", k.file.Name(), "error", err)
		})
	}
	return len(line), nil
}

// Close closes the file.
func (k *KeyLog) Close() error { return k.file.Close() }
