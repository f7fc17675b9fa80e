package app

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
)

func TestEachCommandHasAManualPageWithItsFlags(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	var out bytes.Buffer
	if code := Run([]string{"devnet", "man", "--out", dir}, &out, &out); code != failure.ExitDone {
		t.Fatalf("exit code %d: %s", code, &out)
	}
	pages := manPages(newApp(io.Discard, io.Discard))
	if len(pages) < 80 {
		t.Errorf("only %d pages", len(pages))
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(dir, page.fileName()))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page.flags {
			if !strings.Contains(string(text), ".B "+escapeRoff(f.name)+"\n") {
				t.Errorf("%s has no %s", page.fileName(), f.name)
			}
		}
		for _, m := range regexp.MustCompile(`([a-z_\\-]+)\(1\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(dir, strings.ReplaceAll(m[1], `\-`, "-")+".1")); err != nil {
				t.Errorf("%s names a page that is not there: %s", page.fileName(), m[1])
			}
		}
	}
}

func TestTextsOfAManualPageAreNoOrders(t *testing.T) {
	for text, want := range map[string]string{
		"--out DIR": `\-\-out DIR`, ".devnet": `\&.devnet`, `a\b`: `a\eb`, "a\n'b": "a\n\\&'b", "plain": "plain",
	} {
		if got := escapeRoff(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
