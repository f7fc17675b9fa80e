package batch

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// The JUnit XML that build servers read: a suite for each scenario, a case for
// each seed.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr,omitempty"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string           `xml:"name,attr"`
	Tests      int              `xml:"tests,attr"`
	Failures   int              `xml:"failures,attr"`
	Errors     int              `xml:"errors,attr,omitempty"`
	Skipped    int              `xml:"skipped,attr,omitempty"`
	Time       string           `xml:"time,attr"`
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
	seconds    float64
}

type junitProperties struct {
	All []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Error   *junitFailure `xml:"error,omitempty"` // other programs write it; devnet does not
	Skipped *junitFailure `xml:"skipped,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Shard is a part of a batch: of all runs every Of-th, from the Index-th on, which counts
// from 1. The zero Shard is all of them.
type Shard struct{ Index, Of uint64 }

// Has reports whether the run at a place, from 0 on, is in the shard.
func (s Shard) Has(at int) bool { return s.Of <= 1 || uint64(at)%s.Of == s.Index-1 }

// String is I/N.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// findOrAddSuite returns the suite with a name, made if there is none.
func (all *junitSuites) findOrAddSuite(name string) *junitSuite {
	for i := range all.Suites {
		if all.Suites[i].Name == name {
			return &all.Suites[i]
		}
	}
	all.Suites = append(all.Suites, junitSuite{Name: name})
	return &all.Suites[len(all.Suites)-1]
}

// addProperty adds a property of a suite, once.
func (s *junitSuite) addProperty(name, value string) {
	if s.Properties == nil {
		s.Properties = &junitProperties{}
	}
	if one := (junitProperty{name, value}); !slices.Contains(s.Properties.All, one) {
		s.Properties.All = append(s.Properties.All, one)
	}
}

// Names of the properties of a suite.
const (
	shardProperty     = "devnet.shard"     // which of the batch it has
	sometimesProperty = "devnet.sometimes" // a Sometimes as JSON, true where it held in one of its runs
)

// WriteJUnit writes the verdicts of a shard to a file. An event that should happen
// sometimes and never did is a separate case in its scenario's suite. Conditions that
// held are among the suite's properties, for merging shards.
func WriteJUnit(path string, shard Shard, verdicts []Verdict, missing []Sometimes) error {
	var all junitSuites
	suite := all.findOrAddSuite
	for _, m := range Moments(verdicts) {
		file, _, _ := strings.Cut(m.Where, ":")
		m.Name, m.Where = replaceIllegal(m.Name), replaceIllegal(m.Where)
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		suite(file).addProperty(sometimesProperty, string(text))
	}
	for i := range verdicts {
		v := &verdicts[i]
		one := junitCase{Name: replaceIllegal(v.caseName()), Class: v.File, Time: fmt.Sprintf("%.3f", v.Wall),
			Output: replaceIllegal(v.Output)}
		if v.Failed() {
			var text strings.Builder
			v.Complain(&text)
			first, _, _ := strings.Cut(v.Error, "\n")
			one.Failure = &junitFailure{replaceIllegal(first), replaceIllegal(text.String())}
		}
		suite(v.File).addCase(one, v.Wall)
	}
	for _, m := range missing {
		all.addNeverCase(m)
	}
	if shard.Of > 1 {
		for i := range all.Suites {
			all.Suites[i].addProperty(shardProperty, shard.String())
		}
	}
	return all.writeFile(path)
}

// caseName tells the runs of a scenario apart.
func (v *Verdict) caseName() string {
	name := fmt.Sprintf("seed %d on %s", v.Seed, v.Backend)
	if set := v.setArguments(); set != "" {
		name += ", " + set
	}
	return name
}

// sometimesCase begins the name of the case of a condition that never held.
const sometimesCase = "sometimes "

// addNeverCase adds the case of an event that should have happened sometimes and never
// did.
func (all *junitSuites) addNeverCase(m Sometimes) {
	file, _, _ := strings.Cut(m.Where, ":")
	all.findOrAddSuite(file).addCase(junitCase{Name: sometimesCase + replaceIllegal(m.Name), Class: file, Time: "0.000",
		Failure: &junitFailure{"it held in no seed", replaceIllegal(fmt.Sprintf("%s: sometimes(%q) held in no seed", m.Where, m.Name))}}, 0)
}

// writeFile writes the suites to a file, with their sums.
func (all *junitSuites) writeFile(path string) error {
	all.Tests, all.Failures, all.Errors = 0, 0, 0
	for i := range all.Suites {
		s := &all.Suites[i]
		s.Time = fmt.Sprintf("%.3f", s.seconds)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(data, '\n')...), 0o644)
}

func (s *junitSuite) addCase(c junitCase, seconds float64) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	s.seconds += seconds
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// replaceIllegal replaces what XML cannot hold: a script prints what it likes.
func replaceIllegal(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r >= 0x20 && r != utf8.RuneError && r != 0xFFFE && r != 0xFFFF {
			return r
		}
		return '?'
	}, text)
}
