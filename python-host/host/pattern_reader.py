"""Patterns as trees of our own, which their bounds and cycles are counted on.

What Python's own reader makes of a pattern may change from patch to patch. This one follows its syntax of 3.11 and its
two simplifications of alternatives: a common beginning stands before them, and those of one character are a set.
It judges no names, flags or widths: Python's compiler refuses what is wrong with these afterwards.
"""

INFINITE = (1 << 32) - 1  # the most of a repeat without an end
MARKS = frozenset(".\\[{()*+?^$|")  # characters that are no literals
BLANKS = frozenset(" \t\n\r\v\f")  # what a verbose pattern skips
DIGITS, OCTAL, HEXADECIMAL = frozenset("0123456789"), frozenset("01234567"), frozenset("0123456789abcdefABCDEF")
CONTROLS = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
PLACES, CLASSES = frozenset("AbBZ"), frozenset("dDsSwW")
WIDTHS = {"x": 2, "u": 4, "U": 8}  # hexadecimal digits of a character
MOST_OCTAL = 0o377

# The kinds of nodes; what each holds.
LITERAL = "literal"  # a code point
OTHER = "other"  # a code point: any character but that
PLACE = "place"  # which: its character
ANY = "any"  # None
SET = "set"  # a list of LITERAL, RANGE, CLASS, and NEGATED at first
RANGE, CLASS, NEGATED = "range", "class", "negated"  # within a set: first and last code point; a letter; None
REPEAT = "repeat"  # least, most, nodes
POSSESSIVE = "possessive"  # the same, without a way back
ATOMIC = "atomic"  # nodes
GROUP = "group"  # whether it is plain, that is without a number and flags; nodes
BRANCH = "branch"  # lists of nodes
LOOK = "look"  # nodes
REFERENCE = "reference"  # to a group: None
SIMPLE = frozenset((LITERAL, OTHER, PLACE, ANY, SET))  # without nodes of their own


class Unreadable(Exception):
    """The pattern is none."""


