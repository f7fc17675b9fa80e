package typed_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/typed"
)

// corpus is testdata/payloads.json, which the host of programs wrote (testdata/corpus.py): the
// clients in Python and TypeScript read the same file.
type corpus struct {
	Schema  string
	Legal   [][3]string // handler, payload, its one form
	Refused [][3]string // handler, payload, path
}

func theCorpus(t *testing.T) (c corpus, s *typed.Schema) {
	t.Helper()
	data, err := os.ReadFile("testdata/payloads.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if s, err = typed.Parse([]byte(c.Schema)); err != nil {
		t.Fatal(err)
	}
	return c, s
}

func TestTypedPayloadsAreReadAndWrittenAsTheHostDoes(t *testing.T) {
	c, s := theCorpus(t)
	if len(c.Legal) < 200 || len(c.Refused) < 1000 {
		t.Fatalf("%d legal and %d refused payloads: this is not the corpus", len(c.Legal), len(c.Refused))
	}
	for _, row := range c.Legal {
		h := s.Handler(row[0])
		values, err := s.Arguments(h, []byte(row[1]))
		if err != nil {
			t.Errorf("%s %s: %v", row[0], row[1], err)
			continue
		}
		if got, err := s.Encode(h, values); err != nil || string(got) != row[2] {
			t.Errorf("%s %s became %s and not %s: %v", row[0], row[1], got, row[2], err)
		}
	}
	for _, row := range c.Refused {
		_, err := s.Arguments(s.Handler(row[0]), []byte(row[1]))
		var wrong *typed.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s %s was taken: %v", row[0], row[1], err)
		} else if wrong.Path != row[2] && row[2] != "" {
			t.Errorf("%s %s is refused at %q and not at %q: %v", row[0], row[1], wrong.Path, row[2], err)
		}
	}
}

// A client carries the brief: its handlers and types are the same.
func TestTypedBriefsSayTheSame(t *testing.T) {
	c, s := theCorpus(t)
	brief, err := typed.Parse(s.Brief())
	if err != nil {
		t.Fatal(err)
	}
	if again := string(brief.Brief()); again != string(s.Brief()) {
		t.Errorf("the brief of the brief is another: %s", again)
	}
	for _, row := range c.Legal {
		h := brief.Handler(row[0])
		values, err := brief.Arguments(h, []byte(row[1]))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := brief.Encode(h, values); err != nil || string(got) != row[2] {
			t.Errorf("%s %s became %s: %v", row[0], row[1], got, err)
		}
	}
}
