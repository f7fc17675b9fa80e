// Package stated has what is not as in Python for actors: the differences that the comparison with CPython knows, and
// that ACTORS.md prints.
package stated

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// signatures are the functions with other parameters than CPython's: a line of a name, a tab and what is other.
//
//go:embed signatures.txt
var signatures string

// Seen is a step of a sequence of checks, with what CPython and the host have seen of it.
type Seen struct {
	Value string   // of the sequence
	Steps []string // up to this one
	Minor string   // of both interpreters
	Want  string
	Got   string
	Ended bool // an earlier step of the host's ended in an error
}

// lastStep is the step that was seen; the value itself before any.
func (s Seen) lastStep() string {
	if len(s.Steps) == 0 {
		return s.Value
	}
	return s.Steps[len(s.Steps)-1]
}

// A Difference is one that is no fault: both have a value or an error, and not the same.
type Difference struct {
	Name, Row string
	is        func(Seen) bool
}

// Differences are those of values.
var Differences = []Difference{
	{"the order of a set", "a set is walked in the order of its values, not of hashes; one whose values have no common order is not " +
		"walked, and has no text",
		func(s Seen) bool {
			walked := slices.ContainsFunc(s.Steps, func(step string) bool { return strings.Contains(step, "for v in q") })
			return isPermutation(s.Want, s.Got) && setIn.MatchString(s.Value+strings.Join(s.Steps, " ")) ||
				walked && strings.HasPrefix(s.Want, "set [") && strings.HasPrefix(s.Got, "set [") ||
				setAlone.MatchString(s.Value) && byOrder.MatchString(s.lastStep())
		}},
	{"the text of an OrderedDict", "the text of an `OrderedDict` is 3.12's under each version: `OrderedDict({'a': 1})`",
		func(s Seen) bool {
			return strings.Contains(s.Want, "OrderedDict([") && strings.Contains(s.Got, "OrderedDict({")
		}},
	{"a value in an enumeration", "`1 in Colour` asks for a value too under each version, as since 3.12",
		func(s Seen) bool {
			return s.Minor == "3.11" && (strings.HasPrefix(s.Want, "! TypeError") || s.Want == "bool False") &&
				strings.HasPrefix(s.Got, "bool ") &&
				valueIn.MatchString(s.lastStep())
		}},
	{"a flag of a flag", "a flag that is made of a bool or of another enumeration's flag holds an int",
		func(s Seen) bool {
			held := strings.NewReplacer(": False>", ": 0>", ": True>", ": 1>", "(False)", "(0)", "(True)", "(1)").Replace(s.Want)
			isText := strings.HasPrefix(s.Got, "<") || flagText.MatchString(s.Got)
			return isText && s.Want != s.Got && flagOf.ReplaceAllString(held, "$1$2>") == s.Got
		}},
	{"an absent attribute", "`hasattr` is false of attributes that actors do not have, and `getattr` gives its default",
		func(s Seen) bool { return asked.MatchString(s.lastStep()) && errorOf(s.Got) == "" }},
	{"the text of a class", "the text of a library's class has no module: `<class 'Decimal'>`, `list[Decimal]`",
		func(s Seen) bool {
			return libraryClass.MatchString(s.Want) && libraryClass.ReplaceAllString(s.Want, "<class '$1'>") == s.Got ||
				s.Want != s.Got && elementOf.ReplaceAllString(s.Want, "$1") == s.Got
		}},
	{"a text of a class on str", "`str` and `repr` give a plain `str`, also where `__str__` or `__repr__` returns an instance of a class " +
		"on it",
		func(s Seen) bool {
			of := textOfClass.FindStringSubmatch(s.Want)
			return of != nil && of[1] != "str" && s.Got == "str "+of[2] && toText.MatchString(s.lastStep())
		}},
	{"the words of an error", "the words of an error that Python raises are ours, the same under each version",
		func(s Seen) bool {
			want, got := textOrError.FindStringSubmatch(s.Want), textOrError.FindStringSubmatch(s.Got)
			return want != nil && got != nil && want[1] == got[1] && ourWords.MatchString(s.Got)
		}},
	{"the identity of a text", "whether a format that changes nothing gives the very same object (`is`)",
		func(s Seen) bool {
			return s.Want == "bool True" && s.Got == "bool False" && formatIs.MatchString(s.lastStep())
		}},
	{"flags of re", "the flags of `re` are integers: the text of `re.I` is `2`",
		func(s Seen) bool {
			return flagOfRe.MatchString(s.Want) && integerText.MatchString(s.Got)
		}},
	{"a docstring", "`__doc__` of a class is None",
		func(s Seen) bool { return s.Got == "None" && strings.Contains(s.lastStep(), ".__doc__") }},
	{"a class in an enumeration", "a class within an enumeration is no member under each version, as since 3.13",
		func(s Seen) bool {
			return s.Minor != "3.13" && strings.Contains(s.lastStep(), "Outer")
		}},
	{"chr", "`chr` of a number that is no character is a `ValueError`, whatever its size, as since 3.13",
		func(s Seen) bool {
			return strings.HasPrefix(s.Got, "! ValueError: chr()") && errorOf(s.Want) == "OverflowError"
		}},
	{"an iterator after an error", "what computes over an iterator takes all of it first: where `sum`, `bytes`, `OrderedDict` and " +
		"their like fail, it is empty, and an error of its own comes first",
		func(s Seen) bool {
			first := errorOf(s.Want) != "" && strings.HasSuffix(s.Got, ": midway") // of the iterator's own
			return iterator.MatchString(s.Value) && (first || s.Ended && slices.Contains([]string{"", "StopIteration"}, errorOf(s.Got)))
		}},
	{"a dict after an update that failed", "an update that fails midway leaves a dict as it was",
		func(s Seen) bool {
			return slices.ContainsFunc(s.Steps, func(step string) bool { return strings.Contains(step, "q |= [") }) &&
				(strings.Contains(s.Value, "dict") || strings.HasPrefix(s.Want, "dict "))
		}},
	{"a list that a key changes", "`min`, `max` and `sorted` take all of a list before they call a key: what the key adds to it is not " +
		"seen",
		func(s Seen) bool { return strings.Contains(s.lastStep(), "key=lambda v: q.append(") }},
	{"the error of replace", "`_replace` of a name that is no field, and `dataclasses.replace` of a field that no call gives, are a " +
		"`ValueError` under each version, also since 3.13",
		func(s Seen) bool {
			return strings.Contains(s.lastStep(), "replace(") && errorOf(s.Want) == "TypeError" && errorOf(s.Got) == "ValueError"
		}},
}

