// Command unchanged shows that a change of structure changed nothing that others
// see. It builds the command of another commit and of this tree and compares
//
//   - the digests and verdicts of the scenario library, seed by seed;
//   - what the answers of every path of the HTTP API are, over one home that the
//     other commit's command recorded;
//   - vectors, transcripts and golden files, wherever they moved.
//
// It prints each difference and ends with 1 when there is one. Both commands open
// the same home, so a commit that changes the format of a home is beyond it.
//
//	go run ./internal/checks/unchanged -base HEAD~1 -seeds 20
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	base := flag.String("base", "HEAD", "the commit to compare this tree with")
	seeds := flag.Int("seeds", 20, "seeds a scenario")
	only := flag.String("only", "", "run only one part: digests, answers or files")
	flag.Parse()
	dir, err := os.MkdirTemp("", "unchanged")
	if err == nil {
		err = compareSides(dir, *base, *seeds, *only)
	}
	os.RemoveAll(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "unchanged:", err)
		os.Exit(1)
	}
}

// side is one of the two trees, and its command: before belongs to the base.
type side struct{ name, tree, binary string }

type comparison struct {
	dir, base     string
	before, after side
	seeds         int
	differences   int
}

func compareSides(dir, base string, seeds int, only string) error {
	here, err := outputOf("", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	c := &comparison{dir: dir, base: base, seeds: seeds,
		before: side{"before", filepath.Join(dir, "tree"), filepath.Join(dir, "before")},
		after:  side{"after", here, filepath.Join(dir, "after")}}
	if _, err := outputOf(here, "git", "worktree", "add", "--detach", c.before.tree, base); err != nil {
		return err
	}
	defer outputOf(here, "git", "worktree", "remove", "--force", c.before.tree)
	for _, s := range []side{c.before, c.after} {
		if _, err := outputOf(s.tree, "go", "build", "-o", s.binary, "./cmd/devnet"); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name string
		run  func() (int, error)
	}{{"files", c.compareFiles}, {"answers", c.compareAnswers}, {"digests", c.compareDigests}} {
		if only != "" && only != part.name {
			continue
		}
		n, err := part.run()
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Printf("%s: %d compared with %s\n", part.name, n, base)
	}
	if c.differences > 0 {
		return fmt.Errorf("%d differences", c.differences)
	}
	return nil
}

// tellDifference tells one difference.
func (c *comparison) tellDifference(what, before, after string) {
	c.differences++
	fmt.Printf("%s\n  before %s\n  after  %s\n", what, before, after)
}

// outputOf runs a command and gives what it printed, without the last newline.
func outputOf(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%s %v: %w\n%s", name, args, err, exit.Stderr)
	}
	for len(out) > 0 && out[len(out)-1] == '\n' {
		out = out[:len(out)-1]
	}
	return string(out), err
}
