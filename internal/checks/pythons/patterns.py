"""Compares the host's reader of patterns with Python's: python3 patterns.py FOLDER_OF_THE_HOST HOW_MANY SEED

What Python reads the host's reads as the same tree. What the host's reader refuses Python refuses, but for references,
conditions on groups and characters by name. The host may read what Python refuses: its compiler is asked afterwards.
"""

import random
import re
import re._constants as c
import re._parser
import sys
import warnings

sys.path.insert(0, sys.argv[1])

from host import pattern_reader as own  # noqa: E402: in the folder of an argument

PIECES = (
    "a", "b", "c", "ab", "abc", "é", "一", "0", "9", ",", "#", " ", "\n", "|", "|", ".", "^", "$", "-", "\\",
    "(", "(?:", "(?P<n>", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:", "(?s-i:", ")", ")", ")",
    "(?#x)", "(?i)", "(?P=n)", "(?(1)a|b)",
    "*", "+", "?", "{2}", "{2,}", "{,3}", "{1,3}", "{3,2}", "{", "}",
    "[", "]", "[ab]", "[^a]", "[a-c]", "[]a]", "[^]a]", "[a\\d]", "[\\]]", "[a-\\n]", "[\\w-]",
    "\\d", "\\w", "\\b", "\\A", "\\Z", "\\n", "\\x41", "\\u1234", "\\U00010000", "\\0", "\\07", "\\101", "\\1", "\\2", "\\12",
    "\\.", "\\]", "\\-", "\\q", "(a|b)", "(?:a|b)", "(?:ab|ac)", "a|ab", "[ab]|c", "\\d|x", "^a|^b",
)
LEFT_OUT = "left out"


def part_of_set(kind, of_range, of_literal, part):
    """The first and the last character of a part; of a class or a negation none."""
    return tuple(part) if kind == of_range else (part, part) if kind == of_literal else (-1, -1)


def python_tree(nodes):
    found = []
    for op, held in nodes:
        if op in (c.MAX_REPEAT, c.MIN_REPEAT):
            found.append(("repeat", int(held[0]), int(held[1]), python_tree(held[2])))
        elif op is c.POSSESSIVE_REPEAT or op is c.ATOMIC_GROUP:
            found.append("possessive")
        elif op is c.SUBPATTERN:
            found.append(("group", python_tree(held[3])))
        elif op is c.BRANCH:
            found.append(("branch", [python_tree(way) for way in held[1]]))
        elif op in (c.ASSERT, c.ASSERT_NOT):
            found.append(("look", python_tree(held[1])))
        elif op is c.FAILURE:
            found.append(("look", []))
        elif op in (c.GROUPREF, c.GROUPREF_EXISTS):
            return LEFT_OUT
        elif op is c.IN:
            found.append(("set", sorted(part_of_set(kind, c.RANGE, c.LITERAL, part) for kind, part in held)))
        else:
            found.append("single")
    return LEFT_OUT if LEFT_OUT in str(found) else found


def own_tree(nodes):
    found = []
    for kind, held in nodes:
        if kind == own.REPEAT:
            found.append(("repeat", held[0], held[1], own_tree(held[2])))
        elif kind in (own.POSSESSIVE, own.ATOMIC):
            found.append("possessive")
        elif kind == own.GROUP:
            found.append(("group", own_tree(held[1])))
        elif kind == own.BRANCH:
            found.append(("branch", [own_tree(way) for way in held]))
        elif kind == own.LOOK:
            found.append(("look", own_tree(held)))
        elif kind == own.SET:
            found.append(("set", sorted(part_of_set(of, own.RANGE, own.LITERAL, part) for of, part in held)))
        else:
            found.append("single")
    return found


def read_by_python(pattern, flags):
    try:
        return python_tree(re._parser.parse(pattern, flags))
    except (re.error, OverflowError):
        return None


def read_by_host(pattern, flags):
    try:
        return own_tree(own.read_pattern(pattern, bool(flags & re.VERBOSE)))
    except own.Unreadable:
        return None


def main():
    warnings.simplefilter("ignore")
    many, draws = int(sys.argv[2]), random.Random(int(sys.argv[3]))
    both = different = 0
    for _ in range(many):
        pattern = "".join(draws.choice(PIECES) for _ in range(draws.randint(1, 10)))
        flags = draws.choice((0, 0, 0, re.I, re.VERBOSE))
        want = read_by_python(pattern, flags)
        if want is None or want == LEFT_OUT:
            continue
        both += 1
        got = read_by_host(pattern, flags)
        if got != want:
            different += 1
            print("%r with %d: Python reads %s, the host %s" % (pattern, flags, want, got))
    print("%d patterns, %d read, %d different" % (many, both, different))
    sys.exit(different > 0 or both < many // 10)


if __name__ == "__main__":
    main()