// Of is the name of the difference that a step is; "" if none is known.
func Of(s Seen) string {
	if a, b := errorOf(s.Want), errorOf(s.Got); a == "PatternError" && b == "error" {
		return "the error of a pattern" // one class under two names
	}
	for _, d := range Differences {
		if d.is(s) {
			return d.Name
		}
	}
	return ""
}

// Passing reports whether later steps of the sequence can be compared after a difference.
func Passing(name string) bool {
	return name == "the text of an OrderedDict" || name == "a value in an enumeration" || name == "the error of a pattern"
}

var (
	// setAlone is a set, and byOrder what its order decides, though it is no set itself.
	setAlone = regexp.MustCompile(`^\{[^:]+\}$`)
	byOrder  = regexp.MustCompile(`accumulate\(|islice\(|reduce\(|compress\(|next\(iter\(|\(\*q`)
	setIn    = regexp.MustCompile(`set|\{[^:]*\}|\.keys\(\)|\.items\(\)`)
	valueIn  = regexp.MustCompile(` in (Colour|Num|Word)$`)
	flagText = regexp.MustCompile(`^str '\w+\(\d+\)'$`)
	flagOf   = regexp.MustCompile(`(: )<\w+(?:\.\w+)?: (\d+)>>`)
	iterator = regexp.MustCompile(`^(iter|gen|bad|map|zip|enumerate|filter|reversed|itertools\.\w+)\(|^\(\w+ for `)
	// libraryClass is the text of a class of a library, and elementOf its name within or before brackets.
	libraryClass = regexp.MustCompile(`<class '(?:\w+\.)+(\w+)'>`)
	elementOf    = regexp.MustCompile(`\b(?:collections|decimal|enum)\.(\w+)`)
	// textOrError is the beginning of a text or of an error's, and ourWords an error's words in it.
	textOrError = regexp.MustCompile(`^(str |\w+\()['"]`)
	ourWords    = regexp.MustCompile(`calls nest deeper than|does not fit position \d|the name \w+ is not defined|not for values of these types`)
	// textOfClass is a text with its type, toText what gives one, and formatIs a question for its object.
	textOfClass = regexp.MustCompile(`^(\w+) (?:<[\w.]+: )?(['"](?s:.*?))>?$`)
	toText      = regexp.MustCompile(`\b(str|repr|ascii)\(`)
	formatIs    = regexp.MustCompile(`(?s)('%|\.format\().*(left_ is right_| is )`)
	// flagOfRe is the text of a flag of re, and integerText that of an integer.
	flagOfRe    = regexp.MustCompile(`\bre\.[A-Z]+\b`)
	integerText = regexp.MustCompile(`^(str '|int )-?\d+'?$`)

	asked = regexp.MustCompile(`^(hasattr|getattr)\(`)
	ended = regexp.MustCompile(`^! (\w+): `)
)

