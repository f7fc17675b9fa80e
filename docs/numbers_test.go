package docs

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/home"
)

var (
	updateNumbers = flag.Bool("update-numbers", false, "record the numbers of docs/RELEASE.md that were raised")
	keepNumbers   = flag.Bool("keep-numbers", false, "with -update-numbers: record changed files for numbers that stay")
)

const numbersFile = "testdata/numbers.json"

// A number tells other programs what they may read. Its pinned files are those that
// change when it has to be raised.
type number struct {
	name   string
	value  int
	pinned []string // patterns
}

var numbers = []number{
	{"home_format", home.Format, []string{"validators/ledger/testdata/transcripts/*", "actors/system/testdata/transcripts/*",
		"scheduler/testdata/transcripts/*", "internal/environment/pyhost/receipts/corpus/*"}},
}

// recorded is a number as it was written down, with its files of that time.
type recorded struct {
	Number int    `json:"number"`
	Files  string `json:"files_sha256"`
}

// digest is the digest of the pinned files' names and bytes.
func (n number) digest(t *testing.T, files fs.FS) string {
	t.Helper()
	var names []string
	for _, pattern := range n.pinned {
		found, err := fs.Glob(files, pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no file fits %s (%v)", n.name, pattern, err)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	sum := sha256.New()
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// judge says what is wrong with a number against its record; "" if nothing is.
func judge(name string, was, is recorded) string {
	switch {
	case was == is:
		return ""
	case is.Number < was.Number:
		return fmt.Sprintf("%s fell from %d to %d: a number is never used twice", name, was.Number, is.Number)
	case is.Number > was.Number:
		return fmt.Sprintf("%s was raised to %d: record it with go test ./docs -run Numbers -update-numbers", name, is.Number)
	}
	return fmt.Sprintf("files that pin %s changed, and it is still %d. If an older binary cannot read or execute what this one "+
		"writes, raise it,\nand record it with go test ./docs -run Numbers -update-numbers. If it can, add -keep-numbers", name, is.Number)
}

func TestNumbersRiseWithTheFilesThatPinThem(t *testing.T) {
	text, err := os.ReadFile(numbersFile)
	if err != nil {
		t.Fatal(err)
	}
	was := make(map[string]recorded)
	if err := json.Unmarshal(text, &was); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("RELEASE.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		if !strings.Contains(string(page), "`"+n.name+"`") {
			t.Errorf("RELEASE.md has no row of %s", n.name)
		}
		is := recorded{n.value, n.digest(t, checkout())}
		wrong := judge(n.name, was[n.name], is)
		raised := is.Number > was[n.name].Number
		if wrong != "" && (!*updateNumbers || !raised && !*keepNumbers) {
			t.Error(wrong)
			continue
		}
		was[n.name] = is
	}
	if !*updateNumbers || t.Failed() {
		return
	}
	text, err = json.MarshalIndent(was, "", "  ")
	if err == nil {
		err = os.WriteFile(numbersFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAPinnedFileThatChangesAloneIsFound(t *testing.T) {
	for _, c := range []struct {
		was, is recorded
		says    string
	}{
		{recorded{7, "a"}, recorded{7, "a"}, ""},
		{recorded{7, "a"}, recorded{7, "b"}, "still 7"},
		{recorded{7, "a"}, recorded{8, "b"}, "was raised to 8"},
		{recorded{7, "a"}, recorded{6, "a"}, "never used twice"},
	} {
		got := judge("x", c.was, c.is)
		if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%v after %v: %q, want %q", c.is, c.was, got, c.says)
		}
	}
}

// script runs a script of this checkout with settings.
func script(name string, settings ...string) (string, error) {
	command := exec.Command("python3", path.Join(top, "scripts", name))
	command.Env = append(command.Environ(), settings...)
	said, err := command.CombinedOutput()
	return string(said), err
}

// The scripts refuse what no release can be, before they compile anything.
func TestAReleaseIsRefusedBeforeItIsBuilt(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is missing")
	}
	for _, c := range []struct{ name, value, says string }{
		{"TARGETS", "windows/amd64", "WSL"},
		{"TARGETS", "plan9/amd64", "not a system of a release"},
		{"VERSION", "9.9.9", "cmd/devnet/internal/self/version.go"},
		{"VERSION", "latest", "is not a version"},
	} {
		t.Run(path.Base(c.value), func(t *testing.T) {
			said, err := script("make-release", c.name+"="+c.value, "OUT="+t.TempDir())
			if err == nil || !strings.Contains(said, c.says) {
				t.Errorf("it ends with %v and prints %q", err, said)
			}
		})
	}
}
