package main

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/checks/pythons/stated"
	"github.com/cowboyinc/devnet/internal/environment/pyhost"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

//go:embed plain.py
var plainSource string

// perProgram are the checks that share a program.
const perProgram = 32

// reference is a plain interpreter that runs programs.
type reference struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startReference(path string) (*reference, error) {
	cmd := exec.Command(path, "-I", "-S", "-B", "-c", plainSource)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &reference{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

func (r *reference) closeReference() error {
	return errors.Join(r.in.Close(), r.cmd.Wait())
}

// runChecks gives what each check saw; those after one that never ended are missing.
func (r *reference) runChecks(checks []sequence) (seen [][]string, err error) {
	return r.runSource(askedSource(checks), len(checks))
}

// runSource does the same with a program that has so many checks.
func (r *reference) runSource(source string, checks int) (seen [][]string, err error) {
	asked, err := json.Marshal(map[string]any{"source": source, "checks": checks})
	if err != nil {
		return nil, err
	}
	if _, err := r.in.Write(append(asked, '\n')); err != nil {
		return nil, err
	}
	line, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the plain interpreter ended: %w", err)
	}
	return seen, json.Unmarshal(line, &seen)
}

// tally is the outcome of checks under one interpreter.
type tally struct {
	version                             string
	sequences, checks, equal, unbounded int
	refused                             map[string]int // by reason
	known                               map[string]int // differences that ACTORS.md states
	silent                              []string
	examples                            map[string]string // of refusals by reason
}

func (t *tally) String() string {
	var b strings.Builder
	var refused int
	for _, n := range t.refused {
		refused += n
	}
	fmt.Fprintf(&b, "%s: %d checks in %d sequences: %d values equal, %d refused, "+
		"%d without an end or a text in CPython, %d silent differences\n",
		t.version, t.checks, t.sequences, t.equal, refused, t.unbounded, len(t.silent))
	for _, of := range []struct {
		what string
		by   map[string]int
	}{{"refused", t.refused}, {"stated", t.known}} {
		for _, reason := range slices.SortedFunc(maps.Keys(of.by), func(a, b string) int { return of.by[b] - of.by[a] }) {
			fmt.Fprintf(&b, "  %s %6d  %s\n", of.what, of.by[reason], reason)
			if strings.HasPrefix(reason, "other") {
				fmt.Fprintf(&b, "         as in  q = %s\n", t.examples[reason])
			}
		}
	}
	return b.String()
}

// judgeSequences runs checks in plain CPython and in the host of the same binary.
func judgeSequences(path string, all []sequence) (*tally, error) {
	plain, err := startReference(path)
	if err != nil {
		return nil, err
	}
	t := &tally{sequences: len(all), refused: map[string]int{}, known: map[string]int{}, examples: map[string]string{}}
	metered := &meteredHost{pool: pyhost.New(pyhost.Config{Python: path, Hosts: 1, Blocks: 1 << 30})}
	defer metered.closeHost()
	if t.version, err = metered.pool.Probe(); err != nil {
		return nil, errors.Join(err, plain.closeReference())
	}
	for some := range slices.Chunk(all, perProgram) {
		if err := t.addChecks(plain, metered, some); err != nil {
			return nil, errors.Join(err, plain.closeReference())
		}
	}
	return t, plain.closeReference()
}

// judgeAll prints the tally of each interpreter, and returns 1 if one of them has silent differences.
func judgeAll(paths []string, all []sequence, show int) (code int) {
	for _, path := range paths {
		t, err := judgeSequences(path, all)
		if err != nil {
			fmt.Fprintln(os.Stderr, "pythons:", err)
			return 1
		}
		for _, s := range t.silent[:min(len(t.silent), show)] {
			fmt.Println(s)
			code = 1
		}
		fmt.Print(t)
	}
	return code
}

// addChecks compares some checks: in one program, and where the host refuses that, in halves of it.
func (t *tally) addChecks(plain *reference, m *meteredHost, some []sequence) error {
	var bounded []sequence
	var wanted [][]string
	for len(some) > 0 {
		seen, err := plain.runChecks(some)
		if err != nil {
			return err
		}
		bounded, wanted = append(bounded, some[:len(seen)]...), append(wanted, seen...)
		if some = some[len(seen):]; len(some) > 0 { // the first of them did not end
			t.checks += len(some[0].steps)
			t.unbounded++
			some = some[1:]
		}
	}
	if len(bounded) == 0 {
		return nil
	}
	return t.compareWithHost(m, bounded, wanted)
}

// compareWithHost compares what checks saw in CPython with the host.
func (t *tally) compareWithHost(m *meteredHost, some []sequence, wanted [][]string) error {
	told, refusal, err := m.runChecks(some)
	if err != nil {
		return err
	}
	if refusal == "" {
		for i, c := range some {
			t.compareCheck(c, wanted[i], told[i])
		}
		return nil
	}
	if half := len(some) / 2; half > 0 {
		return errors.Join(t.compareWithHost(m, some[:half], wanted[:half]), t.compareWithHost(m, some[half:], wanted[half:]))
	}
	t.checks += len(some[0].steps)
	if strings.HasPrefix(refusal, "failed ") {
		t.silent = append(t.silent, refusal+"\n"+askedSource(some))
	} else {
		t.refused[refusal]++
	}
	return nil
}

// compareCheck compares what a check saw, until the host refuses something.
func (t *tally) compareCheck(c sequence, wanted, told []string) {
	t.checks += len(c.steps)
	of := stated.Seen{Value: c.value, Minor: pyhost.Minor(t.version)}
	for i, want := range wanted {
		of.Steps, of.Want = c.steps[:min(len(c.steps), (i+1)/2)], want
		if i >= len(told) {
			t.noteDifference(c, i, want, "nothing")
			return
		}
		of.Got = told[i]
		how, reason := verdictOf(of)
		of.Ended = of.Ended || errorOf.MatchString(told[i])
		switch how {
		case same:
			t.equal++
		case unbounded:
			t.unbounded++
		case known:
			t.known[reason]++
			if !stated.Passing(reason) {
				return
			}
		case refused:
			if t.refused[reason]++; t.refused[reason] == 1 {
				t.examples[reason] = c.value + "; " + strings.Join(of.Steps, "; ")
			}
			return
		case different:
			t.noteDifference(c, i, want, told[i])
			return
		}
	}
}

func (t *tally) noteDifference(c sequence, at int, want, got string) {
	var b strings.Builder
	fmt.Fprintf(&b, "q = %s\n", c.value)
	for i, step := range c.steps[:min(len(c.steps), (at+1)/2)] {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, step)
	}
	fmt.Fprintf(&b, "CPython: %s\nhost:    %s\n", want, got)
	t.silent = append(t.silent, b.String())
}

