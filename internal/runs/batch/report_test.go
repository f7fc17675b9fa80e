package batch

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

const foreign = `<testsuites><testsuite name="s"><testcase name="sometimes it works" classname="c" time="NaN">` +
	`<failure message="no"/></testcase><testcase name="b" classname="c" time="1e300"/></testsuite></testsuites>`

// A failure in a file of another program fails the report, whatever its name. No time in
// the file keeps the report from being written.
func TestAReportOfAnotherProgramsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.xml")
	if err := os.WriteFile(path, []byte(foreign), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ReadReport([]string{path})
	if err != nil || r.Passed() || len(r.Failed) != 1 || r.Failed[0].Name != "sometimes it works" {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// Files of JUnit come from anywhere: none ends the program, what failed is told, and the
// report of a report is the same.
func FuzzReport(f *testing.F) {
	f.Add([]byte(foreign))
	f.Add([]byte(`<testsuite name="s"><properties><property name="devnet.shard" value="1/3"/><property name="devnet.sometimes"` +
		` value="{&quot;name&quot;:&quot;n&quot;,&quot;where&quot;:&quot;s:1&quot;}"/></properties><testcase name="a"/></testsuite>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := parseJUnit("a.xml", text)
		if err != nil {
			return
		}
		m := newMerging()
		if m.addSuites("a.xml", read) != nil {
			return
		}
		r := m.mergedReport()
		if _, err := json.Marshal(r); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "b.xml")
		if err := r.Write(path); err != nil {
			t.Fatal(err)
		}
		again, err := ReadReport([]string{path})
		if err != nil {
			t.Fatalf("it does not read what it wrote: %v", err)
		}
		if len(again.Failed) < len(r.Failed) || len(again.Suites) != len(r.Suites) || again.Passed() && !r.Passed() && len(r.Missing) == 0 {
			t.Errorf("the report is %+v, and as written %+v", r, again)
		}
		for i, s := range r.Suites {
			s.Seconds, again.Suites[i].Seconds = 0, 0 // to the millisecond in a file
			if i < len(again.Suites) && !reflect.DeepEqual(s, again.Suites[i]) {
				t.Errorf("the suite %+v is written as %+v", s, again.Suites[i])
			}
		}
	})
}
