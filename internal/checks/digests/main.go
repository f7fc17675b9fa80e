// Command digests plays the scenario library in the simulator and compares the digest of
// every run with a file, one line a run. A change of structure keeps each line.
//
//	go run ./internal/checks/digests -seeds 2
//
// It prints every line that differs, and ends with 1 if there is one. With -write it
// renews the file; the commit then says why runs differ. The file is the committed one,
// unless -file names another. So two checkouts are compared at more seeds:
//
//	go run ./internal/checks/digests -seeds 20 -file /tmp/before.txt -write  # in the first
//	go run ./internal/checks/digests -seeds 20 -file /tmp/before.txt         # in the second
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	library = "fixtures/scenarios"
	kept    = library + "/digests.txt"
	// digits is the number of a digest's digits in the file: 64 bits distinguish
	// runs.
	digits = 18
)

func main() {
	seeds := flag.Int("seeds", 2, "seeds a scenario, from 1 on")
	file := flag.String("file", kept, "compare with the runs in `FILE`")
	write := flag.Bool("write", false, "write the runs to the file")
	flag.Parse()
	if err := checkDigests(*seeds, *file, *write, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "digests:", err)
		os.Exit(1)
	}
}

// checkDigests plays the named scripts, or the whole library, and compares or writes. It reads the
// file before it plays: twenty seeds take minutes.
func checkDigests(seeds int, file string, write bool, scripts []string) error {
	if write && len(scripts) > 0 {
		return errors.New("-write renews the whole file: name no script")
	}
	var data []byte
	if !write {
		var err error
		if data, err = os.ReadFile(file); err != nil {
			return err
		}
	}
	lines, err := playScripts(seeds, scripts)
	if err != nil {
		return err
	}
	if write {
		return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
	}
	differ := compareRuns(strings.Split(strings.TrimSpace(string(data)), "\n"), lines, len(scripts) == 0)
	for _, line := range differ {
		fmt.Println(line)
	}
	if len(differ) > 0 {
		return fmt.Errorf("%d of %d runs differ from %s; -write renews it", len(differ), len(lines), file)
	}
	fmt.Printf("%d runs are as in %s\n", len(lines), file)
	return nil
}

// playScripts runs scripts and returns a line for each run: script, seed, height, exit code and
// digest.
func playScripts(seeds int, scripts []string) (lines []string, err error) {
	if len(scripts) == 0 {
		if scripts, err = filepath.Glob(library + "/*.star"); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "digests")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "devnet")
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/devnet").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("devnet cannot be built: %w\n%s", err, out)
	}
	printed, failed := exec.Command(binary, append([]string{"run", "--json", "--seeds", fmt.Sprint(seeds)}, scripts...)...).Output()
	var told struct {
		Runs []struct {
			File   string
			Seed   uint64
			Code   int
			Digest string
			Height uint64
		}
	}
	if err := json.Unmarshal(printed, &told); err != nil {
		return nil, fmt.Errorf("devnet run: %w", errors.Join(failed, err))
	}
	for _, r := range told.Runs {
		lines = append(lines, fmt.Sprintf("%s %d height %d code %d %.*s", strings.TrimSuffix(filepath.Base(r.File), ".star"), r.Seed, r.Height,
			r.Code, digits, r.Digest))
	}
	return lines, nil
}

// runOfLine is what a line is about: its script and seed.
func runOfLine(line string) string {
	words := strings.SplitN(line, " ", 3)
	return strings.Join(words[:min(2, len(words))], " ")
}

// compareRuns lists the runs that are not as they were. For the whole library it also
// lists scripts in the file that were not played, and the other way round.
func compareRuns(before, after []string, whole bool) (differ []string) {
	was := map[string]string{}
	for _, line := range before {
		was[runOfLine(line)] = line
	}
	for _, line := range after {
		if old := was[runOfLine(line)]; old != line {
			differ = append(differ, fmt.Sprintf("before %s\nafter  %s", cmp.Or(old, "no such run"), line))
		}
	}
	for _, line := range before {
		script, _, _ := strings.Cut(line, " ")
		played := slices.ContainsFunc(after, func(other string) bool { return strings.HasPrefix(other, script+" ") })
		if whole && !played {
			differ = append(differ, fmt.Sprintf("before %s\nafter  no such script", line))
		}
	}
	return differ
}
