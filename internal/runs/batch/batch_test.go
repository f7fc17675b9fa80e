package batch

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSometimesIsJudgedOverAllRuns(t *testing.T) {
	rain, snow := Sometimes{Name: "rain", Where: "a.star"}, Sometimes{Name: "snow", Where: "a.star"}
	raining := rain
	raining.True = true
	got := Never(Moments([]Verdict{{Moments: []Sometimes{rain, snow}}, {Moments: []Sometimes{raining}}, {Moments: []Sometimes{rain}}}))
	if len(got) != 1 || got[0] != snow {
		t.Errorf("never: %v, want snow", got)
	}
}

func TestTheFirstDifferenceOfTraces(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b, c := write("a", "one\ntwo\n"), write("b", "one\nthree\n"), write("c", "one\n")
	if got := firstDifference(a, a); got != "" {
		t.Errorf("a trace differs from itself: %s", got)
	}
	if got := firstDifference(a, b); !strings.Contains(got, "line 2") || !strings.Contains(got, "two") || !strings.Contains(got, "three") {
		t.Error(got)
	}
	if got := firstDifference(c, a); !strings.Contains(got, "line 2") || !strings.Contains(got, "(the end)") {
		t.Error(got)
	}
}

// Whatever a script prints, build servers can read the file.
func TestJUnitIsXMLWhateverIsPrinted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.xml")
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		v := Verdict{File: "a.star", World: World{Backend: Sim}, Code: Failed, Error: text, Output: text}
		if err := WriteJUnit(path, Shard{}, []Verdict{v, {File: "a.star"}}, []Sometimes{{Name: text, Where: "a.star"}}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got junitSuites
		if err := xml.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if got.Tests != 3 || got.Failures != 2 || len(got.Suites) != 1 || len(got.Suites[0].Cases) != 3 {
			t.Fatalf("%+v", got)
		}
	})
}

func TestATailIsTheLast(t *testing.T) {
	var l tail
	for range 5 {
		l.Write(bytes.Repeat([]byte("x"), maxTailBytes/2))
	}
	l.Write([]byte("end"))
	if got := l.String(); len(got) != maxTailBytes || !strings.HasSuffix(got, "xend") {
		t.Errorf("%d bytes are kept", len(got))
	}
}
