package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
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

//go:embed extract.py
var extractSource string

// ownModules are the modules of CPython's package test that concern what actors may use; typing's names mean nothing to them.
var ownModules = strings.Fields(`test_int test_long test_bool test_list test_tuple test_dict test_set test_range test_slice test_unicode test_str
	test_bytes test_fstring test_format test_string test_enum test_decimal test_collections test_deque test_defaultdict test_ordered_dict
	test_userlist test_heapq test_bisect test_itertools test_functools test_operator test_re test_dataclasses test_dataclasses.test_dataclasses
	test_math test_struct test_base64 test_hmac test_hashlib test_binop test_compare test_richcmp test_contains test_sort test_unpack test_patma
	test_generators test_genexps test_listcomps test_setcomps test_dictcomps test_augassign test_iter test_enumerate test_grammar test_scope
	test_builtin test_opcodes test_isinstance test_property test_super test_class test_keywordonlyarg test_positional_only_arg
	test_named_expressions test_raise test_with test_exceptions test_numeric_tower test_pow test_index
	test_json.test_decode test_json.test_dump test_json.test_fail test_json.test_indent test_json.test_unicode test_json.test_scanstring
	test_json.test_separators test_json.test_encode_basestring_ascii test_json.test_pass1 test_json.test_pass2 test_json.test_pass3
	test_json.test_default test_json.test_enum test_json.test_recursion`)

// ownTest is a test method of CPython's, cut by extract.py.
type ownTest struct {
	Test    string         `json:"test"` // module, class and method
	Units   []ownUnit      `json:"units"`
	Prelude []ownLine      `json:"prelude"`
	LeftOut map[string]int `json:"left_out"` // units by what they need that no actor has
	Missing string         `json:"missing"`  // a module that is not installed; the rest is empty

	isCut bool // units are left out, so that names have no value
}

// ownUnit is a statement of a test.
type ownUnit struct {
	Text  string   `json:"text"`
	Needs []string `json:"needs"` // names of the prelude
}

// ownLine makes a name that units need.
type ownLine struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// extractTests cuts the tests of an interpreter; none where its package test is not installed.
func extractTests(path, folder string, modules []string) (all []ownTest, err error) {
	cmd := exec.Command(path, append([]string{"-I", "-B", "-c", extractSource}, modules...)...)
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("extract.py: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		var t ownTest
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			return nil, err
		}
		if t.Missing == "" {
			all = append(all, t)
		}
	}
	return all, nil
}

// ownTally is the outcome of CPython's tests under one interpreter.
type ownTally struct {
	version                                string
	tests, units, equal, unbounded, spoilt int
	refused, known, leftOut                map[string]int // by reason
	different                              []string       // each a line: test, CPython, host
	where                                  []string       // the unit of each
}

func (t *ownTally) String() string {
	var b strings.Builder
	sum := func(by map[string]int) (n int) {
		for _, v := range by {
			n += v
		}
		return n
	}
	fmt.Fprintf(&b, "%s: %d tests of CPython's in %d units, and %d units left out: %d checks equal, %d units refused, "+
		"%d values that differ as stated, "+
		"%d without an end or a text, %d without what a refused unit makes, %d different\n", t.version, t.tests, t.units, sum(t.leftOut),
		t.equal, sum(t.refused), sum(t.known), t.unbounded, t.spoilt, len(t.different))
	for _, of := range []struct {
		what string
		by   map[string]int
	}{{"refused", t.refused}, {"stated", t.known}, {"left out", t.leftOut}} {
		const most = 40
		for i, reason := range slices.SortedFunc(maps.Keys(of.by), func(x, y string) int { return of.by[y] - of.by[x] }) {
			if i < most {
				fmt.Fprintf(&b, "  %-8s %6d  %s\n", of.what, of.by[reason], reason)
			}
		}
	}
	return b.String()
}

// judgeOwnTests runs CPython's tests in plain CPython and in the host of the same binary.
func judgeOwnTests(path, folder string, modules []string) (*ownTally, error) {
	all, err := extractTests(path, folder, modules)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	plain, err := startReference(path)
	if err != nil {
		return nil, err
	}
	t := &ownTally{refused: map[string]int{}, known: map[string]int{}, leftOut: map[string]int{}}
	metered := &meteredHost{pool: pyhost.New(pyhost.Config{Python: path, Hosts: 1, Blocks: 1 << 30})}
	defer metered.closeHost()
	if t.version, err = metered.pool.Probe(); err != nil {
		return nil, errors.Join(err, plain.closeReference())
	}
	for _, test := range all {
		for reason, n := range test.LeftOut {
			t.leftOut[reason] += n
		}
		if len(test.Units) == 0 {
			continue
		}
		t.tests++
		t.units += len(test.Units)
		if err := t.judgeTest(plain, metered, &test); err != nil {
			return nil, errors.Join(err, plain.closeReference())
		}
	}
	return t, plain.closeReference()
}

