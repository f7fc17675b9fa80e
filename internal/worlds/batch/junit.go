package batch

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// The JUnit XML that build servers read: a suite for each scenario, a case for
// each seed.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
	seconds  float64
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the verdicts to a file. What should happen sometimes and never did is
// a case of its own in its scenario's suite.
func WriteJUnit(path string, verdicts []Verdict, missing []Sometimes) error {
	var all junitSuites
	suite := func(file string) *junitSuite {
		for i := range all.Suites {
			if all.Suites[i].Name == file {
				return &all.Suites[i]
			}
		}
		all.Suites = append(all.Suites, junitSuite{Name: file})
		return &all.Suites[len(all.Suites)-1]
	}
	for i := range verdicts {
		v := &verdicts[i]
		one := junitCase{Name: fmt.Sprintf("seed %d on %s", v.Seed, v.Backend), Class: v.File, Time: fmt.Sprintf("%.3f", v.Wall),
			Output: legal(v.Output)}
		if v.Failed() {
			var text strings.Builder
			v.Complain(&text)
			first, _, _ := strings.Cut(v.Error, "\n")
			one.Failure = &junitFailure{legal(first), legal(text.String())}
		}
		suite(v.File).add(one, v.Wall)
	}
	for _, m := range missing {
		file, _, _ := strings.Cut(m.Where, ":")
		suite(file).add(junitCase{Name: "sometimes " + legal(m.Name), Class: file, Time: "0.000",
			Failure: &junitFailure{"it held in no seed", legal(fmt.Sprintf("%s: sometimes(%q) held in no seed", m.Where, m.Name))}}, 0)
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.Time = fmt.Sprintf("%.3f", s.seconds)
		all.Tests += s.Tests
		all.Failures += s.Failures
	}
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), append(data, '\n')...), 0o644)
}

func (s *junitSuite) add(c junitCase, seconds float64) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	s.seconds += seconds
	if c.Failure != nil {
		s.Failures++
	}
}

// legal replaces what XML cannot hold: a script prints what it likes.
func legal(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r >= 0x20 && r != utf8.RuneError && r != 0xFFFE && r != 0xFFFF {
			return r
		}
		return '?'
	}, text)
}