// errorOf is the type of an error that was seen; "" if it is a value.
func errorOf(seen string) string {
	if m := ended.FindStringSubmatch(seen); m != nil {
		return m[1]
	}
	return ""
}

// isPermutation reports whether two texts have the same characters in another order.
func isPermutation(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return a != b && string(x) == string(y)
}

// A Refusal is a kind of error of the host's where CPython has a value, or an error of another type.
type Refusal struct {
	Name, Row string
	words     *regexp.Regexp
}

// Refusals are known by their words.
var Refusals = []Refusal{
	{"a float", "floats: `/` of integers, float literals and formats of them; use `//` or `decimal`",
		regexp.MustCompile(`makes a float|is a float`)},
	{"a Decimal in %", "a `Decimal` in `%`: use an f-string", regexp.MustCompile(`^% takes no Decimal`)},
	{"an attribute", "attributes and functions of a library that are not listed, also of `math`, and names like `__name__` that are set: " +
		"an `AttributeError`",
		regexp.MustCompile(`that an actor may use|^no such attribute$|^the attribute \w+ (cannot be set|is not available to actors)$|` +
			`^an attribute of \w+ cannot be set$`)},
	{"a Protocol", "`isinstance`, `issubclass` and patterns of a Protocol: `hasattr` asks for its methods",
		regexp.MustCompile(`^a test for the Protocol`)},
	{"the order of a set", "the text of a set of several values, `pop` of one, and its order where values have none: `sorted(…)`",
		regexp.MustCompile(`no order that all nodes share|a set has no order|takes an element that nodes do not agree on`)},
	{"a text", "the text of functions, iterators and other objects that Python shows by their address",
		regexp.MustCompile(`no text that all nodes share`)},
	{"the type of a value", "`type` of iterators, views and functions", regexp.MustCompile(`^type of .* is not available`)},
	{"an encoding", "encodings other than utf-8, ascii and latin-1", regexp.MustCompile(`encodings are utf-8`)},
	{"a base's method", "a base's method on an heir, as `dict.pop(ordered, k)`: `ordered.pop(k)`",
		regexp.MustCompile(`would break a value of`)},
	{"a class on a built-in type", "a class on a built-in type that is no base here, or on a name for values with contents, as " +
		"`Mapping`; one that replaces what Python calls of `int` or `str`: hold a value instead",
		regexp.MustCompile(`^a class cannot be built on|^a class on \w+ may add methods`)},
	{"a class on str or int", "an instance of a class on `str` or `int` made of anything other than a `str` or an `int`",
		regexp.MustCompile(`^a class on (str|int) is made of`)},
	{"an enumeration's call", "an enumeration that is made by a call, as `Enum('E', 'A B')`",
		regexp.MustCompile(`written as a class here|is a base for a class here`)},
	{"an exact type", "an argument that is to be an integer or a text, given as something that stands for one",
		regexp.MustCompile(` is (a str|an int), not `)},
	{"a name of enum's", "names like `_bad_` in an enumeration", regexp.MustCompile(`belongs to enum`)},
	{"a decorator", "the library's decorators on what is no class or function of the file", regexp.MustCompile(`decorates only`)},
	{"a name of typing", "a name of `typing` that is called, compared, a key or asked by `isinstance`: it means nothing when the code runs",
		regexp.MustCompile(`^a name of typing is|^isinstance with a name of typing`)},
	{"a type of elements", "types with those of their elements in `isinstance`, as `list[int]`, and such types of what is no type",
		regexp.MustCompile(`^isinstance with the types of elements|^the types of the elements of`)},
	{"a class by a call", "a class that is made by a call of `type`", regexp.MustCompile(`^type makes no class here`)},
	{"a native size", "formats of `struct` with sizes of the machine: begin with `<`, `>`, `!` or `=`",
		regexp.MustCompile(`native sizes differ`)},
	{"a sequence", "searches of `bisect` in what is no sequence, be it empty", regexp.MustCompile(` is not a sequence$`)},
	{"the pattern", "patterns whose work has no bound: repeats in repeats, back-references, possessive repeats, flags within",
		regexp.MustCompile(`^pattern refused`)},
	{"a slice of a dict", "slices of a dict or an enumeration", regexp.MustCompile(`has no slices`)},
	{"reverse", "`reverse` that is no number or truth value", regexp.MustCompile(`^reverse is`)},
	{"a limit", "sizes beyond the limits below, and a walk of all of a range of 2^63 elements or more",
		regexp.MustCompile(`more than \d+|wider than \d+|beyond \d+|deeper than \d+|up to 1024 bits|too many digits`)},
	{"an exponent of a Decimal", "a `Decimal` of an exponent beyond 1000, which Python would round to zero at 1,000,000",
		regexp.MustCompile(`^$`)},
}