// maxRounds bounds how often a test is run again without a unit.
const maxRounds = 80

// judgeTest runs a test until the host refuses none of its units: those are left out one after the other, so that no
// later value follows from a refusal.
func (t *ownTally) judgeTest(plain *reference, m *meteredHost, test *ownTest) error {
	before := len(test.Units)
	for range maxRounds {
		test.isCut = len(test.LeftOut) > 0 || len(test.Units) < before
		source, lines := test.source()
		seen, refusal, at, err := m.runOwnTest(source)
		if err != nil {
			return err
		}
		if refusal != "" {
			test.leaveOut(lines, at, func(n int) { t.refused[refusal] += n })
			if len(test.Units) == 0 {
				return nil
			}
			continue
		}
		wanted, err := plain.runSource(source, 1)
		if err != nil {
			return err
		}
		if len(wanted) == 0 { // it did not end
			t.unbounded += len(test.Units)
			return nil
		}
		if at, isWhole := t.compareTest(test, wanted[0], seen[0]); isWhole {
			return nil
		} else if test.Units = slices.Delete(test.Units, at, at+1); len(test.Units) == 0 {
			return nil
		}
	}
	t.refused["too many refusals in one test"] += len(test.Units)
	return nil
}

// ownHead is what the units of a test tell by.
const ownHead = shown + `class Self_: pass
`

// source is the program of a test, and of each line the unit that it is of: the number in Units, or -1-n of Prelude.
func (o *ownTest) source() (text string, lines map[int]int) {
	var b strings.Builder
	lines = map[int]int{}
	line := 1
	write := func(text, indent string, of int) {
		for part := range strings.Lines(text) {
			b.WriteString(indent + strings.TrimSuffix(part, "\n") + "\n")
			lines[line] = of
			line++
		}
	}
	const none = 1 << 30
	write("import json\n"+ownHead, "", none)
	for i, p := range o.Prelude {
		if !strings.HasPrefix(p.Name, "self.") {
			write(p.Text, "", -1-i)
		}
	}
	write("def c0(see):\n    self = Self_()\n    unit_ = [0, 0]\n    def tell_(v):\n        unit_[1] += 1\n"+
		"        try: seen_ = show(v)\n        except Exception as e: seen_ = failed(e)\n"+
		"        if unit_[1] < 500: see(str(unit_[0]) + \"|\" + seen_)\n    def tell_error_(e):\n        unit_[1] += 1\n"+
		"        if unit_[1] < 500: see(str(unit_[0]) + \"|\" + failed(e))\n", "", none)
	for i, p := range o.Prelude {
		if strings.HasPrefix(p.Name, "self.") {
			write(p.Text, "    ", -1-i)
		}
	}
	for i, u := range o.Units {
		write(fmt.Sprintf("unit_[0] = %d\n", i), "    ", none)
		write(u.Text, "    ", i)
	}
	write("def f(p):\n    seen = []\n    c0(seen.append)\n    return json.dumps([seen]).encode()\n", "", none)
	return b.String(), lines
}

// leaveOut leaves out the unit of a line, or all that need what a line of the prelude makes; where the line is of neither,
// the latter half of the units. It tells how many.
func (o *ownTest) leaveOut(lines map[int]int, at []int, tell func(int)) {
	before := len(o.Units)
	defer func() { tell(before - len(o.Units)) }()
	for _, line := range slices.Backward(at) {
		of, ok := lines[line]
		switch {
		case !ok || of >= before:
		case of >= 0:
			o.Units = slices.Delete(o.Units, of, of+1)
			return
		default:
			name := o.Prelude[-1-of].Name
			o.Prelude = slices.Delete(o.Prelude, -1-of, -of)
			o.Units = slices.DeleteFunc(o.Units, func(u ownUnit) bool { return slices.Contains(u.Needs, name) })
			return
		}
	}
	o.Units = o.Units[:before/2]
}

