package network

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/launch"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

// followEvery is the interval at which a followed log is read.
const followEvery = 200 * time.Millisecond

// LogsCommand is the command logs.
func LogsCommand() *cli.Command {
	return &cli.Command{
		Name: "logs", Usage: "print the nodes' logs; -f follows them", ArgsUsage: "[NODE]",
		Description: "Example: devnet logs v0 -f\nFor lines that actors print: devnet actor logs NAME",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "home", Value: command.DefaultHome, Usage: "`DIR` of the network"},
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "follow new lines until Ctrl-C"},
		},
		Action: command.WithArguments(showLogs),
	}
}

func showLogs(c *cli.Context, args []string) error {
	dir := c.String("home")
	if _, err := home.ReadMeta(dir); errors.Is(err, os.ErrNotExist) {
		return failure.New("Run it where the network was started, or give --home DIR. A network with --ephemeral keeps no logs.",
			"there is no network's home at %s", dir)
	}
	nodes, err := []string{args[0]}, error(nil)
	if args[0] == "" {
		if nodes, err = loggedNodes(dir); err != nil {
			return err
		}
	}
	files, err := openLogs(dir, nodes)
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range files {
			_ = f.file.Close()
		}
	}()
	for {
		if err := printLogs(c.App.Writer, files); err != nil || !c.Bool("follow") {
			return err
		}
		if !command.Sleep(c.Context, followEvery) {
			return nil
		}
	}
}

func loggedNodes(dir string) (nodes []string, err error) {
	paths, err := filepath.Glob(home.NodeLog(dir, "*"))
	for _, path := range paths {
		node := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		if !strings.HasSuffix(node, "-old") && node != launch.UpLog { // what up itself says has no times
			nodes = append(nodes, node)
		}
	}
	if err == nil && len(nodes) == 0 {
		err = failure.New("", "no node of %s has logged anything yet", dir)
	}
	return nodes, err
}

type logFile struct {
	node string
	file *os.File
	read *bufio.Reader
	part string // of a line that is being written
}

func openLogs(dir string, nodes []string) (files []*logFile, err error) {
	for _, node := range nodes {
		f, err := os.Open(home.NodeLog(dir, node))
		if errors.Is(err, os.ErrNotExist) {
			known, _ := loggedNodes(dir)
			return nil, failure.New(failure.NearWords(node, known, "devnet logs"), "there is no log of a node %q in %s", node, dir)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, &logFile{node: node, file: f, read: bufio.NewReader(f)})
	}
	return files, nil
}

// printLogs prints the available lines of all nodes by their time, with which a
// line begins.
func printLogs(w io.Writer, files []*logFile) error {
	var all []string
	for _, f := range files {
		lines, err := f.readLines()
		if err != nil {
			return err
		}
		all = append(all, lines...)
	}
	slices.SortStableFunc(all, func(a, b string) int {
		first, _, _ := strings.Cut(a, " ")
		second, _, _ := strings.Cut(b, " ")
		return strings.Compare(first, second)
	})
	for _, line := range all {
		if _, err := fmt.Fprint(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (f *logFile) readLines() (lines []string, err error) {
	for {
		text, err := f.read.ReadString('\n')
		f.part += text
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the log of %s: %w", f.node, err)
		}
		lines, f.part = append(lines, f.part), ""
	}
}