type outcome int

const (
	same outcome = iota
	refused
	known
	unbounded
	different
)

var errorOf = regexp.MustCompile(`^! (\w+): (?s)(.*)$`)

// verdictOf compares one value, or the type of an error.
func verdictOf(of stated.Seen) (outcome, string) {
	want, got := of.Want, of.Got
	w, g := errorOf.FindStringSubmatch(want), errorOf.FindStringSubmatch(got)
	switch {
	case w != nil && g != nil && strings.HasPrefix(g[2], "reverse is"): // CPython may have begun to sort
		return refused, stated.Reason(g[1], g[2])
	case want == got, w != nil && g != nil && w[1] == g[1]:
		return same, ""
	case w != nil && (w[1] == "MemoryError" || w[1] == "RecursionError"), w == nil && strings.Contains(want, " at 0x"):
		return unbounded, ""
	}
	if reason := stated.Of(of); reason != "" {
		return known, reason
	}
	if g != nil {
		reason := stated.Reason(g[1], g[2])
		if reason == "" && w == nil {
			reason = "other: " + vary.ReplaceAllString(g[1]+": "+g[2], "N")
		}
		if reason != "" {
			return refused, reason
		}
	}
	return different, ""
}

// meteredHost is the host, which is begun again when it ends.
type meteredHost struct {
	pool    *pyhost.Pool
	session program.Session
}

func (m *meteredHost) closeHost() {
	if m.session != nil {
		m.session.Close()
	}
	m.pool.Close()
}

// runChecks gives what each check saw, or why the program was refused; a refusal that begins with "failed " is no refusal.
func (m *meteredHost) runChecks(checks []sequence) (seen [][]string, refusal string, err error) {
	if m.session == nil {
		if m.session, err = m.pool.Open(program.ForBlock); err != nil {
			return nil, "", err
		}
	}
	source := askedSource(checks)
	_, err = m.session.Inspect(program.Code{Hash: types.Keccak([]byte(source)), Source: []byte(source)})
	if refused := (*program.Refusal)(nil); errors.As(err, &refused) {
		return nil, "at the deploy: " + vary.ReplaceAllString(lineOf.ReplaceAllString(refused.Error(), ""), "N"), nil
	}
	receipt := ""
	if err == nil {
		receipt, err = receipts.Run(m.session, source)
	}
	if err != nil {
		m.session.Close()
		m.session = nil
		return nil, "failed host: " + err.Error(), nil
	}
	_, ending, _ := strings.Cut(receipt, " ")
	if text, ok := strings.CutPrefix(ending, "ok "); ok {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return nil, "", err
		}
		output, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, "", err
		}
		return seen, "", json.Unmarshal([]byte(output), &seen)
	}
	for _, status := range []string{"out_of_cycles", "out_of_memory"} {
		if strings.HasPrefix(ending, status) {
			return nil, status, nil
		}
	}
	return nil, "failed program: " + ending, nil
}

var lineOf = regexp.MustCompile(`line \d+:? ?`)
