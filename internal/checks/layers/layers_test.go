package layers

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// top is the module's directory.
const top = "../../.."

// read returns the module's sources by their path, without tests and without
// modules inside.
func read(t *testing.T) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(top, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(top, name)
		if err != nil {
			return err
		}
		inside = filepath.ToSlash(inside)
		if entry.IsDir() {
			return skip(inside, name, entry)
		}
		if !strings.HasSuffix(inside, ".go") || strings.HasSuffix(inside, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		files[inside] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// skip leaves out directories without a package of this module.
func skip(inside, name string, entry fs.DirEntry) error {
	if inside == "." {
		return nil
	}
	if base := entry.Name(); base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func TestTheSourcesKeepTheLayers(t *testing.T) {
	files := read(t)
	if len(files) < 20 {
		t.Fatalf("%d files: these are not the module's sources", len(files))
	}
	s, err := parse(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range s.violations() {
		t.Error(v)
	}
	for _, allowed := range allowedIn {
		for name, reason := range allowed {
			if _, exists := files[name]; !exists || reason == "" {
				t.Errorf("allowedIn names %s, which does not exist or has no reason", name)
			}
		}
	}
}
