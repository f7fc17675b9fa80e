"""Notes of a message: how often each line of the actor's code began, its cycles, and the ways
of its branches.

A host is asked at its start, or never: then nothing of this runs, and code is compiled as if it
did not exist. Notes charge nothing and decide nothing, so that outcomes are the same. The
rewriter puts the calls in:

  $into(line)      a function began
  $lump(k)         before a charge for a run of statements, whose parts are LUMPS[k]
  $line(line)      before a statement
  $way(line, n)    a branch went its nth way
  $back()          a function ends

The cycles that went between two of these belong to the line of the first.
"""

import sys

from host.meter import cycles_left
from host.protocol import MAX_NOTES

FILE = "actor.py"
INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>")  # have separate frames before Python 3.12
MAX_STACK = 4096  # characters of the names of functions around a line
asked = False  # set once, before anything is compiled
stop = None  # the code object above a message, where the stack of it ends
LUMPS = []  # [(line, cycles)] of each charge


class Notes:
    """The notes of one message."""

    __slots__ = ("stacks", "ways", "cell", "last", "frame", "here")

    def __init__(self, cycles):
        self.stacks, self.ways = {}, {}  # stack → {line: [hits, cycles, of these in calls of actors]}; (line, way) → count
        self.cell = [0, 0, 0]  # of the line that runs
        self.stacks[""] = {0: self.cell}  # of the host's own
        self.last = cycles  # left when it was looked last
        self.frame, self.here = None, None  # the last seen frame of the author, and the lines of its stack

    def look_up_stack(self, frame):
        """The lines of a frame's stack."""
        self.frame = frame
        around = stack_of(frame)
        self.here = self.stacks.get(around)
        if self.here is None:
            self.here = self.stacks[around] = {}


notes = None


def begin_notes(cycles):
    """Start a message; return what end needs to go back."""
    global notes
    outer, notes = notes, Notes(cycles)
    return outer


def end_notes(outer):
    global notes
    notes = outer


def settle_cycles():
    """The cycles since the last look belong to the line before."""
    n, now = notes, max(cycles_left(), 0)
    if n.last > now:
        n.cell[1] += n.last - now
    n.last = now


def stack_of(frame):
    """The author's functions around a frame, outermost first."""
    names = []
    while frame is not None and frame.f_code is not stop:
        code = frame.f_code
        if code.co_filename == FILE and code.co_name not in INLINED:
            names.append(code.co_qualname)
        frame = frame.f_back
    return ";".join(reversed(names))[-MAX_STACK:]


def cell_of(frame, line):
    n = notes
    if frame is not n.frame:
        n.look_up_stack(frame)
    found = n.here.get(line)
    if found is None:
        found = n.here[line] = [0, 0, 0]
    return found


def enter_function(line):
    settle_cycles()
    notes.cell = cell_of(sys._getframe(1), line)


def reach_line(line):
    settle_cycles()
    found = notes.cell = cell_of(sys._getframe(1), line)
    found[0] += 1


def leave_function():
    """The calling line continues."""
    settle_cycles()
    frame = sys._getframe(1).f_back
    while frame is not None and frame.f_code is not stop:
        if frame.f_code.co_filename == FILE:
            notes.cell = cell_of(frame, frame.f_lineno)
            return
        frame = frame.f_back
    enter_host()


def enter_host():
    """The next charges belong to no line of the author."""
    settle_cycles()
    notes.cell = notes.stacks[""][0]


def split_charge(k):
    """The next charge belongs to several lines."""
    settle_cycles()
    n, frame = notes, sys._getframe(1)
    for line, cycles in LUMPS[k]:
        if cycles > n.last:
            cycles = n.last
        cell_of(frame, line)[1] += cycles
        n.last -= cycles


def settle_and_read():
    """The cycles left now."""
    settle_cycles()
    return notes.last


def note_call(before):
    """The chain answered a call of another actor, which took what is missing since before."""
    settle_cycles()
    notes.cell[2] += before - notes.last


def note_way(line, n):
    place = (line, n)
    notes.ways[place] = notes.ways.get(place, 0) + 1


def write_report():
    """All of it, one row per line of text: L stack line hits cycles calls, and W line way
    count."""
    settle_cycles()
    rows = ["L\t%s\t%d\t%d\t%d\t%d" % (around, line, *found)
            for around, lines in notes.stacks.items() for line, found in lines.items() if any(found)]
    notes.frame = notes.here = None
    rows += ["W\t%d\t%d\t%d" % (*place, count) for place, count in notes.ways.items()]
    return "\n".join(rows[:MAX_NOTES]).encode("utf-8", "replace")


class Points:
    """Where the rewriter put calls in, and what it calls the ways of a branch."""

    def __init__(self, runs):
        self.runs = runs  # the code will run, and is not only read
        self.lines, self.ways = set(), {}  # ways: (line, way) → label

    def lump(self, parts):
        """The number of a charge."""
        if self.runs:
            LUMPS.append(parts)
        return len(LUMPS) - 1

    def number_branch(self, line, labels):
        """Ways of a line; a second branch on it continues the count."""
        first = 1 + max([n for at, n in self.ways if at == line], default=-1)
        for i, label in enumerate(labels):
            self.ways[(line, first + i)] = label
        return first


NAMES = {"$into": enter_function, "$line": reach_line, "$back": leave_function, "$lump": split_charge, "$way": note_way}