// compareTest compares what a test told, up to the first unit that is refused or differs, whose number it returns.
func (t *ownTally) compareTest(test *ownTest, wanted, told []string) (at int, isWhole bool) {
	equal, endless, spoilt := 0, 0, 0
	left := -1 // a unit that one side told less of, since a name has no value: the rest of it is not compared
	for _, both := range alignSeen(wanted, told) {
		at, want, got := both.unit, both.want, both.got
		if at == left {
			continue
		}
		if test.isCut && (unset.MatchString(want) || unset.MatchString(got)) {
			if both.isUneven {
				left = at
			}
			spoilt++
			continue
		}
		of := stated.Seen{Value: test.Test, Steps: []string{test.Units[at].Text}, Minor: pyhost.Minor(t.version), Want: want, Got: got}
		how, reason := verdictOf(of)
		switch how {
		case same:
			equal++
		case unbounded:
			if errorOf.MatchString(got) { // the rest of the unit is not reached
				t.unbounded++
				return at, false
			}
			endless++
		case known:
			t.known[reason]++
			return at, false
		case refused:
			t.refused[reason]++
			return at, false
		case different:
			t.different = append(t.different, differenceLine(test.Test, want, got))
			t.where = append(t.where, fmt.Sprintf("%s\nCPython: %.300s\nhost:    %.300s", test.Units[at].Text, want, got))
			return at, false
		}
	}
	t.equal += equal
	t.unbounded += endless
	t.spoilt += spoilt
	return 0, true
}

// nothing is what a side told of a unit of which the other told more.
const nothing = "nothing"

// seenTwice is what both sides told of a unit at one place.
type seenTwice struct {
	unit      int
	want, got string
	isUneven  bool // one side told more of the unit
}

// alignSeen puts side by side what both sides told of each unit.
func alignSeen(wanted, told []string) (all []seenTwice) {
	want, got := seenByUnit(wanted), seenByUnit(told)
	for _, unit := range slices.Sorted(maps.Keys(unitsOf(want, got))) {
		for i := range max(len(want[unit]), len(got[unit])) {
			all = append(all, seenTwice{unit, seenAt(want[unit], i), seenAt(got[unit], i), len(want[unit]) != len(got[unit])})
		}
	}
	return all
}

// unitsOf has the units of which either side told something.
func unitsOf(want, got map[int][]string) map[int]bool {
	all := map[int]bool{}
	for _, of := range []map[int][]string{want, got} {
		for unit := range of {
			all[unit] = true
		}
	}
	return all
}

func seenByUnit(list []string) map[int][]string {
	by := map[int][]string{}
	for _, entry := range list {
		unit, seen, _ := strings.Cut(entry, "|")
		n, _ := strconv.Atoi(unit)
		by[n] = append(by[n], seen)
	}
	return by
}

func seenAt(list []string, i int) string {
	if i >= len(list) {
		return nothing
	}
	return list[i]
}

// differenceLine is a difference on one line: the same in each place where its test meets it.
func differenceLine(test, want, got string) string {
	brief := func(seen string) string {
		if e := errorOf.FindStringSubmatch(seen); e != nil {
			return e[1]
		}
		return fmt.Sprintf("%.60q", seen)
	}
	return fmt.Sprintf("%s: CPython %s, host %s", test, brief(want), brief(got))
}

// unset matches the error of a name whose unit was left out; another error may come first in the host.
var unset = regexp.MustCompile(`^! (NameError|UnboundLocalError|AttributeError: 'Self_' object)`)

// runOwnTest gives what a test told, or why it was refused, with the lines that the reason names.
func (m *meteredHost) runOwnTest(source string) (seen [][]string, refusal string, at []int, err error) {
	if m.session == nil {
		if m.session, err = m.pool.Open(program.ForBlock); err != nil {
			return nil, "", nil, err
		}
	}
	_, err = m.session.Inspect(program.Code{Hash: types.Keccak([]byte(source)), Source: []byte(source)})
	if r := (*program.Refusal)(nil); errors.As(err, &r) {
		return nil, "at the deploy: " + vary.ReplaceAllString(r.Reason, "N"), []int{r.Line}, nil
	}
	receipt := ""
	if err == nil {
		receipt, err = receipts.Run(m.session, source)
	}
	if err != nil {
		m.session.Close()
		m.session = nil
		return nil, "the host was late: " + vary.ReplaceAllString(err.Error(), "N"), nil, nil
	}
	_, ending, _ := strings.Cut(receipt, " ")
	text, ok := strings.CutPrefix(ending, "ok ")
	if !ok {
		for _, found := range lineNumber.FindAllStringSubmatch(ending, -1) {
			n, _ := strconv.Atoi(found[1])
			at = append(at, n)
		}
		return nil, vary.ReplaceAllString(lineOf.ReplaceAllString(ending, ""), "N"), at, nil
	}
	quoted, err := strconv.QuotedPrefix(text) // what was printed comes after it
	if err != nil {
		return nil, "", nil, err
	}
	output, err := strconv.Unquote(quoted)
	if err != nil {
		return nil, "", nil, err
	}
	return seen, "", nil, json.Unmarshal([]byte(output), &seen)
}

var lineNumber = regexp.MustCompile(`line (\d+)`)
