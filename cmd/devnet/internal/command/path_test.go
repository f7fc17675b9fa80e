package command

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// Who may not read or make a file is told whose the folder or file is and who asks, whatever the command: another user's
// volume, or a file server that ignores the group.
func TestRefusedPathsNameTheirOwner(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "v0.toml")
	if err := os.WriteFile(file, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	me := strconv.Itoa(os.Geteuid())
	ofFolder := "folder " + dir + " belongs to user " + me + " with the mode drwxr-xr-x, and devnet runs as user " + me
	ofFile := "file " + file + " belongs to user " + me + " with the mode -rw-r-----, and devnet runs as user " + me
	refused := func(op, path string) error { return &fs.PathError{Op: op, Path: path, Err: syscall.EACCES} }
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"a home", failure.NewNoStart("See doctor.", "no start: %v", refused("mkdir", filepath.Join(dir, "homes", "v0"))), ofFolder},
		{"settings", failure.CausedBy(refused("open", file),
			failure.NewUsage(failure.GivePath, "--config: %s", failure.DescribeFile(file, refused("open", file)))), ofFile},
		{"what is made", refused("mkdir", filepath.Join(dir, "o")), ofFolder},
		{"what is not there", failure.NewNoStart("Look again.", "no: %v", &fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}),
			"Look again."},
		{"what has no path", failure.New("Look again.", "no: %v", syscall.EACCES), "Look again."},
		{"another error", failure.New("Look again.", "no: %v", errors.New("it is late")), "Look again."},
	} {
		var said bytes.Buffer
		ReportError(&said, c.err, false)
		if text := strings.Join(strings.Fields(said.String()), " "); !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", c.what, text)
		}
	}
}
