package container

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// logsDir is the folder of the logs of removed containers.
const logsDir = "logs"

func (c *Carrier) logFile(name string) string {
	return filepath.Join(c.config.Dir, logsDir, name+".log")
}

// copyLogs copies what the container wrote to both of its outputs. For a missing
// container it copies nothing.
func (n *node) copyLogs(ctx context.Context, to io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "docker", append(append([]string{"logs"}, args...), n.containerName())...)
	cmd.Stdout, cmd.Stderr = to, to
	// The engine's own complaint and what the node wrote come the same way, and only the
	// first ends with an error.
	err := cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return nil
	}
	return err
}

// keepLogs appends the container's output to that of its predecessors.
func (n *node) keepLogs(ctx context.Context) error {
	f, err := os.OpenFile(n.carrier.logFile(n.Name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(n.copyLogs(ctx, f), f.Close())
}

// readLogs is all that the node has written so far.
func (n *node) readLogs() (io.ReadCloser, error) {
	var kept io.ReadCloser = io.NopCloser(strings.NewReader(""))
	f, err := os.Open(n.carrier.logFile(n.Name))
	switch {
	case err == nil:
		kept = f
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	go func() { write.CloseWithError(n.copyLogs(ctx, write)) }()
	return &logReader{io.MultiReader(kept, read), kept, read, cancel}, nil
}

// logReader is a log that is being read.
type logReader struct {
	io.Reader
	kept   io.Closer
	read   *io.PipeReader
	cancel context.CancelFunc
}

func (l *logReader) Close() error {
	l.cancel()
	return errors.Join(l.kept.Close(), l.read.Close())
}
