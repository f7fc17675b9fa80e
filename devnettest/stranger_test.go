package devnettest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAStrangersModule builds and runs the examples that people copy, those of this
// folder and that of docs/GO.md, in a separate module, outside this one.
func TestAStrangersModule(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "go.mod"), strangersModule(t, root))
	put(t, filepath.Join(dir, "go.sum"), text(t, filepath.Join(root, "go.sum")))
	put(t, filepath.Join(dir, "counter.py"), text(t, actorFile("counter.py")))
	examples := text(t, "example_test.go")
	put(t, filepath.Join(dir, "example_test.go"), strings.Replace(examples, "package devnettest_test", "package shop_test", 1))
	blocks := regexp.MustCompile("(?s)\n```go\n(.*?)\n```\n").FindAllStringSubmatch(text(t, filepath.Join(root, "docs/GO.md")), -1)
	if len(blocks) != 1 {
		t.Fatalf("docs/GO.md has %d blocks of Go, and this test runs one", len(blocks))
	}
	put(t, filepath.Join(dir, "go_test.go"), blocks[0][1])
	run := exec.CommandContext(t.Context(), "go", "test", "-mod=mod", "-count=1", "./...")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// strangersModule is a go.mod that needs this module, as its files are here.
func strangersModule(t *testing.T, root string) string {
	own, _, _ := strings.Cut(text(t, filepath.Join(root, "go.mod")), "\ntool ")
	_, needs, found := strings.Cut(own, "\nrequire ")
	if !found {
		t.Fatal("go.mod needs nothing?")
	}
	return "module example.org/shop\n\ngo 1.26.0\n\nrequire github.com/cowboyinc/devnet v0.0.0\n\nreplace github.com/cowboyinc/devnet => " +
		root + "\n\nrequire " + needs + "\n"
}

func text(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
