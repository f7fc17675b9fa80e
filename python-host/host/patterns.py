"""re for actors: a pattern's worst case is bounded before it runs.

Python's matcher backtracks. The bound of a pattern on n characters is the
product, over its repeats, of how often each may end differently, times its
length; a search has n starting points. Repeats within repeats, alternatives
within repeats and back-references are refused, since they make the bound
exponential. A quarter of the bound is charged.

Python's compiler walks every character of a range beyond Latin-1, and of any
range where case is ignored. A set is charged by the widths of its ranges.
"""

import re
import re._parser as parser
import sys

from host import actor_code, exact, methods, pattern_reader
from host.attribute_tables import PROPERTIES, TABLE
from host.costs import table
from host.meter import charge, lazy_iterator
from host.sealed import HINT
from host.weights import size_of, exact_index

MAX_PATTERN = 512
MAX_STEPS = 1 << 24  # of the bound
MOST = sys.maxsize  # of a place in a text
FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII | re.VERBOSE
MAX_COMPILED = 256  # patterns kept
REPLACED = 12  # cycles of a match that is replaced
GROUP = 8  # cycles of a group that groups or groupdict has
COMPILED = {}  # pattern and flags → compiled
BOUNDS = {}  # compiled pattern → (fixed size, widths of its repeats, branches)
NARROW, MAX_WALKED = 0xFF, 0xFFFF  # characters: sets of the first are small tables, beyond the last no range is walked
NESTED = 64  # cycles of compiling a group, besides its characters: the parser calls itself for each, and a fault leaves all
PATTERN = 4  # characters that any pattern counts as, and more
SET, WIDE_SET, CASES = 20, 5000, 500  # cycles of compiling a set, one with characters beyond NARROW, and one that ignores case


def refuse_pattern(reason):
    raise ValueError("pattern refused: " + reason)


class Shape:
    """The parts of a pattern's bound."""

    def __init__(self, ignoring=False):
        self.ignoring = ignoring  # case, within it somewhere
        self.size, self.widths, self.branches = 1, [], 1
        self.sets = 0  # cycles of compiling its sets

    def walk(self, nodes, repeated, times=1):
        for kind, held in nodes:
            self.size += times
            if kind == pattern_reader.REPEAT:
                low, high, inner = held
                if high > low:
                    if repeated:
                        refuse_pattern("a repeat within a repeat")
                    self.widths.append(high - low + 1)
                elif times * high > 4096:
                    refuse_pattern("a repeat of more than 4096")
                self.walk(inner, repeated or high > 1, times * max(min(high, 4096), 1) if high == low else times)
            elif kind == pattern_reader.GROUP:
                self.walk(held[1], repeated, times)
            elif kind in (pattern_reader.POSSESSIVE, pattern_reader.ATOMIC):
                refuse_pattern("a possessive repeat or an atomic group: leave the + or ?> out, the work of a pattern is bounded anyway")
            elif kind == pattern_reader.BRANCH:
                if repeated:
                    refuse_pattern("alternatives within a repeat: use a set of characters")
                self.branches *= len(held)
                for way in held:
                    self.walk(way, repeated, times)
            elif kind == pattern_reader.LOOK:
                self.walk(held, repeated, times)
            elif kind == pattern_reader.REFERENCE:
                refuse_pattern("a back-reference")
            elif kind == pattern_reader.SET:
                self.size += times * (len(held) // 4)
                self.sets += cycles_of_set(held) + (CASES if self.ignoring else 0)

    def count_steps(self, n, anchored):
        """The most that matching n characters takes; beyond MAX_STEPS any number beyond."""
        bound = self.size * self.branches * (1 if anchored else n + 1)
        for w in self.widths:
            bound *= min(w, n + 1)
            if bound > MAX_STEPS:
                break
        return bound


UNREADABLE = "the pattern cannot be read"


def read_nodes(pattern, flags):
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    try:
        return pattern_reader.read_pattern(text, bool(flags & re.VERBOSE))
    except pattern_reader.Unreadable:
        pass
    raise re.error(UNREADABLE, pattern)


def compile_checked(pattern, flags):
    try:
        return re._compiler.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError):
        pass
    raise re.error(UNREADABLE, pattern)


