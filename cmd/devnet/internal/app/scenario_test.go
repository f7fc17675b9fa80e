package app

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

// A network may be a stranger's: it chooses no folder to write to.
func TestANetworkWritesNoFileElsewhere(t *testing.T) {
	for _, name := range []string{"../evil.py", "sub/evil.py", "/tmp/evil.py", "..", ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"script":"net = network()\n","files":[{"name":%q,"content":"x"}],"left_out":[]}`, name)
		}))
		folder := t.TempDir()
		var errs strings.Builder
		args := []string{"devnet", "scenario", filepath.Join(folder, "again", "run.star"), "--http", server.URL}
		if err := os.Mkdir(filepath.Join(folder, "again"), 0o755); err != nil {
			t.Fatal(err)
		}
		code := runWaiting(t.Context(), command.NewWaiting(io.Discard, false), args, io.Discard, &errs)
		server.Close()
		if code != failure.ExitFailed || !strings.Contains(errs.String(), "outside of the folder") {
			t.Errorf("%q: exit code %d, %s", name, code, &errs)
		}
		if err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("%q wrote %s", name, path)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
}
