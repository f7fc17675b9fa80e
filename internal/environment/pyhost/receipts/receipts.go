// Package receipts has a corpus of small programs and the receipt of each: its
// cycles, its end and its text. Every CPython of one minor version gives these
// (decision C20), and so a host proves itself by them before its first program.
//
// A file of corpus is a list of entries:
//
//	program NAME
//	source of an actor, whose handler is f
//	----
//	12 ok "text"
//
// One line is the receipt under every minor version. Several lines say a receipt for
// each: `3.11: 12 ok "text"`. An entry of several lines is a difference that is known.
package receipts

import (
	"embed"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

//go:embed corpus/*.txt
var files embed.FS

// Handler is the handler of every program.
const Handler = "f"

// Limit is the cycles that each program may use.
const Limit = types.Cycles(500_000)

// Program is an entry of the corpus.
type Program struct {
	Name   string // file and name, as in enums/flags
	Source string
	// Pins are the receipts by minor version; "" is every version without a separate pin.
	Pins map[string]string
}

// Want is the receipt under a minor version such as "3.11"; false if none is known.
func (p Program) Want(minor string) (receipt string, known bool) {
	if receipt, known = p.Pins[minor]; !known {
		receipt, known = p.Pins[""]
	}
	return receipt, known
}

// All is the corpus, in the order of its files.
func All() []Program {
	entries, err := files.ReadDir("corpus")
	if err != nil {
		panic("receipts: the embedded corpus cannot be read: " + err.Error())
	}
	var all []Program
	for _, e := range entries {
		text, err := files.ReadFile("corpus/" + e.Name())
		if err != nil {
			panic("receipts: the embedded corpus cannot be read: " + err.Error())
		}
		found, err := Parse(strings.TrimSuffix(e.Name(), ".txt"), string(text))
		if err != nil {
			panic("receipts: " + err.Error())
		}
		all = append(all, found...)
	}
	return all
}

// Text is the whole corpus, for a caller that remembers a proof by it.
func Text() string {
	var b strings.Builder
	for _, p := range All() {
		b.WriteString(p.Entry())
	}
	return b.String()
}

// Parse reads a file of the corpus. An entry without receipts is one that is to be written.
func Parse(file, text string) (found []Program, err error) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		name, ok := strings.CutPrefix(lines[i], "program ")
		if !ok {
			if lines[i] == "" || strings.HasPrefix(lines[i], "#") {
				continue
			}
			return nil, fmt.Errorf("%s.txt:%d: neither a program nor a comment", file, i+1)
		}
		first := i + 1
		for i < len(lines) && lines[i] != "----" {
			i++
		}
		if i == len(lines) {
			return nil, fmt.Errorf("%s.txt:%d: %s has no receipt", file, first, name)
		}
		p := Program{Name: file + "/" + name, Source: strings.Join(lines[first:i], "\n") + "\n", Pins: map[string]string{}}
		for i++; i < len(lines) && lines[i] != ""; i++ {
			minor, receipt, ok := strings.Cut(lines[i], ": ")
			if !ok || !strings.HasPrefix(minor, "3.") {
				minor, receipt = "", lines[i]
			}
			p.Pins[minor] = receipt
		}
		found = append(found, p)
	}
	return found, nil
}

// Entry is the text of a program in a file, as Parse reads it.
func (p Program) Entry() string {
	var b strings.Builder
	_, name, _ := strings.Cut(p.Name, "/")
	fmt.Fprintf(&b, "program %s\n%s----\n", name, p.Source)
	var minors []string
	for minor := range p.Pins {
		minors = append(minors, minor)
	}
	sort.Slice(minors, func(i, k int) bool { return Older(minors[i], minors[k]) })
	for _, minor := range minors {
		if minor != "" {
			b.WriteString(minor + ": ")
		}
		b.WriteString(p.Pins[minor] + "\n")
	}
	return b.String()
}

// Older reports whether a minor version, such as 3.9, is before another, such as 3.11.
func Older(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }

// Run runs a program once and returns its receipt. An error comes from the environment. --
func Run(s program.Session, source string) (receipt string, err error) {
	code := program.Code{Hash: types.Keccak([]byte(source)), Source: []byte(source)}
	c := &offline{left: Limit}
	out, err := s.Handle(c, code, c.Message())
	if err != nil {
		return "", err
	}
	receipt = fmt.Sprintf("%d %s", Limit-c.left, endingOf(out))
	if len(c.printed) > 0 {
		receipt += fmt.Sprintf(" printed %q", strings.Join(c.printed, "\n"))
	}
	return receipt, nil
}

