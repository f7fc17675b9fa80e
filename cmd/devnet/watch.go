package main

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/internal/environment/transport/connections"
	"github.com/cowboyinc/devnet/internal/worlds/box"
)

// watchFlags let others look into the connections of nodes. Containers have them from their
// environment.
func watchFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "qlog", EnvVars: []string{"DEVNET_QLOG"},
			Usage: "write a qlog file of each QUIC connection below `DIR`, in a folder for each node: for qvis"},
		&cli.StringFlag{Name: "keylog", EnvVars: []string{"DEVNET_KEYLOG"},
			Usage: "write the TLS secrets of all QUIC connections to `FILE`: for Wireshark"},
	}
}

// watching is where a process writes down its connections.
type watching struct{ qlog, keyLog string }

// watchingOf reads watchFlags.
func watchingOf(c *cli.Context) watching { return watching{c.String("qlog"), c.String("keylog")} }

// isWatching reports whether anything is to be written.
func (w watching) isWatching() bool { return w.qlog != "" || w.keyLog != "" }

// openFiles has the nodes of a configuration write their connections down. The file of secrets is
// closed with the process.
func (w watching) openFiles(config *box.Config, log *slog.Logger) error {
	if err := w.checkFolder(); err != nil {
		return err
	}
	config.Qlog = w.qlog
	keys, err := w.openKeyLog(log)
	config.KeyLog = keys
	return err
}

// checkFolder refuses a file in place of the folder of qlog files.
func (w watching) checkFolder() error {
	if info, err := os.Stat(w.qlog); w.qlog != "" && err == nil && !info.IsDir() {
		return noStart("Give another name: the folder is made.", "--qlog: %s is a file, and has to be a folder", w.qlog)
	}
	return nil
}

// openKeyLog opens the file of secrets; it is nil if none was asked for.
func (w watching) openKeyLog(log *slog.Logger) (io.WriteCloser, error) {
	if w.keyLog == "" {
		return nil, nil
	}
	keys, err := connections.OpenKeyLog(w.keyLog, log)
	if err != nil {
		return nil, noStart("Give a file in a folder that there is.", "--keylog: %v", err)
	}
	return keys, nil
}

// ofRunner opens the watch of one runner. A strict network is refused.
func (w watching) ofRunner(name string, strict bool, log *slog.Logger) (*connections.Capture, error) {
	if !w.isWatching() {
		return nil, nil
	}
	if strict {
		return nil, notUp(&box.WatchedError{})
	}
	keys, err := w.openKeyLog(log)
	if err != nil {
		return nil, err
	}
	watch, err := connections.NewCapture(w.qlog, name, keys, log)
	if err != nil {
		return nil, noStart("Give a folder that this user may write to.", "--qlog: %v", err)
	}
	return watch, nil
}

// nodeArguments are the flags of each node's process, with absolute paths.
func (w watching) nodeArguments() (args []string, err error) {
	if err := w.checkFolder(); err != nil {
		return nil, err
	}
	for _, one := range []struct{ flag, path string }{{"--qlog", w.qlog}, {"--keylog", w.keyLog}} {
		if one.path == "" {
			continue
		}
		path, err := filepath.Abs(one.path)
		if err != nil {
			return nil, noStart("", "%s: %v", one.flag, err)
		}
		args = append(args, one.flag, path)
	}
	return args, nil
}