class Reader:
    """A pattern that is read from its beginning."""

    def __init__(self, text, verbose):
        self.text, self.verbose = text, verbose
        self.at = 0
        self.groups, self.open = 0, set()  # those that began, and those that have not ended
        self.names = {}

    def peek(self):
        """The next character, "" at the end."""
        return self.text[self.at:self.at + 1]

    def take(self):
        c = self.peek()
        if not c:
            raise Unreadable
        self.at += 1
        return c

    def accept(self, c):
        """Whether the next character is c, which then is taken."""
        if self.peek() != c:
            return False
        self.at += 1
        return True

    def take_while(self, of, most=None):
        """The next characters that are of a set."""
        begun = self.at
        while self.peek() and self.peek() in of and (most is None or self.at - begun < most):
            self.at += 1
        return self.text[begun:self.at]

    def take_until(self, end):
        """What stands before end, which is taken as well. It is not empty."""
        found = self.text.find(end, self.at)
        if found <= self.at:
            raise Unreadable
        begun, self.at = self.at, found + 1
        return self.text[begun:found]

    def read_whole(self):
        nodes = self.read_alternatives(self.verbose)
        if self.peek():
            raise Unreadable  # a bracket that nothing opened
        return nodes

    def read_alternatives(self, verbose):
        ways = [self.read_sequence(verbose)]
        while self.accept("|"):
            ways.append(self.read_sequence(verbose))
        return ways[0] if len(ways) == 1 else simplify_ways(ways)

    def read_sequence(self, verbose):
        nodes = []
        while self.peek() and self.peek() not in "|)":
            c = self.take()
            if verbose and c in BLANKS:
                continue
            if verbose and c == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end + 1
                continue
            self.read_item(c, nodes, verbose)
        return unpack_plain(nodes)

    def read_item(self, c, nodes, verbose):
        """Adds what begins with c to nodes."""
        if c not in MARKS:
            nodes.append((LITERAL, ord(c)))
        elif c == "\\":
            nodes.append(self.read_escape())
        elif c == "[":
            nodes.append(self.read_set())
        elif c == ".":
            nodes.append((ANY, None))
        elif c in "^$":
            nodes.append((PLACE, c))
        elif c == "(":
            self.read_bracket(nodes, verbose)
        else:
            self.read_repeat(c, nodes)

    def read_character(self, letter):
        """The code point of an escape by its number, or None for another escape."""
        width = WIDTHS.get(letter)
        if width is None:
            return None
        digits = self.take_while(HEXADECIMAL, width)
        if len(digits) != width or int(digits, 16) > 0x10FFFF:
            raise Unreadable
        return int(digits, 16)

    def read_escape(self):
        letter = self.take()
        if letter in PLACES:
            return PLACE, letter
        if letter in CLASSES:
            return SET, [(CLASS, letter)]
        if letter in CONTROLS:
            return LITERAL, CONTROLS[letter]
        found = self.read_character(letter)
        if found is not None:
            return LITERAL, found
        if letter == "0":
            return LITERAL, int("0" + self.take_while(OCTAL, 2), 8)
        if letter in DIGITS:
            return self.read_number(letter)
        return self.read_plain(letter)

    def read_plain(self, letter):
        """A character that an escape leaves as it is."""
        if letter.isascii() and letter.isalpha():
            raise Unreadable
        return LITERAL, ord(letter)

    def read_number(self, digits):
        """A character by three octal digits, or a reference to a group."""
        if self.peek() and self.peek() in DIGITS:
            digits += self.take()
            if digits[0] in OCTAL and digits[1] in OCTAL and self.peek() and self.peek() in OCTAL:
                digits += self.take()
                if int(digits, 8) > MOST_OCTAL:
                    raise Unreadable
                return LITERAL, int(digits, 8)
        return self.refer(int(digits))

    def refer(self, group):
        if not 0 < group <= self.groups or group in self.open:
            raise Unreadable
        return REFERENCE, None

    def read_set(self):
        negated = self.accept("^")
        parts = []
        while True:
            c = self.take()
            if c == "]" and parts:
                break
            first = self.read_member(c)
            if not self.accept("-"):
                parts.append(first)
                continue
            c = self.take()
            if c == "]":
                parts += [first, (LITERAL, ord("-"))]
                break
            last = self.read_member(c)
            if first[0] != LITERAL or last[0] != LITERAL or last[1] < first[1]:
                raise Unreadable
            parts.append((RANGE, (first[1], last[1])))
        parts = list(dict.fromkeys(parts))
        if len(parts) == 1 and parts[0][0] == LITERAL:
            return (OTHER, parts[0][1]) if negated else parts[0]
        return SET, [(NEGATED, None)] * negated + parts

    def read_member(self, c):
        """A member of a set that begins with c."""
        if c != "\\":
            return LITERAL, ord(c)
        letter = self.take()
        if letter in CONTROLS:
            return LITERAL, CONTROLS[letter]
        if letter in CLASSES:
            return CLASS, letter
        found = self.read_character(letter)
        if found is not None:
            return LITERAL, found
        if letter in OCTAL:
            found = int(letter + self.take_while(OCTAL, 2), 8)
            if found > MOST_OCTAL:
                raise Unreadable
            return LITERAL, found
        if letter in DIGITS:
            raise Unreadable
        return self.read_plain(letter)

    def read_repeat(self, c, nodes):
        least, most = 0, INFINITE
        if c == "?":
            most = 1
        elif c == "+":
            least = 1
        elif c == "{":
            begun = self.at
            bounds = None if self.peek() == "}" else self.read_bounds()
            if bounds is None:
                self.at = begun
                nodes.append((LITERAL, ord("{")))
                return
            least, most = bounds
        if not nodes or nodes[-1][0] in (PLACE, REPEAT, POSSESSIVE):
            raise Unreadable
        item = nodes[-1:]
        if item[0][0] == GROUP and item[0][1][0]:
            item = item[0][1][1]
        if not self.accept("?") and self.accept("+"):
            nodes[-1] = POSSESSIVE, item
        else:
            nodes[-1] = REPEAT, (least, most, item)

    def read_bounds(self):
        """The least and the most of a repeat in braces, or None if these are no bounds."""
        low = high = self.take_while(DIGITS)
        if self.accept(","):
            high = self.take_while(DIGITS)
        if not self.accept("}"):
            return None
        least, most = int(low or "0"), int(high) if high else INFINITE
        if most < least:
            raise Unreadable
        return least, most

    def read_bracket(self, nodes, verbose):
        """Adds what a round bracket begins to nodes."""
        if not self.accept("?"):
            self.read_numbered(nodes, verbose)
            return
        c = self.take()
        if c == "P":
            self.read_named(nodes, verbose)
        elif c == ":":
            nodes.append((GROUP, (True, self.read_inner(verbose))))
        elif c == "#":
            self.skip_comment()
        elif c == ">":
            nodes.append((ATOMIC, self.read_inner(verbose)))
        elif c in "=!<":
            if c == "<" and self.take() not in "=!":
                raise Unreadable
            nodes.append((LOOK, self.read_inner(verbose)))
        elif c == "(":
            raise Unreadable  # a condition on a group
        else:
            self.read_flags(c, nodes, verbose)

    def skip_comment(self):
        end = self.text.find(")", self.at)
        if end < 0:
            raise Unreadable
        self.at = end + 1

    def read_inner(self, verbose):
        """What stands within a bracket, whose end is taken."""
        nodes = self.read_alternatives(verbose)
        if not self.accept(")"):
            raise Unreadable
        return nodes

    def read_numbered(self, nodes, verbose):
        self.groups += 1
        number = self.groups
        self.open.add(number)
        nodes.append((GROUP, (False, self.read_inner(verbose))))
        self.open.remove(number)

    def read_named(self, nodes, verbose):
        if self.accept("<"):
            self.names[self.take_until(">")] = self.groups + 1
            self.read_numbered(nodes, verbose)
        elif self.accept("="):
            nodes.append(self.refer(self.names.get(self.take_until(")"), 0)))
        else:
            raise Unreadable

    def read_flags(self, c, nodes, verbose):
        """Flags of the whole pattern, or of a bracket."""
        added = "" if c == "-" else c + self.take_letters()
        removed = self.take_letters() if c == "-" or added and self.accept("-") else None
        if removed is None and self.accept(")"):
            return
        if not self.accept(":") or removed == "":
            raise Unreadable
        nodes.append((GROUP, (False, self.read_inner(verbose and "x" not in (removed or "")))))

    def take_letters(self):
        begun = self.at
        while self.peek().isalpha():
            self.at += 1
        return self.text[begun:self.at]


def unpack_plain(nodes):
    """The nodes, with those of plain groups in place of these."""
    found = []
    for kind, held in nodes:
        if kind == GROUP and held[0]:
            found += held[1]
        else:
            found.append((kind, held))
    return found


def simplify_ways(ways):
    """Several ways of a pattern as nodes."""
    nodes = []
    while all(ways) and ways[0][0][0] in SIMPLE and all(way[0] == ways[0][0] for way in ways):
        nodes.append(ways[0][0])
        ways = [way[1:] for way in ways]
    merged = []
    for way in ways:
        if len(way) != 1 or way[0][0] not in (LITERAL, SET) or way[0][0] == SET and way[0][1][0][0] == NEGATED:
            nodes.append((BRANCH, ways))
            return nodes
        merged += way if way[0][0] == LITERAL else way[0][1]
    nodes.append((SET, list(dict.fromkeys(merged))))
    return nodes


def read_pattern(text, verbose):
    """The nodes of a pattern as text. Raises Unreadable."""
    return Reader(text, verbose).read_whole()
