package coverage

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/terminal"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/faces/words"
)

// fileCoverage is what tests ran of a file.
type fileCoverage struct {
	File     string           `json:"file"`
	Lines    []lineCoverage   `json:"lines"`
	Branches []branchCoverage `json:"branches"`
}

type lineCoverage struct {
	Line int    `json:"line"`
	Hits uint64 `json:"hits"`
}

type branchCoverage struct {
	Line  int    `json:"line"`
	Way   int    `json:"way"`
	Label string `json:"label"`
	Taken uint64 `json:"taken"`
}

// ReadFiles gathers what ran of every file that tests deployed, by its name.
func ReadFiles(folder string, points func(source []byte) ([]pyhost.Point, error)) ([]fileCoverage, error) {
	ran, err := readCoverage(folder)
	if err != nil {
		return nil, err
	}
	paths, err := readPaths(folder)
	if err != nil {
		return nil, err
	}
	var found []fileCoverage
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		source := strings.ReplaceAll(string(data), "\r\n", "\n")
		n := ran[source]
		if n == nil {
			n = &counts{} // it was refused, or has changed since
		}
		at, err := points([]byte(source))
		if err != nil {
			return nil, err
		}
		one := fileCoverage{File: fromHere(path), Lines: []lineCoverage{}, Branches: []branchCoverage{}}
		for _, p := range at {
			if p.Label == "" {
				one.Lines = append(one.Lines, lineCoverage{p.Line, n.lines[p.Line]})
			} else {
				one.Branches = append(one.Branches, branchCoverage{p.Line, p.Way, p.Label, n.ways[way{p.Line, p.Way}]})
			}
		}
		found = append(found, one)
	}
	slices.SortFunc(found, func(a, b fileCoverage) int { return strings.Compare(a.File, b.File) })
	return found, nil
}

// fromHere is a path as people write it from here.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if relative, err := filepath.Rel(here, path); err == nil && len(relative) < len(path) {
		return relative
	}
	return path
}

// Print prints a summary, and what did not run.
func Print(w io.Writer, files []fileCoverage) {
	fmt.Fprintln(w, "\ncoverage")
	if len(files) == 0 {
		fmt.Fprintln(w, "No test deployed an actor from a file.")
		return
	}
	rows := terminal.RowsOf(files, func(f *fileCoverage) []string {
		row := []string{f.File, coverageWords("lines", len(f.Lines), f.countRan())}
		if len(f.Branches) > 0 {
			row = append(row, coverageWords("branches", len(f.Branches), f.countBranches()))
		}
		return row
	})
	for i, line := range terminal.AlignColumns(rows) {
		fmt.Fprintln(w, line)
		for _, missing := range files[i].listMissing() {
			for _, part := range words.InLines(missing, words.Columns-4) {
				fmt.Fprintln(w, "    "+part)
			}
		}
	}
}

func coverageWords(what string, of, n int) string {
	if of == 0 {
		return what + " 0 of 0"
	}
	return fmt.Sprintf("%s %d of %d, %d%%", what, n, of, 100*n/of)
}

func (f *fileCoverage) countRan() int {
	return terminal.CountWhere(f.Lines, func(l *lineCoverage) bool { return l.Hits > 0 })
}

func (f *fileCoverage) countBranches() int {
	return terminal.CountWhere(f.Branches, func(b *branchCoverage) bool { return b.Taken > 0 })
}

// listMissing lists the lines that never began, and the branches that went only one way.
// Branches of lines that never began are left out.
func (f *fileCoverage) listMissing() (out []string) {
	var rows []string
	began := map[int]bool{}
	for i := 0; i < len(f.Lines); i++ {
		first := f.Lines[i]
		began[first.Line] = first.Hits > 0
		if first.Hits > 0 {
			continue
		}
		last := first
		for i+1 < len(f.Lines) && f.Lines[i+1].Hits == 0 {
			i++
			last = f.Lines[i]
			began[last.Line] = false
		}
		row := fmt.Sprint(first.Line)
		if last.Line > first.Line {
			row += fmt.Sprintf("–%d", last.Line)
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		out = append(out, "not run: "+strings.Join(rows, ", "))
	}
	for _, b := range f.Branches {
		if b.Taken == 0 && began[b.Line] {
			out = append(out, fmt.Sprintf("line %d: never %s", b.Line, b.Label))
		}
	}
	return out
}

// writeLCOV is what tools and editors read: lcov's tracefile format.
func writeLCOV(files []fileCoverage) string {
	var out strings.Builder
	for i := range files {
		f := &files[i]
		path, err := filepath.Abs(f.File)
		if err != nil {
			path = f.File
		}
		fmt.Fprintf(&out, "TN:\nSF:%s\n", path)
		hits := map[int]uint64{}
		for _, l := range f.Lines {
			hits[l.Line] = l.Hits
		}
		for _, b := range f.Branches {
			taken := fmt.Sprint(b.Taken)
			if hits[b.Line] == 0 {
				taken = "-" // the line never began
			}
			fmt.Fprintf(&out, "BRDA:%d,0,%d,%s\n", b.Line, b.Way, taken)
		}
		fmt.Fprintf(&out, "BRF:%d\nBRH:%d\n", len(f.Branches), f.countBranches())
		for _, l := range f.Lines {
			fmt.Fprintf(&out, "DA:%d,%d\n", l.Line, l.Hits)
		}
		fmt.Fprintf(&out, "LF:%d\nLH:%d\nend_of_record\n", len(f.Lines), f.countRan())
	}
	return out.String()
}

// WriteReport writes a file for tools: JSON if its name ends so, otherwise lcov.
func WriteReport(file string, files []fileCoverage) error {
	data := []byte(writeLCOV(files))
	if filepath.Ext(file) == ".json" {
		var err error
		if data, err = json.MarshalIndent(append([]fileCoverage{}, files...), "", " "); err != nil {
			return err
		}
		data = append(data, '\n')
	}
	return os.WriteFile(file, data, 0o644)
}
