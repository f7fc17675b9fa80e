package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/cowboyinc/devnet/internal/environment/store"
)

// Dir is the home's directory, absolute.
func (h *Home) Dir() string { return h.dir }

// Genesis is the path of the chain's genesis.
func (h *Home) Genesis() string { return filepath.Join(h.dir, genesisFile) }

// Clock returns the path of the offset by which time travel has moved the network's
// clock.
func (h *Home) Clock() string { return filepath.Join(h.dir, clockFile) }

// RunFile is the path of the file that tells commands where the network
// answers.
func (h *Home) RunFile() string { return RunFile(h.dir) }

// RunFile is the same for a home that another process has open.
func RunFile(dir string) string { return filepath.Join(dir, runFile) }

// NodeLog returns the path of a node's log.
func NodeLog(dir, node string) string { return filepath.Join(dir, logsDir, node+logSuffix) }

// NodeLog returns the path of a node's log.
func (h *Home) NodeLog(node string) string { return NodeLog(h.dir, node) }

// NetDir returns the folder of a network whose nodes run in separate processes.
func NetDir(dir string) string { return filepath.Join(dir, netDir) }

// Node is the files of one node.
type Node struct {
	Votes string // path of its log of votes and block bodies
	State string // path of its finalized state
}

// Node returns the files of a node and makes their directory. A name has lower-case
// letters, digits and hyphens, at most 32.
func (h *Home) Node(name string) (Node, error) {
	if !validName(name) {
		return Node{}, fmt.Errorf("home: invalid node name %.40q: want 1 to 32 lower-case letters, digits and hyphens", name)
	}
	dir := filepath.Join(h.dir, nodesDir, name)
	if err := makeDir(dir, h.durability); err != nil {
		return Node{}, err
	}
	return NodeFiles(h.dir, name), nil
}

// Modes of a home's files and folders, which only its user reads. Logs have payloads; other
// files hold keys and votes.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// makeDir makes a directory, with those that it is in: their names survive what is
// asked for.
func makeDir(dir string, durability store.Durability) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeDir(parent, durability); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, dirMode); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("home: %w", err)
	}
	if durability != store.Disk {
		return nil
	}
	return store.SyncDir(filepath.Dir(dir))
}

// NodeFiles returns the files of a node in any home, to read them.
func NodeFiles(dir, name string) Node {
	dir = filepath.Join(dir, nodesDir, name)
	return Node{Votes: filepath.Join(dir, votesFile), State: filepath.Join(dir, stateFile)}
}

// Nodes lists the nodes that have files, sorted.
func (h *Home) Nodes() ([]string, error) { return Nodes(h.dir) }

// Nodes is the same for any home.
func Nodes(dir string) ([]string, error) { return listNames(filepath.Join(dir, nodesDir)) }

func validName(name string) bool {
	return len(name) >= 1 && len(name) <= 32 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Reset removes what a home's layout names: files, and directories that are
// empty by then. Other files stay, and so does dir itself. Reset removes nothing from a directory without a home, a
// home in use (an *InUseError), or a home with a link instead of a folder (a *LinkError).
func Reset(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, metaFile)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	lock, err := takeLock(dir)
	if err != nil {
		return err
	}
	return errors.Join(removeAll(dir), lock.Close())
}

// removeAll removes home.json last but one, so that an interrupted Reset can be
// run again, and the lock last.
func removeAll(dir string) error {
	if err := refuseLinks(dir, logsDir, nodesDir, netDir, netDir+newSuffix); err != nil {
		return err
	}
	logs, err := listNames(filepath.Join(dir, logsDir))
	if err != nil {
		return err
	}
	nodes, err := listNames(filepath.Join(dir, nodesDir))
	if err != nil {
		return err
	}
	nodes = slices.DeleteFunc(nodes, func(name string) bool { return !validName(name) })
	if err := refuseLinks(filepath.Join(dir, nodesDir), nodes...); err != nil {
		return err
	}
	var doomed []string
	for _, name := range logs {
		if node, isLog := strings.CutSuffix(name, logSuffix); isLog && validName(node) {
			doomed = append(doomed, filepath.Join(dir, logsDir, name))
		}
	}
	for _, node := range nodes {
		files := NodeFiles(dir, node)
		doomed = append(doomed, files.Votes, files.Votes+newSuffix, files.State, filepath.Dir(files.State))
	}
	if err := os.RemoveAll(NetDir(dir)); err != nil {
		return fmt.Errorf("home: %w", err)
	}
	if err := os.RemoveAll(NetDir(dir) + newSuffix); err != nil {
		return fmt.Errorf("home: %w", err)
	}
	for _, name := range []string{logsDir, nodesDir, runFile, runFile + newSuffix, clockFile, clockFile + newSuffix, genesisFile,
		genesisFile + newSuffix, metaFile + newSuffix, metaFile, lockFile} {
		doomed = append(doomed, filepath.Join(dir, name))
	}
	for _, path := range doomed {
		if err := removeIfThere(path); err != nil {
			return err
		}
	}
	return nil
}

// refuseLinks is a *LinkError if one of the names in a directory is a symbolic link,
// which would lead out of the home.
func refuseLinks(dir string, names ...string) error {
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if err == nil && info.Mode()&os.ModeSymlink != 0 {
			return &LinkError{path}
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("home: %w", err)
		}
	}
	return nil
}

// removeIfThere removes a file or an empty directory, if there is one.
func removeIfThere(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return fmt.Errorf("home: %w", err)
}

// listNames lists a directory, sorted; a missing one is empty.
func listNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("home: %w", err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list, nil
}
