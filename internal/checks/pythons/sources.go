package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/pyhost/receipts"
)

// pieces are put into sources: what patches of Python have worded, counted or cut
// otherwise, and what a source is made of.
var pieces = []string{
	"Δ", "é", "\x00", "\xff", "\u2028", "\ufeff", "²", "\t", "\f", "\r", "\\", "\\\n", "(", ")", "[", "]", "{", "}", ":", "::", ",",
	".", "...", ";", "=", "==", ":=", "->", "*", "**", "*:", "@", "!", "!r", "?", "$", "`", "~", "0", "1_", "0x", "0b2", "0o9",
	"07", "1e", "1j", "1.5", "9999999999999999999999", "\"", "'", "\"\"\"", "'''", "f\"", "f'{", "f\"{1}\"",
	"f\"'''{1}\\\"\\\"\\\"\"", "f\"{x!r:>{w}}\"", "f\"{x:}\"", "f\"{x=}\"", "rb'", "b'é'", "u''", "{", "}", "if", "else", "elif",
	"for", "in", "while", "not", "is", "lambda", "lambda *:", "def", "class", "return", "yield", "await", "async", "with", "as",
	"try:", "except", "except*", "finally:", "raise", "from", "import", "global x", "nonlocal x", "del", "pass", "break",
	"continue", "assert", "match", "case", "type", "None", "True", "__debug__", "print", "exec", "x: int", "x: f\"{1}\"",
	"# type: ignore", "#", "\n", "\n    ", "\n\t", "    ", "g(x, *:)", "2Δ", "a if b", "(yield)",
}

// newMutation is a source with up to three faults.
func (g *generator) newMutation() drawnProgram {
	source := g.newSource()
	for range g.rand.IntN(4) {
		at := g.rand.IntN(len(source) + 1)
		switch g.rand.IntN(5) {
		case 0: // cut something out
			end := min(len(source), at+1+g.rand.IntN(12))
			source = source[:at] + source[end:]
		case 1: // double a part
			end := min(len(source), at+1+g.rand.IntN(30))
			source = source[:end] + source[at:end] + source[end:]
		case 2: // move a part
			end, to := min(len(source), at+1+g.rand.IntN(30)), g.rand.IntN(len(source)+1)
			source = source[:to] + source[at:end] + source[to:]
		default:
			source = source[:at] + g.pickOne(pieces) + source[at:]
		}
	}
	return drawnProgram{source: source, text: source, deployed: true}
}

// newSource is one that Python reads: of the corpus, or a drawn program with annotations.
func (g *generator) newSource() string {
	all := receipts.All()
	switch g.rand.IntN(3) {
	case 0:
		return all[g.rand.IntN(len(all))].Source
	case 1:
		return strings.ReplaceAll(typedSource, "$", g.pickOne(annotations))
	}
	return g.newProgram().source
}

// typedSource is an actor whose annotations are read at its deploy.
const typedSource = `from cowboy_sdk import actor, public, runner
from dataclasses import dataclass
@dataclass
class R:
    a: $ = 1
@actor
class A:
    """A  thing.

    Its use."""
    total: $ = 0
    @public
    def add(self, x: $, y: int = 2) -> $:
        """Adds.
        More."""
        return f"{x} and {y!r:>4} {{}}"
`

var annotations = strings.Split(strings.TrimSpace(`
int
u8
list[int]
dict[str, u64]
R
"R"
f"'''{1}\"\"\""
f"{1}{2}"
tuple[int, str]
int | None
int | str
lambda: 1
(1, 2)
-1
x[1:2]
[y for y in z]
"a" "b"
b"\x00"
1 if a else b
{**a}
a @ b
not a
`), "\n")

// newPatternProgram is a program that compiles a drawn pattern and searches for it.
func (g *generator) newPatternProgram() drawnProgram {
	text := fmt.Sprintf(`    out = []
    p = re.compile(%s, flags=%s)
    for s in %s:
        for f in re.match, re.search, re.fullmatch, re.findall, re.split:
            out.append(repr(f(p, s).span()) if f in (re.match, re.search, re.fullmatch) and f(p, s) else repr(f(p, s)))
        out.append(re.sub(p, "-", s))
`, quotePattern(g.newPattern(3)), g.pickOne(strings.Fields("0 re.I re.M re.S re.A re.I|re.A re.X 0 0 0")),
		g.pickOne([]string{`("", "a", "abab", "aab\nb1")`, `("xaac", "A_b é", "1a2b")`, `("abcabcabc", "ba", "\u0130\u017f")`}))
	return drawnProgram{source: "import re\ndef f(p):\n" + text + "    return repr(out).encode()\n", text: text}
}

func quotePattern(pattern string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(pattern) + `"`
}

// newPattern is a pattern of some depth.
func (g *generator) newPattern(depth int) string {
	var b strings.Builder
	for range 1 + g.rand.IntN(3) {
		atom := g.pickOne(atoms)
		if depth > 0 {
			switch g.rand.IntN(6) {
			case 0:
				atom = g.pickOne(opened) + g.newPattern(depth-1) + ")"
			case 1:
				atom = g.pickOne(opened) + g.newPattern(depth-1) + "|" + g.newPattern(depth-1) + ")"
			}
		}
		b.WriteString(atom)
		if g.rand.IntN(2) == 0 {
			b.WriteString(g.pickOne(repeats))
		}
	}
	return b.String()
}

var (
	atoms = strings.Fields(`a b c ab . \d \w \s \S \b ^ $ [ab] [^a] [a-c] [\w-] [b-a] é \u0130 \Z \1 \. [[] x`)
	// some of them are refused
	opened  = strings.Fields(`( (?: (?= (?! (?<= (?<! (?P<n> (?> (?i: (`)
	repeats = strings.Fields(`* + ? *? +? ?? {2} {1,2} {0,3}? {,2} *+ ++ ?+ {1,2}+ {2,1} **`)
)

// judgeSource is what a deploy makes of a source: its units, and its code or its schema and
// handlers. It returns the words for people as well.
func judgeSource(s program.Session, source string) (receipt, words string, err error) {
	found, err := s.Inspect(program.Code{Hash: types.Keccak([]byte(source)), Source: []byte(source)})
	if refused := (*program.Refusal)(nil); errors.As(err, &refused) {
		return fmt.Sprintf("%d refused %s", refused.Units, refused.Code), refused.Error(), nil
	}
	if err != nil {
		return "", "", err
	}
	return fmt.Sprintf("%d fine %s %q", found.Units, types.Keccak(found.Schema), found.Handlers), "", nil
}
