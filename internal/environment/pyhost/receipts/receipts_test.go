package receipts_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/needed"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

var rewrite = flag.Bool("rewrite", false, "write the receipts that the installed interpreters give")

// given are the receipts of every program, by the version of the interpreter.
func given(t *testing.T) map[string]map[string]string {
	paths := pyhost.Installed()
	if len(paths) == 0 {
		needed.Python(t, &pyhost.MissingError{})
	}
	all := map[string]map[string]string{}
	for _, path := range paths {
		pool := pyhost.New(pyhost.Config{Python: path, Hosts: 1})
		defer pool.Close()
		version, err := pool.Probe()
		if err != nil {
			t.Fatal(err)
		}
		s, err := pool.Open(program.ForBlock)
		if err != nil {
			t.Fatal(err)
		}
		all[version] = map[string]string{}
		for _, p := range receipts.All() {
			if all[version][p.Name], err = receipts.Run(s, p.Source); err != nil {
				t.Fatalf("%s of %s: %v", p.Name, version, err)
			}
		}
		s.Close()
	}
	return all
}

// Every interpreter of this machine gives the receipts of its minor version.
func TestEveryPythonGivesTheReceiptsOfItsMinor(t *testing.T) {
	found := given(t)
	if *rewrite {
		write(t, found)
		return
	}
	var versions []string
	for version, got := range found {
		versions = append(versions, version)
		for _, p := range receipts.All() {
			want, known := p.Want(pyhost.Minor(version))
			if !known || got[p.Name] != want {
				t.Errorf("%s on %s\ngot  %s\nwant %s", p.Name, version, got[p.Name], want)
			}
		}
	}
	slices.Sort(versions)
	t.Logf("%d programs on %s", len(receipts.All()), strings.Join(versions, ", "))
}

// words are the programs that print and return words of errors that C and libraries raise.
var words = []string{"language/words", "texts/words-of-libraries", "texts/fault-in-the-source", "texts/quoted-fault"}

// C20: a program and a caller read our words of an error under every minor version. So
// reading them has one price.
func TestC20NoReceiptHasWordsOfPythons(t *testing.T) {
	for _, p := range receipts.All() {
		if i := slices.Index(words, p.Name); i >= 0 {
			words = slices.Delete(words, i, i+1)
			if len(p.Pins) != 1 {
				t.Errorf("%s has %d receipts: %v", p.Name, len(p.Pins), p.Pins)
			}
		}
	}
	if len(words) != 0 {
		t.Errorf("not in the corpus: %v", words)
	}
}

// listed are the programs whose receipts the minor versions may differ in, with the reason.
var listed = map[string]string{
	"classes/sorting":       "3.13 asks more often where a run begins",
	"texts/unicode":         "the Unicode table differs by minor version",
	"texts/nested-fstrings": "3.12 lets a field of an f-string have its quotes",
}

// The list names all programs that differ between minor versions, and no others.
func TestMinorsDifferInWhatIsListed(t *testing.T) {
	for _, p := range receipts.All() {
		_, known := listed[p.Name]
		if known != (len(p.Pins) > 1) {
			t.Errorf("%s has %d receipts; listed: %v", p.Name, len(p.Pins), known)
		}
	}
}

// The error for a host that gives another receipt names the program and both receipts.
func TestAnotherReceiptIsNamed(t *testing.T) {
	s := &strange{}
	err := receipts.Prove(s, "3.11")
	var d *receipts.Difference
	if !errors.As(err, &d) || d.Program != receipts.All()[0].Name || d.Got != "0 ok \"x\"" || d.Want == "" {
		t.Errorf("%v", err)
	}
}

// strange answers every message alike.
type strange struct{ program.Session }

func (strange) Handle(program.Context, program.Code, program.Message) (program.Outcome, error) {
	return program.Outcome{Status: "ok", Output: []byte("x")}, nil
}

// write keeps what the interpreters gave; of minor versions that are not here, what was.
func write(t *testing.T, found map[string]map[string]string) {
	files := map[string]string{}
	for _, p := range receipts.All() {
		pins, same := map[string]string{}, map[string]bool{}
		for minor, receipt := range p.Pins {
			if minor != "" {
				pins[minor] = receipt
				same[receipt] = true
			}
		}
		for version, got := range found {
			minor := pyhost.Minor(version)
			if was, ok := pins[minor]; ok && was != got[p.Name] {
				t.Logf("%s on %s: %s, not %s", p.Name, version, got[p.Name], was)
			}
			pins[minor] = got[p.Name]
		}
		clear(same)
		for _, receipt := range pins {
			same[receipt] = true
		}
		if p.Pins = pins; len(same) == 1 {
			for receipt := range same {
				p.Pins = map[string]string{"": receipt}
			}
		}
		file, _, _ := strings.Cut(p.Name, "/")
		files[file] += "\n" + p.Entry()
	}
	for file, text := range files {
		path := filepath.Join("corpus", file+".txt")
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var head []string
		for line := range strings.Lines(string(old)) {
			if !strings.HasPrefix(line, "#") {
				break
			}
			head = append(head, line)
		}
		if err := os.WriteFile(path, []byte(strings.Join(head, "")+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
