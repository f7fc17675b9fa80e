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
	"sync/atomic"

	"github.com/quic-go/quic-go"
	_ "github.com/quic-go/quic-go/qlog" // the schema of its events
	"github.com/quic-go/quic-go/qlogwriter"
)

// maxQlogs bounds the qlog files of one node and run: connections of strangers cost
// nothing, and each has a file.
const maxQlogs = 4_096

// Watch writes qlog files and TLS secrets of the QUIC connections of one node, for tools
// that look into them. Each connection has a file (draft-ietf-quic-qlog-main-schema). Each
// secret is a line in the format of NSS, with which anybody can read the connection. A nil
// Watch writes nothing.
type Watch struct {
	dir   string // of the qlog files; "": none are written
	keys  io.Writer
	log   *slog.Logger
	files atomic.Int64
}

// NewWatch returns the watch of a node. Its qlog files go into a folder of the node's
// name below dir, and its secrets to keys; either may be empty.
func NewWatch(dir, node string, keys io.Writer, log *slog.Logger) (*Watch, error) {
	if dir == "" && keys == nil {
		return nil, nil
	}
	w := &Watch{keys: keys, log: log}
	if dir != "" {
		w.dir = filepath.Join(dir, node)
		if err := os.MkdirAll(w.dir, 0o755); err != nil {
			return nil, fmt.Errorf("connections: no folder for the qlog files of %s: %w", node, err)
		}
	}
	return w, nil
}

// QUIC makes the connections of a configuration write qlog files.
func (w *Watch) QUIC(config *quic.Config) {
	if w != nil && w.dir != "" {
		config.Tracer = w.trace
	}
}

// TLS makes the connections of a configuration write their secrets.
func (w *Watch) TLS(config *tls.Config) {
	if w != nil && w.keys != nil {
		config.KeyLogWriter = w.keys
	}
}

// trace begins the file of a connection. Where it cannot, the connection goes without one.
func (w *Watch) trace(_ context.Context, isClient bool, id quic.ConnectionID) qlogwriter.Trace {
	if w.files.Add(1) > maxQlogs {
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
	events := qlogwriter.NewConnectionFileSeq(&buffered{bufio.NewWriterSize(file, 64<<10), file}, isClient, id)
	go events.Run()
	return events
}

// buffered is a file that is written in pieces.
type buffered struct {
	*bufio.Writer
	file *os.File
}

// Close writes what is left.
func (b *buffered) Close() error { return errors.Join(b.Flush(), b.file.Close()) }
