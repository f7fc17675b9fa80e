package typo

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"run", "run", 0}, {"rnu", "run", 1}, {"statsu", "status", 1},
		{"kitten", "sitting", 3}, {"cal", "call", 1}, {"call", "cal", 1}, {"abc", "xyz", 3},
	} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, Distance(c.b, c.a), c.want)
		}
	}
}

func TestLawDistanceIsThatOfTheDumbestTwin(t *testing.T) {
	var twin func(a, b string) int
	twin = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		change := 1
		if a[0] == b[0] {
			change = 0
		}
		least := min(1+twin(a[1:], b), 1+twin(a, b[1:]), change+twin(a[1:], b[1:]))
		if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
			least = min(least, 1+twin(a[2:], b[2:]))
		}
		return least
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringMatching(`[ab]{0,5}`).Draw(t, "a"), rapid.StringMatching(`[ab]{0,5}`).Draw(t, "b")
		if Distance(a, b) != twin(a, b) {
			t.Fatalf("%q and %q: %d, want %d", a, b, Distance(a, b), twin(a, b))
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"alice", "bob", "gazette", "gazette2", "subscribe", "unsubscribe", "v0", "v1"}
	for word, want := range map[string]string{
		"gazett": "; did you mean gazette or gazette2?", "bobb": "; did you mean bob?", "subscrbe": "; did you mean subscribe?",
		"Alice": "; did you mean alice?",
		"v9":    "", "carol": "", "": "", strings.Repeat("a", 100): "", "gazette": "; did you mean gazette2?",
	} {
		if got := Suggestion(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
