package author

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// watchFiles runs the tests, and again when a Python file has changed, until Ctrl-C.
func (t *tests) watchFiles(c *cli.Context) error {
	folders := []string{"."}
	for _, path := range t.paths {
		file, _, _ := strings.Cut(path, "::")
		folders = append(folders, file)
	}
	seen, err := changedLast(folders)
	if err != nil {
		return err
	}
	for {
		err := t.runTests(c)
		var f *failure.Failure
		if c.Context.Err() != nil || errors.As(err, &f) && f.Code == failure.ExitNoStart {
			return err
		}
		fmt.Fprintln(c.App.Writer, "The tests run again when a file changes; Ctrl-C ends it.")
		now := seen
		for now == seen {
			if !command.Sleep(c.Context, command.WatchEvery) {
				return err
			}
			var wrong error
			if now, wrong = changedLast(folders); wrong != nil {
				return wrong
			}
		}
		seen = now
	}
}

// stamp is the state of the files: how many, and when one changed last.
type stamp struct {
	files int
	last  time.Time
}

// changedLast looks at the Python files below folders, hidden ones apart.
func changedLast(folders []string) (s stamp, err error) {
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil // it is gone again
			case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != "." && d.Name() != ".." || d.Name() == "__pycache__"):
				return fs.SkipDir
			case d.IsDir() || filepath.Ext(path) != ".py":
				return nil
			}
			if s.files++; s.files > command.MaxWatched {
				return failure.NewUsage("Name the folder of the tests.", "--watch: there are more than %d Python files below %s", command.MaxWatched,
					folder)
			}
			if info, err := d.Info(); err == nil && info.ModTime().After(s.last) {
				s.last = info.ModTime()
			}
			return nil
		})
		if err != nil {
			return s, err
		}
	}
	return s, nil
}
