package batch

import (
	"cmp"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Limits of JUnit files, which any program may have written.
const (
	maxJUnitBytes = 256 << 20
	maxJUnitCases = 4_000_000 // of all files
	// maxCaseSeconds is a year: no case took longer, and a sum of such stays a number.
	maxCaseSeconds = 366 * 24 * 60 * 60
)

// Report is files of JUnit put together: the shards of batches, and files of other
// programs.
type Report struct {
	Suites  []ReportSuite `json:"suites"`
	Failed  []ReportCase  `json:"failed"`         // and those with errors
	Never   []Sometimes   `json:"never"`          // what held in no run of any shard
	Missing []string      `json:"missing_shards"` // I/N of batches of which there are others
	all     junitSuites
}

// ReportSuite is one suite, with the sums of its parts.
type ReportSuite struct {
	Name    string  `json:"name"`
	Tests   int     `json:"tests"`
	Failed  int     `json:"failed"` // with those that had errors
	Skipped int     `json:"skipped"`
	Seconds float64 `json:"seconds"`
}

// ReportCase is one that failed.
type ReportCase struct {
	Suite   string `json:"suite"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

// Passed reports whether nothing failed and nothing is missing.
func (r *Report) Passed() bool { return len(r.Failed)+len(r.Never)+len(r.Missing) == 0 }

// ReadReport puts files together. Two of them with one case are an error: a file was
// given twice, or two shards were the same.
func ReadReport(paths []string) (*Report, error) {
	m := newMerging()
	for _, path := range paths {
		if err := m.addFile(path); err != nil {
			return nil, err
		}
	}
	return m.mergedReport(), nil
}

// merging is a Report in the making.
type merging struct {
	all     junitSuites
	seen    map[string]string          // the file of a case, by suite, class and name
	moments []Sometimes                // of devnet run
	shards  map[uint64]map[uint64]bool // by N: the shards found
}

func newMerging() *merging {
	return &merging{seen: map[string]string{}, shards: map[uint64]map[uint64]bool{}}
}

func (m *merging) addFile(path string) error {
	read, err := readJUnit(path)
	if err != nil {
		return err
	}
	return m.addSuites(path, read)
}

// addSuites adds the suites of one file.
func (m *merging) addSuites(path string, read *junitSuites) error {
	for i := range read.Suites {
		from := &read.Suites[i]
		into := m.all.findOrAddSuite(from.Name)
		judged, err := m.readSuiteProperties(path, from, into)
		if err != nil {
			return err
		}
		for _, c := range from.Cases {
			if judged && strings.HasPrefix(c.Name, sometimesCase) {
				continue // it is judged again, over all shards
			}
			key := from.Name + "\x00" + c.Class + "\x00" + c.Name
			if before, twice := m.seen[key]; twice {
				return fmt.Errorf("%s of %s is in %s and in %s: give each shard once", c.Name, from.Name, before, path)
			}
			if len(m.seen) == maxJUnitCases {
				return fmt.Errorf("%s: there are more than %d cases", path, maxJUnitCases)
			}
			m.seen[key] = path
			into.addCase(c, secondsOf(c.Time))
		}
	}
	return nil
}

// secondsOf returns the time of a case, 0 if it is invalid or negative.
func secondsOf(text string) float64 {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds <= maxCaseSeconds) {
		return 0
	}
	return seconds
}

// readSuiteProperties reads a suite's properties about its shard and about its sometimes
// conditions; it keeps the others.
func (m *merging) readSuiteProperties(path string, from, into *junitSuite) (judged bool, err error) {
	if from.Properties == nil {
		return false, nil
	}
	for _, p := range from.Properties.All {
		switch p.Name {
		case sometimesProperty:
			var s Sometimes
			if err := json.Unmarshal([]byte(p.Value), &s); err != nil {
				return false, fmt.Errorf("%s: the property %s of %s is not what devnet run writes: %w", path, p.Name, from.Name, err)
			}
			m.moments, judged = addSometimes(m.moments, s), true
		case shardProperty:
			var s Shard
			if _, err := fmt.Sscanf(p.Value, "%d/%d", &s.Index, &s.Of); err != nil || s.Index < 1 || s.Index > s.Of {
				return false, fmt.Errorf("%s: invalid shard %.40q of %s", path, p.Value, from.Name)
			}
			if m.shards[s.Of] == nil {
				m.shards[s.Of] = map[uint64]bool{}
			}
			m.shards[s.Of][s.Index] = true
		default:
			into.addProperty(p.Name, p.Value)
		}
	}
	return judged, nil
}

func (m *merging) mergedReport() *Report {
	r := &Report{Suites: []ReportSuite{}, Never: []Sometimes{}, Missing: []string{}}
	r.Failed = m.failedCases() // without what never held, which is told by itself
	for _, moment := range m.moments {
		if !moment.True {
			r.Never = append(r.Never, moment)
			m.all.addNeverCase(moment)
		}
	}
	for of, there := range m.shards {
		for i := uint64(1); i <= of && len(r.Missing) < maxMissing; i++ {
			if !there[i] {
				r.Missing = append(r.Missing, Shard{i, of}.String())
			}
		}
	}
	slices.Sort(r.Missing)
	for i := range m.all.Suites {
		s := &m.all.Suites[i]
		r.Suites = append(r.Suites, ReportSuite{s.Name, s.Tests, s.Failures + s.Errors, s.Skipped, s.seconds})
	}
	r.all = m.all
	return r
}

// failedCases are the cases that failed so far, and those with errors.
func (m *merging) failedCases() []ReportCase {
	all := []ReportCase{}
	for _, s := range m.all.Suites {
		for _, c := range s.Cases {
			if bad := cmp.Or(c.Failure, c.Error); bad != nil {
				all = append(all, ReportCase{s.Name, c.Name, bad.Message})
			}
		}
	}
	return all
}

// maxMissing bounds the shards that are told to be missing.
const maxMissing = 100

// Write writes it to a file, as JUnit.
func (r *Report) Write(path string) error { return r.all.writeFile(path) }

// readJUnit reads a file of JUnit, whose root may be one suite.
func readJUnit(path string) (*junitSuites, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxJUnitBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxJUnitBytes {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxJUnitBytes)
	}
	return parseJUnit(path, text)
}

func parseJUnit(path string, text []byte) (*junitSuites, error) {
	var all junitSuites
	if err := xml.Unmarshal(text, &all); err == nil {
		return &all, nil
	}
	var one struct {
		XMLName xml.Name `xml:"testsuite"`
		junitSuite
	}
	if err := xml.Unmarshal(text, &one); err != nil {
		return nil, fmt.Errorf("%s is not JUnit XML: %w", path, err)
	}
	all = junitSuites{Suites: []junitSuite{one.junitSuite}}
	return &all, nil
}
