package coverage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
)

// Each worker of pytest-xdist has benches of its own: what they ran is added up.
func TestCoverageOfSeveralProcessesAddsUp(t *testing.T) {
	folder := t.TempDir()
	const source = "def f(payload):\n    return b\"\"\n"
	for _, name := range []string{"covered-a.json", "covered-b.json"} {
		c := New()
		probed := &program.Probed{Code: program.Code{Source: []byte(source)}}
		probed.Uses = append(probed.Uses, program.Use{Line: 2, Hits: 3}, program.Use{Line: 1})
		probed.Branches = append(probed.Branches, program.Branch{Line: 2, Way: 1, Taken: 2})
		c.Add(probed)
		if err := c.WriteTo(folder); err != nil {
			t.Fatal(err)
		}
		written, err := filepath.Glob(filepath.Join(folder, "covered-[0-9]*.json"))
		if err != nil || len(written) != 1 {
			t.Fatal(written, err)
		}
		if err := os.Rename(written[0], filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := readCoverage(folder)
	if err != nil || len(found) != 1 || found[source] == nil {
		t.Fatal(found, err)
	}
	n := found[source]
	if n.lines[2] != 6 || n.lines[1] != 0 || n.ways[way{2, 1}] != 4 {
		t.Errorf("lines %v, ways %v", n.lines, n.ways)
	}
}
