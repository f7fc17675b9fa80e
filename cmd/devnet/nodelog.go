package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/cowboyinc/devnet/internal/environment/home"
)

// maxLogBytes bounds the log of a node; what is older is kept once more under
// NODE-old.
const maxLogBytes = 16 << 20

// commonLog takes what no node says.
const commonLog = "devnet"

// nodeLogs writes what each node logs to its file in the home, and errors to
// the terminal as well.
type nodeLogs struct {
	dir    string // "": no files
	stderr slog.Handler

	mu    sync.Mutex
	files map[string]*cappedFile
}

func newNodeLogs(s settings, stderr io.Writer) *nodeLogs {
	l := &nodeLogs{dir: s.Home, files: map[string]*cappedFile{},
		stderr: slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError})}
	if s.Ephemeral {
		l.dir = ""
	}
	return l
}

// logger returns the network's logger, and makes it the process's.
func (l *nodeLogs) logger() *slog.Logger {
	log := slog.New(&nodeHandler{logs: l, node: commonLog, file: slog.NewTextHandler(l.writer(commonLog), nil), stderr: l.stderr})
	slog.SetDefault(log)
	return log
}

func (l *nodeLogs) close() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.files {
		f.close()
	}
}

func (l *nodeLogs) writer(node string) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[node]
	if f == nil {
		f = &cappedFile{}
		if l.dir != "" {
			f.path, f.old = home.NodeLog(l.dir, node), home.NodeLog(l.dir, node+"-old")
		}
		l.files[node] = f
	}
	return f
}

// nodeHandler sends records to the file of the node that they are of.
type nodeHandler struct {
	logs   *nodeLogs
	node   string
	file   slog.Handler
	stderr slog.Handler
}

func (h *nodeHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.file.Enabled(ctx, level)
}

func (h *nodeHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.stderr.Enabled(ctx, r.Level) {
		_ = h.stderr.Handle(ctx, r)
	}
	return h.file.Handle(ctx, r)
}

func (h *nodeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	for _, a := range attrs {
		if name := a.Value.String(); a.Key == "node" && name != h.node {
			with.node, with.file = name, slog.NewTextHandler(h.logs.writer(name), nil)
		}
	}
	with.file, with.stderr = with.file.WithAttrs(attrs), h.stderr.WithAttrs(attrs)
	return &with
}

func (h *nodeHandler) WithGroup(name string) slog.Handler {
	with := *h
	with.file, with.stderr = h.file.WithGroup(name), h.stderr.WithGroup(name)
	return &with
}

// cappedFile is a log that begins anew when it is full. What is logged before
// its folder is there, or when the disk is full, is lost: a log is no reason to
// stop.
type cappedFile struct {
	mu        sync.Mutex
	path, old string // "": nothing is kept
	file      *os.File
	size      int64
	closed    bool
}

func (f *cappedFile) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" || f.closed {
		return len(line), nil
	}
	if f.file != nil && f.size+int64(len(line)) > maxLogBytes {
		_ = f.file.Close()
		_ = os.Rename(f.path, f.old)
		f.file = nil
	}
	if f.file == nil {
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return len(line), nil
		}
		f.file, f.size = file, 0
		if info, err := file.Stat(); err == nil {
			f.size = info.Size()
		}
	}
	n, _ := f.file.Write(line)
	f.size += int64(n)
	return len(line), nil
}

func (f *cappedFile) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.file != nil {
		_ = f.file.Close()
	}
}
