package lab

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"go.starlark.net/starlark"
)

// maxRowsBytes bounds a file of rows.
const maxRowsBytes = 256 << 20

// columnNames are the first row of a file of rows.
func (e *Experiment) columnNames() []string {
	all := []string{"key"}
	for _, axis := range e.Axes {
		all = append(all, axis.Name)
	}
	all = append(all, "seed")
	for _, m := range e.Measures {
		all = append(all, m.Name)
	}
	return append(all, "digest", "blocks", "fires")
}

func (e *Experiment) rowCells(r Row) []string {
	all := []string{r.Key}
	for _, v := range e.points[r.Point].Values {
		all = append(all, plainText(v))
	}
	all = append(all, strconv.FormatUint(r.Seed, 10))
	for _, f := range r.Figures {
		all = append(all, strconv.FormatFloat(f, 'g', -1, 64))
	}
	return append(all, r.Digest, strconv.FormatUint(r.Blocks, 10), strconv.FormatUint(r.Fires, 10))
}

// rowsByKey reads rows whose keys the experiment knows: others are of another text of its
// file, or of another experiment.
func (e *Experiment) rowsByKey(data []byte) (rows []Row, err error) {
	reader := csv.NewReader(bytes.NewReader(data))
	header, err := reader.Read()
	if err == io.EOF {
		return nil, nil
	}
	if err != nil || !slices.Equal(header, e.columnNames()) {
		return nil, fmt.Errorf("the columns are not those of %s (got %.80q): remove the file, or name another folder", e.Name, header)
	}
	for {
		cells, err := reader.Read()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row, err := e.readCells(cells)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(rows)+2, err)
		}
		if row.Point >= 0 && row.Key == e.Key(e.points[row.Point], row.Seed) {
			rows = append(rows, row)
		}
	}
}

func (e *Experiment) readCells(cells []string) (row Row, err error) {
	row = Row{Key: cells[0], Point: -1}
	values, rest := cells[1:1+len(e.Axes)], cells[1+len(e.Axes):]
	for _, p := range e.points {
		if slices.EqualFunc(p.Values, values, func(v starlark.Value, text string) bool { return plainText(v) == text }) {
			row.Point = p.Index
		}
	}
	var failures []error
	number := func(text string) uint64 {
		n, err := strconv.ParseUint(text, 10, 64)
		failures = append(failures, err)
		return n
	}
	row.Seed, rest = number(rest[0]), rest[1:]
	for range e.Measures {
		f, err := strconv.ParseFloat(rest[0], 64)
		row.Figures, rest, failures = append(row.Figures, f), rest[1:], append(failures, err)
	}
	row.Digest, row.Blocks, row.Fires = rest[0], number(rest[1]), number(rest[2])
	return row, errors.Join(failures...)
}

// log appends rows to a file. Each row is on the disk when Append returns.
type log struct {
	file *os.File
	of   *Experiment
}

// openLog opens the file of rows for more of them, and returns those that it has. A last
// line without its end was being written when a run was killed: it is cut.
func openLog(path string, e *Experiment) (_ *log, rows []Row, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
		}
	}()
	data, err := io.ReadAll(io.LimitReader(file, maxRowsBytes+1))
	if err != nil {
		return nil, nil, err
	}
	if len(data) > maxRowsBytes {
		return nil, nil, fmt.Errorf("the file has more than %d bytes", maxRowsBytes)
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if rows, err = e.rowsByKey(data[:whole]); err != nil {
		return nil, nil, err
	}
	if err := file.Truncate(int64(whole)); err != nil {
		return nil, nil, err
	}
	if _, err := file.Seek(int64(whole), io.SeekStart); err != nil {
		return nil, nil, err
	}
	l := &log{file, e}
	if whole == 0 {
		err = l.appendRow(e.columnNames())
	}
	return l, rows, err
}

// Append writes a row.
func (l *log) Append(r Row) error { return l.appendRow(l.of.rowCells(r)) }

func (l *log) appendRow(cells []string) error {
	var line bytes.Buffer
	w := csv.NewWriter(&line)
	if err := w.Write(cells); err != nil {
		return err
	}
	w.Flush()
	if _, err := l.file.Write(line.Bytes()); err != nil {
		return err
	}
	return l.file.Sync()
}

// Close ends the file.
func (l *log) Close() error { return l.file.Close() }

// ReadRows reads the rows of folders, each once, by point and seed. Two rows of one key with
// different figures are an error: a run is not repeatable, or programs differ.
func (e *Experiment) ReadRows(folders ...string) (rows []Row, err error) {
	byKey := map[string]Row{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, e.Name, "points*.csv"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found, err := e.rowsByKey(data[:bytes.LastIndexByte(data, '\n')+1])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			for _, r := range found {
				if before, known := byKey[r.Key]; known && (before.Digest != r.Digest || !slices.Equal(before.Figures, r.Figures)) {
					return nil, fmt.Errorf("%s: seed %d at %s has other figures than a row before: two programs made them, or a run does not repeat",
						file, r.Seed, e.Describe(e.points[r.Point]))
				}
				byKey[r.Key] = r
			}
		}
	}
	for _, r := range byKey { // order: sorted below
		rows = append(rows, r)
	}
	sortRows(rows)
	return rows, nil
}

func sortRows(rows []Row) {
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Seed, b.Seed)) })
}

// WriteRows writes rows by point and seed: the same bytes, whichever runs and shards made
// them in which order.
func (e *Experiment) WriteRows(w io.Writer, rows []Row) error {
	sorted := slices.Clone(rows)
	sortRows(sorted)
	out := csv.NewWriter(w)
	if err := out.Write(e.columnNames()); err != nil {
		return err
	}
	for _, r := range sorted {
		if err := out.Write(e.rowCells(r)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
