"""Small programs that each do one costly thing until their cycles are over.

The programs of written.py and finds.py come first. The others are generated: each operator, built-in
function, method and library function that the host offers, with large arguments. A type of
argument is used if a trial with a small one succeeds.
"""

import itertools
from collections import namedtuple

import finds
import generated
import written
from handlers import indent_lines, wrap_body


class Program(namedtuple("Program", "name source may_fail")):
    """may_fail: the program may end before its cycles do."""


def loop_program(name, setup, line, may_fail=False):
    return Program(name, wrap_body("while True:\n" + indent_lines(line, 4), setup), may_fail)


def list_programs(generate=True, i=0, n=1):
    """The programs written out, then those generated if wanted: of both each n-th from the i-th on."""
    found = [loop_program(name, setup, line) for name, setup, line in written.LOOPS]
    found += [Program(name, wrap_body(body), name in written.ENDING) for name, body in written.BODIES + finds.BODIES]
    yield from found[i::n]
    if generate:
        for name, setup, line in itertools.chain(generated.operation_programs(i, n), generated.call_programs(i, n)):
            yield loop_program(name, setup, line, True)
