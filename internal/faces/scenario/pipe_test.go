//go:build unix

package scenario

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe without a writer is refused, not awaited.
func TestAScriptIsARegularFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.star")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := openSources(path, ""); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Fatal(err)
	}
}