def cycles_of_set(parts):
    """The cycles of compiling a set of characters."""
    ends = [held if kind == pattern_reader.RANGE else (held, held) for kind, held in parts
            if kind in (pattern_reader.RANGE, pattern_reader.LITERAL)]
    walked = sum(min(high, MAX_WALKED) - low + 1 for low, high in ends if low <= MAX_WALKED)
    return SET + walked + (WIDE_SET if any(high > NARROW for _, high in ends) else 0)


def compile_pattern(pattern, flags=0):
    """A pattern is compiled once, and charged each time as if it were not."""
    if isinstance(pattern, re.Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    pattern, flags = exact.plain_value(pattern), exact.require_integer(flags, "a flag")
    if type(pattern) not in (str, bytes):
        raise TypeError("a pattern is text or bytes")
    if flags & ~int(FLAGS):
        refuse_pattern("a flag that is not IGNORECASE, MULTILINE, DOTALL, ASCII or VERBOSE")
    if len(pattern) > MAX_PATTERN:
        refuse_pattern("longer than %d characters" % MAX_PATTERN)
    charge(table.call * (PATTERN + len(pattern)) * 5 // 2 + NESTED * pattern.count("(" if type(pattern) is str else b"("))
    known = COMPILED.get((pattern, flags))
    if known is not None:
        charge(BOUNDS[known].sets)
        return known
    as_text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    if re.search(r"\d{5}", as_text):
        refuse_pattern("a repeat of more than 4096")
    if as_text.count("(") + as_text.count("[") > 100:
        refuse_pattern("more than 100 groups")
    if re.search(r"\(\?[a-zA-Z]", as_text) and re.search(r"\(\?[a-zA-Z]*[uLax]", as_text):
        refuse_pattern("flags within the pattern: give them as an argument")
    shape = Shape(bool(flags & re.IGNORECASE or re.search(r"\(\?[a-zA-Z]*i", as_text)))
    shape.walk(read_nodes(pattern, flags), False)
    charge(shape.sets)
    made = compile_checked(pattern, flags)
    if len(COMPILED) >= MAX_COMPILED:
        COMPILED.clear()
        BOUNDS.clear()
    BOUNDS[made] = shape
    COMPILED[pattern, flags] = made
    return made


def prepare_match(pattern, subject, anchored):
    if type(subject) not in (str, bytes, bytearray) and not isinstance(subject, str):
        raise TypeError("expected text or bytes")
    shape = BOUNDS.get(pattern)
    if shape is None:
        shape = Shape()
        shape.walk(read_nodes(pattern.pattern, pattern.flags), False)
        BOUNDS[pattern] = shape
    steps = shape.count_steps(len(subject), anchored)
    if steps > MAX_STEPS:
        raise ValueError("%d characters are too many for a pattern with %d repeats; anchor it, or split the text first"
                         % (len(subject), len(shape.widths)))
    charge(table.call * 2 + steps // 4)


def make_matcher(name, anchored):
    def match_text(pattern, /, string, pos=0, endpos=MOST):
        prepare_match(pattern, string, anchored)
        return getattr(pattern, name)(string, check_bound(pos), check_bound(endpos))
    return match_text


def check_bound(n):
    """The place of a text where a match begins or ends, of any size."""
    return max(-MOST, min(exact_index(n), MOST))


def find_all(pattern, /, string, pos=0, endpos=MOST):
    prepare_match(pattern, string, False)
    found = pattern.findall(string, check_bound(pos), check_bound(endpos))
    charge(table.list * len(found))
    return found


def find_each(pattern, /, string, pos=0, endpos=MOST):
    prepare_match(pattern, string, False)
    return lazy_iterator(pattern.finditer(string, check_bound(pos), check_bound(endpos)))


def split_text(pattern, /, string, maxsplit=0):
    prepare_match(pattern, string, False)
    return pattern.split(string, check_bound(maxsplit))


def substitute_matches(pattern, /, repl, string, count=0):
    return substitute_counted(pattern, repl, string, count)[0]


def substitute_counted(pattern, /, repl, string, count=0):
    by, subject = repl, string
    if not callable(by):
        check_template(pattern, by)
    prepare_match(pattern, subject, False)
    out, at, n = [], 0, 0
    for m in pattern.finditer(subject):
        if count and n >= count:
            break
        charge(REPLACED)
        out.append(subject[at:m.start()])
        out.append(by(m) if callable(by) else expand_template(m, by))
        at, n = m.end(), n + 1
    out.append(subject[at:])
    charge(sum(map(len, out)))
    return ("" if isinstance(subject, str) else b"").join(out), n


def check_template(pattern, template):
    """Refuses a template that names what is no group of the pattern, as Python does before it looks for matches."""
    if ("\\" if isinstance(template, str) else b"\\") in template:
        charge(READ * len(template))
        parser.parse_template(template, pattern)


TEMPLATE, READ = 20, 24  # cycles of taking a template apart, however short, and of a character of one with groups


def expand_template(m, template):
    if isinstance(template, str) != isinstance(m.string, str):
        raise TypeError("a template is text for text, and bytes for bytes")  # 3.12 lets one without groups pass
    escape = "\\" if isinstance(template, str) else b"\\"
    groups = template.count(escape)
    charge(TEMPLATE + len(template) * 2 + groups * len(m.string))
    return m.expand(template)


def of_groups(match, _args):
    """The cycles of all groups of a match."""
    regs = match.regs
    if len(match.string) < 64:
        return 4 + GROUP * len(regs)
    return 4 + sum(GROUP + (end - start) // 16 for start, end in regs)


def attach_methods():
    t = TABLE.setdefault(re.Pattern, {})
    t.update(search=make_matcher("search", False), match=make_matcher("match", True), fullmatch=make_matcher("fullmatch", True),
             findall=find_all, finditer=find_each, split=split_text, sub=substitute_matches, subn=substitute_counted)
    PROPERTIES[re.Pattern] = {"pattern", "groups", "groupindex", "flags"}
    m = TABLE.setdefault(re.Match, {})
    for n in ("group", "start", "end", "span"):
        m[n] = methods.make_plain(getattr(re.Match, n), lambda v, a: 4 + (1 + len(a)) * (1 + len(v.string) // 16))
    for n in ("groups", "groupdict"):
        m[n] = methods.make_plain(getattr(re.Match, n), of_groups)
    m["expand"] = expand_template
    PROPERTIES[re.Match] = {"string", "lastindex", "lastgroup", "pos", "endpos"}


attach_methods()


def _match(pattern, string, flags=0):
    return TABLE[re.Pattern]["match"](compile_pattern(pattern, flags), string)


def _fullmatch(pattern, string, flags=0):
    return TABLE[re.Pattern]["fullmatch"](compile_pattern(pattern, flags), string)


def _search(pattern, string, flags=0):
    return TABLE[re.Pattern]["search"](compile_pattern(pattern, flags), string)


def _findall(pattern, string, flags=0):
    return find_all(compile_pattern(pattern, flags), string)


def _finditer(pattern, string, flags=0):
    return find_each(compile_pattern(pattern, flags), string)


def _split(pattern, string, maxsplit=0, flags=0):
    return split_text(compile_pattern(pattern, flags), string, maxsplit)


def _sub(pattern, repl, string, count=0, flags=0):
    return substitute_matches(compile_pattern(pattern, flags), repl, string, count)


def _subn(pattern, repl, string, count=0, flags=0):
    return substitute_counted(compile_pattern(pattern, flags), repl, string, count)


def _escape(pattern):
    charge(3 * size_of(pattern))
    return re.escape(str.__str__(pattern) if isinstance(pattern, str) else pattern)


def make_names():
    found = {"match": _match, "fullmatch": _fullmatch, "search": _search, "findall": _findall, "finditer": _finditer, "split": _split,
             "sub": _sub, "subn": _subn}
    actor_code.BASES.add(re.error)
    re.error.__name__ = re.error.__qualname__ = "error"  # Python 3.13 calls it PatternError
    found.update(compile=compile_pattern, escape=_escape, error=re.error, Pattern=HINT, Match=HINT)
    for n in ("IGNORECASE", "MULTILINE", "DOTALL", "ASCII", "VERBOSE", "I", "M", "S", "A", "X"):
        found[n] = int(getattr(re, n))
    return found
