package experiment

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
	"github.com/cowboyinc/devnet/internal/runs/batch"
)

// Rows writes a row of results a run: its settings, its seed, its figures, its digest and its
// verdict. Each row is in the file when Add returns. Samples of series go into a second file,
// made with the first of them.
type Rows struct {
	path     string
	file     *os.File
	settings []string // columns before the seed
	measures []string // columns after it
	begun    bool     // the first row is written
	series   *os.File // nil without a sample of a series
	given    []string // settings of the grid, which name a run in the series
}

// SeriesPath is the file of the series that belongs to a file of rows.
func SeriesPath(path string) string {
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + ".series" + ext
}

// CreateRows begins a file, in place of an earlier one and of its series.
func CreateRows(path string, grid Grid) (*Rows, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := os.Remove(SeriesPath(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	r := &Rows{path: path, file: file}
	for _, axis := range grid {
		r.given = append(r.given, axis.Name)
	}
	return r, nil
}

// Close ends the files.
func (r *Rows) Close() error {
	err := r.file.Close()
	if r.series != nil {
		err = errors.Join(err, r.series.Close())
	}
	return err
}

// Add writes the row of the next run. One with a new setting or measure makes the file
// anew, with a column more.
func (r *Rows) Add(v *batch.Verdict) error {
	settings, measures := slices.Clone(r.settings), slices.Clone(r.measures)
	row := map[string]string{"seed": strconv.FormatUint(v.Seed, 10), "digest": v.Digest, "verdict": v.Word()}
	for _, s := range v.Settings {
		row[s.Name] = s.Text
		if !slices.Contains(settings, s.Name) {
			settings = append(settings, s.Name)
		}
	}
	if !v.Failed() {
		for i := range v.Measures {
			m := &v.Measures[i]
			if slices.Contains(settings, m.Name) || slices.Contains(scenario.Columns, m.Name) {
				return fmt.Errorf("a column is called %q already: give the measure another name", m.Name)
			}
			if len(m.Samples) > 0 {
				row[m.Name] = formatPlain(m.Mean)
			}
			if !slices.Contains(measures, m.Name) {
				measures = append(measures, m.Name)
			}
		}
	}
	if len(settings) > scenario.MaxSettings || len(measures) > MaxMeasures {
		return fmt.Errorf("all runs together have at most %d settings and %d names of figures", scenario.MaxSettings, MaxMeasures)
	}
	if !r.begun || len(settings) > len(r.settings) || len(measures) > len(r.measures) {
		if err := r.addColumns(settings, measures); err != nil {
			return err
		}
	}
	if err := writeRow(r.file, r.rowCells(func(column string) string { return row[column] })); err != nil {
		return err
	}
	return r.addSeries(v)
}

// columnNames are the words of the first row.
func (r *Rows) columnNames() []string {
	return r.rowCells(func(column string) string { return column })
}

// rowCells are the cells of a row, by their columns.
func (r *Rows) rowCells(of func(column string) string) (row []string) {
	for _, column := range slices.Concat(r.settings, []string{"seed"}, r.measures, []string{"digest", "verdict"}) {
		row = append(row, of(column))
	}
	return row
}

// addColumns gives the file more columns: it is copied, row by row, and replaced.
func (r *Rows) addColumns(settings, measures []string) error {
	before, err := os.Open(r.path)
	if err != nil {
		return err
	}
	defer before.Close()
	r.settings, r.measures, r.begun = settings, measures, true
	wider, err := os.CreateTemp(filepath.Dir(r.path), filepath.Base(r.path)+".*")
	if err != nil {
		return err
	}
	if err := r.copyRows(before, wider); err != nil {
		return errors.Join(err, wider.Close(), os.Remove(wider.Name()))
	}
	if err := errors.Join(r.file.Close(), wider.Chmod(0o644), store.TakeName(wider.Name(), r.path)); err != nil {
		return errors.Join(err, wider.Close(), os.Remove(wider.Name()))
	}
	r.file = wider
	return nil
}

// copyRows writes the first row, and the rows of a file with fewer columns.
func (r *Rows) copyRows(from io.Reader, to io.Writer) error {
	w := csv.NewWriter(to)
	if err := w.Write(r.columnNames()); err != nil {
		return err
	}
	rows := csv.NewReader(from)
	had, err := rows.Read()
	for err == nil {
		var row []string
		if row, err = rows.Read(); err != nil {
			break
		}
		err = w.Write(r.rowCells(func(column string) string {
			if at := slices.Index(had, column); at >= 0 {
				return row[at]
			}
			return ""
		}))
	}
	if err != io.EOF {
		return err
	}
	w.Flush()
	return w.Error()
}

// addSeries writes the samples of a run's series, a row each.
func (r *Rows) addSeries(v *batch.Verdict) error {
	if v.Failed() {
		return nil
	}
	var run []string
	for _, name := range r.given {
		at := slices.IndexFunc(v.Settings, func(s scenario.Setting) bool { return s.Name == name })
		run = append(run, v.Settings[at].Text)
	}
	run = append(run, strconv.FormatUint(v.Seed, 10))
	for i := range v.Measures {
		m := &v.Measures[i]
		if len(m.At) == 0 {
			continue
		}
		if r.series == nil {
			var err error
			if r.series, err = os.Create(SeriesPath(r.path)); err != nil {
				return err
			}
			if err := writeRow(r.series, slices.Concat(r.given, []string{"seed", "measure", "unit", "at", "value"})); err != nil {
				return err
			}
		}
		w := csv.NewWriter(r.series)
		for k, at := range m.At {
			if err := w.Write(slices.Concat(run, []string{m.Name, m.Unit, strconv.FormatUint(uint64(at), 10),
				formatPlain(m.Samples[k])})); err != nil {
				return err
			}
		}
		if w.Flush(); w.Error() != nil {
			return w.Error()
		}
	}
	return nil
}

// writeRow writes one row at once.
func writeRow(to io.Writer, row []string) error {
	w := csv.NewWriter(to)
	if err := w.Write(row); err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}
