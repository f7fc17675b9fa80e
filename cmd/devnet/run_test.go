package main

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestShardsPartTheSeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, n := rapid.Uint64Range(0, 1000).Draw(t, "seed"), rapid.Uint64Range(1, 60).Draw(t, "seeds")
		of := rapid.Uint64Range(1, n).Draw(t, "shards")
		seen := map[uint64]int{}
		for i := range of {
			p := &plan{}
			if err := p.readSeeds(decimal(first), decimal(n), decimal(i+1)+"/"+decimal(of)); err != nil {
				t.Fatal(err)
			}
			for _, seed := range p.seeds {
				seen[seed]++
			}
		}
		for seed := first; seed < first+n; seed++ {
			if seen[seed] != 1 {
				t.Fatalf("seed %d is in %d shards", seed, seen[seed])
			}
		}
		if uint64(len(seen)) != n {
			t.Fatalf("%d seeds, want %d", len(seen), n)
		}
	})
}

func decimal(n uint64) string {
	digits := []byte{byte('0' + n%10)}
	for n /= 10; n > 0; n /= 10 {
		digits = append([]byte{byte('0' + n%10)}, digits...)
	}
	return string(digits)
}

func TestSometimesIsJudgedOverAllRuns(t *testing.T) {
	rain, snow := sometimes{Name: "rain", Where: "a.star"}, sometimes{Name: "snow", Where: "a.star"}
	raining := rain
	raining.True = true
	got := never([]verdict{{Moments: []sometimes{rain, snow}}, {Moments: []sometimes{raining}}, {Moments: []sometimes{rain}}})
	if len(got) != 1 || got[0] != snow {
		t.Errorf("never: %v, want snow", got)
	}
}

func TestTheWorstEndIsTheBatchs(t *testing.T) {
	for _, c := range [][3]int{{exitDone, exitFailed, exitFailed}, {exitUsage, exitFailed, exitUsage}, {exitNoStart, exitFailed, exitNoStart}, {exitNoStart, exitUsage, exitUsage}} {
		if worse(c[0], c[1]) != c[2] || worse(c[1], c[0]) != c[2] {
			t.Errorf("worse(%d, %d) = %d, want %d", c[0], c[1], worse(c[0], c[1]), c[2])
		}
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
		v := verdict{File: "a.star", world: world{Backend: backendSim}, Code: exitFailed, Error: text, Output: text}
		if err := writeJUnit(path, []verdict{v, {File: "a.star"}}, []sometimes{{Name: text, Where: "a.star"}}); err != nil {
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

func TestReplayIsAShellsCommand(t *testing.T) {
	defer func(was string) { os.Args[0] = was }(os.Args[0])
	os.Args[0] = "bin/devnet"
	if got := replay("a.star", world{Backend: backendSim}, 7); got != "bin/devnet run a.star --seed 7" {
		t.Error(got)
	}
	if got := replay("it's here.star", world{backendLive, "100ms"}, 7); got != `bin/devnet run 'it'\''s here.star' --seed 7 --block-time 100ms --backend live` {
		t.Error(got)
	}
}

func TestWordsBehindTheBar(t *testing.T) {
	s := &show{failures: 3}
	for done, want := range map[int64]string{0: " 3 failed", 10: " 3 failed, 18s left", 100: " 3 failed, 0s left"} { // order: each is judged alone
		if got := s.words(done, 100, 2*time.Second); got != want {
			t.Errorf("after %d of 100: %q, want %q", done, got, want)
		}
	}
}

func TestLastWordsAreTheLast(t *testing.T) {
	var l lastWords
	for range 5 {
		l.Write(bytes.Repeat([]byte("x"), maxDyingWords/2))
	}
	l.Write([]byte("end"))
	if got := l.String(); len(got) != maxDyingWords || !strings.HasSuffix(got, "xend") {
		t.Errorf("%d bytes are kept", len(got))
	}
}
