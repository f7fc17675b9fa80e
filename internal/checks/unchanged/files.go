package main

import (
	"strings"
)

// goldens are the files that the code prints or must agree with. Their paths may
// change, their content may not.
var goldens = []string{":(glob)**/testdata/**", ":(glob)fixtures/vectors/**/*.json"}

// compareFiles compares what golden files hold, by git's own finding of moves.
func (c *comparison) compareFiles() (int, error) {
	all, err := outputOf(c.after.tree, "git", append([]string{"ls-files", "--"}, goldens...)...)
	if err != nil {
		return 0, err
	}
	args := append([]string{"-c", "diff.renameLimit=20000", "diff", "--name-status", "-M100%", c.base, "--"}, goldens...)
	changed, err := outputOf(c.after.tree, "git", args...)
	if err != nil {
		return 0, err
	}
	for _, line := range strings.Split(changed, "\n") {
		if line != "" && !strings.HasPrefix(line, "R100") {
			status, path, _ := strings.Cut(line, "\t")
			c.tellDifference("file "+path, status, "see git diff "+c.base)
		}
	}
	return len(strings.Split(all, "\n")), nil
}