// Reason is the name of the refusal that an error of the host's is; "" if none is known by its words.
func Reason(kind, words string) string {
	if words == "" && kind != "Underflow" && kind != "Clamped" && kind != "Overflow" {
		return ""
	}
	for _, r := range Refusals {
		if r.words.MatchString(words) {
			return r.Name
		}
	}
	return ""
}

// Signatures are the names of functions whose parameters are not CPython's, and what is other.
func Signatures() (found [][2]string) {
	for line := range strings.Lines(signatures) {
		name, other, _ := strings.Cut(strings.TrimSpace(line), "\t")
		found = append(found, [2]string{name, other})
	}
	return found
}

// Markdown is the section of ACTORS.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("What an actor may write gives CPython's value, or an error: generated expressions and calls, and CPython's own " +
		"tests,\nare compared with plain CPython (`make soak`). These differ by intent. The list is printed from the comparison's own " +
		"table.\n\nAnother value:\n\n")
	for _, d := range Differences {
		fmt.Fprintf(&b, "- %s.\n", asSentence(d.Row))
	}
	b.WriteString("\nRefused:\n\n")
	for _, r := range Refusals {
		fmt.Fprintf(&b, "- %s.\n", asSentence(r.Row))
	}
	b.WriteString("\nOther parameters than in Python:\n\n| function | parameters |\n|---|---|\n")
	same, order := map[string][]string{}, []string{}
	for _, s := range Signatures() {
		if same[s[1]] == nil {
			order = append(order, s[1])
		}
		same[s[1]] = append(same[s[1]], "`"+s[0]+"`")
	}
	for _, other := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(same[other], ", "), other)
	}
	return b.String()
}

// asSentence is a sentence.
func asSentence(text string) string {
	if text[0] == '`' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