func endingOf(out program.Outcome) string {
	switch {
	case out.Status == types.StatusOK:
		return fmt.Sprintf("ok %q", out.Output)
	case out.Fault == nil:
		return string(out.Status)
	}
	told := out.Fault.Message
	if out.Told != nil {
		told = *out.Told
	}
	return fmt.Sprintf("%s %s %q", out.Status, out.Fault.Code, told)
}

// offline is a chain of one actor without state: it charges steps, and refuses the rest.
type offline struct {
	left    types.Cycles
	printed []string
}

var errOffline = &program.Fault{Status: types.StatusReverted, Code: "offline", Message: "no chain is available"}

func (c *offline) Block() program.BlockInfo {
	return program.BlockInfo{ChainID: 1, Height: 1, TimestampMS: 1_700_000_000_000}
}

func (c *offline) Message() program.Message {
	return program.Message{Kind: program.Call, Sender: types.Address{1}, Self: types.Address{2}, Owner: types.Address{3}, Handler: Handler}
}

func (c *offline) Remaining() (types.Cycles, types.Cells) { return c.left, 1 << 20 }

func (c *offline) Spend(n types.Cycles, _ types.Cells) error {
	if n > c.left {
		c.left = 0
		return &program.Fault{Status: types.StatusOutOfCycles, Code: "out_of_cycles", Message: "no cycles are left", Abort: true}
	}
	c.left -= n
	return nil
}

func (c *offline) Log(line string) { c.printed = append(c.printed, line) }

func (c *offline) Get([]byte) ([]byte, bool, error) { return nil, false, errOffline }
func (c *offline) Set(_, _ []byte) error            { return errOffline }
func (c *offline) Delete([]byte) error              { return errOffline }
func (c *offline) Balance(types.Address) (types.Wei, error) {
	return types.Wei{}, errOffline
}
func (c *offline) Transfer(types.Address, types.Wei) error { return errOffline }
func (c *offline) Emit(string, []byte) error               { return errOffline }
func (c *offline) Send(types.Address, string, []byte, types.Cycles, types.Cells) error {
	return errOffline
}
func (c *offline) Call(types.Address, string, []byte, types.Cycles) ([]byte, error) {
	return nil, errOffline
}
func (c *offline) ScheduleTimer(program.TimerRequest) (types.TimerID, error) {
	return types.TimerID{}, errOffline
}
func (c *offline) CancelTimer(types.TimerID) error               { return errOffline }
func (c *offline) ExtendTimer(types.TimerID, types.Height) error { return errOffline }
func (c *offline) SubmitJob([]byte) (types.Hash, error)          { return types.Hash{}, errOffline }
func (c *offline) SetGasBidder(*types.Address) error             { return errOffline }
func (c *offline) Keccak([]byte) (types.Hash, error)             { return types.Hash{}, errOffline }
func (c *offline) Randomness([]byte) (types.Hash, error)         { return types.Hash{}, errOffline }

// A Difference is a program whose receipt is another than the corpus has.
type Difference struct{ Program, Got, Want string }

func (d *Difference) Error() string {
	return fmt.Sprintf("the program %s gave another receipt (got %s, want %s)", d.Program, d.Got, d.Want)
}

// ErrMinor says that the corpus has no receipts for a minor version.
var ErrMinor = errors.New("no receipts of this minor version are known")

// Knows reports whether the corpus has receipts of a minor version.
func Knows(minor string) bool {
	for _, p := range All() {
		if _, known := p.Want(minor); !known {
			return false
		}
	}
	return true
}

// Prove runs the corpus under a minor version. Its error is a *Difference, ErrMinor or
// the environment's.
func Prove(s program.Session, minor string) error {
	for _, p := range All() {
		want, known := p.Want(minor)
		if !known {
			return fmt.Errorf("%s: %w", minor, ErrMinor)
		}
		got, err := Run(s, p.Source)
		if err != nil {
			return fmt.Errorf("the program %s: %w", p.Name, err)
		}
		if got != want {
			return &Difference{Program: p.Name, Got: got, Want: want}
		}
	}
	return nil
}
