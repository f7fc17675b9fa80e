package launch

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// WatchFlags let others look into the connections of nodes. Containers have them from their
// environment.
func WatchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "qlog", EnvVars: []string{"DEVNET_QLOG"},
			Usage: "write a qlog file of each QUIC connection below `DIR`, in a folder for each node: for qvis"},
		&cli.StringFlag{Name: "keylog", EnvVars: []string{"DEVNET_KEYLOG"},
			Usage: "write the TLS secrets of all QUIC connections to `FILE`: for Wireshark"},
	}
}

// Watch is where a process writes down its connections.
type Watch struct{ qlog, keyLog string }

// ReadWatch reads WatchFlags.
func ReadWatch(c *cli.Context) Watch { return Watch{c.String("qlog"), c.String("keylog")} }

// Watch is where the processes of a network write down their connections.
func (s *Settings) Watch() Watch { return Watch{s.Qlog, s.KeyLog} }

// IsWatching reports whether anything is to be written.
func (w Watch) IsWatching() bool { return w.qlog != "" || w.keyLog != "" }

// OpenFiles has the nodes of a configuration write their connections down. The file of secrets is
// closed with the process.
func (w Watch) OpenFiles(config *box.Config, log *slog.Logger) error {
	if err := w.checkFolder(); err != nil {
		return err
	}
	config.Qlog = w.qlog
	keys, err := w.OpenKeyLog(log)
	config.KeyLog = keys
	return err
}

// checkFolder refuses a file in place of the folder of qlog files.
func (w Watch) checkFolder() error {
	if info, err := os.Stat(w.qlog); w.qlog != "" && err == nil && !info.IsDir() {
		return failure.NewNoStart("Give another name: the folder is made.", "--qlog: %s is a file, and has to be a folder", w.qlog)
	}
	return nil
}

// OpenKeyLog opens the file of secrets; it is nil if none was asked for.
func (w Watch) OpenKeyLog(log *slog.Logger) (io.WriteCloser, error) {
	if w.keyLog == "" {
		return nil, nil
	}
	keys, err := connections.OpenKeyLog(w.keyLog, log)
	if err != nil {
		return nil, failure.NewNoStart("Give a file in a folder that there is.", "--keylog: %v", err)
	}
	return keys, nil
}

// OpenForRunner opens the watch of one runner. A strict network is refused.
func (w Watch) OpenForRunner(name string, strict bool, log *slog.Logger) (*connections.Capture, error) {
	if !w.IsWatching() {
		return nil, nil
	}
	if strict {
		return nil, DescribeFailure(&box.WatchedError{})
	}
	keys, err := w.OpenKeyLog(log)
	if err != nil {
		return nil, err
	}
	watch, err := connections.NewCapture(w.qlog, name, keys, log)
	if err != nil {
		return nil, failure.NewNoStart("Give a folder that this user may write to.", "--qlog: %v", err)
	}
	return watch, nil
}

// NodeArguments are the flags of each node's process, with absolute paths.
func (w Watch) NodeArguments() (args []string, err error) {
	if err := w.checkFolder(); err != nil {
		return nil, err
	}
	for _, one := range []struct{ flag, path string }{{"--qlog", w.qlog}, {"--keylog", w.keyLog}} {
		if one.path == "" {
			continue
		}
		path, err := filepath.Abs(one.path)
		if err != nil {
			return nil, failure.NewNoStart("", "%s: %v", one.flag, err)
		}
		args = append(args, one.flag, path)
	}
	return args, nil
}
