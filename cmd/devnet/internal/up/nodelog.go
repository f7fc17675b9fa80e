package up

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

// commonLog takes what no node says.
const commonLog = "devnet"

// nodeLogs writes what each node logs to its file in the home, and errors to
// the terminal as well.
type nodeLogs struct {
	dir    string // "": no files
	stderr slog.Handler

	mu    sync.Mutex
	files map[string]*home.LogFile
}

func newNodeLogs(s launch.Settings, stderr io.Writer) *nodeLogs {
	l := &nodeLogs{dir: s.Home, files: map[string]*home.LogFile{},
		stderr: slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError})}
	if s.Ephemeral {
		l.dir = ""
	}
	return l
}

// networkLogger returns the network's logger, and makes it the process's.
func (l *nodeLogs) networkLogger() *slog.Logger {
	log := slog.New(&nodeHandler{logs: l, node: commonLog, file: slog.NewTextHandler(l.writerOf(commonLog), nil), stderr: l.stderr})
	slog.SetDefault(log)
	return log
}

func (l *nodeLogs) closeFiles() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.files {
		f.Close()
	}
}

func (l *nodeLogs) writerOf(node string) io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[node]
	if f == nil {
		f = &home.LogFile{}
		if l.dir != "" {
			f = home.NewLogFile(l.dir, node)
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
			with.node, with.file = name, slog.NewTextHandler(h.logs.writerOf(name), nil)
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
