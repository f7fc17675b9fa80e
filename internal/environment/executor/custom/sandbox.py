"""Runs one call of one function behind the walls of host/wall.py, and ends.

Standard input: u64 bytes of memory, u8 (1: run without a wall that is missing),
then three fields of u32 length each, little endian: the source of the wall, the
function's module, the parameters. Standard output: the result's bytes, alone.

The runner's owner wrote the function; a stranger sends its parameters. So the libraries that
the module names are imported before the walls are built, and the module itself runs inside
them. Exit codes: 0 done; 3 the walls are not whole; 4 the module or the function failed, with a
line on standard error.
"""

import os
import sys

LIBRARIES = (
    "array", "base64", "binascii", "bisect", "calendar", "cmath", "collections", "collections.abc", "contextlib", "copy", "csv",
    "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "hmac", "html", "io",
    "ipaddress", "itertools", "json", "math", "numbers", "operator", "random", "re", "statistics", "string", "struct", "textwrap",
    "time", "types", "typing", "unicodedata", "urllib.parse", "uuid", "zlib", "__future__",
)
UNSEEN = ("_strptime", "encodings.ascii", "encodings.latin_1", "encodings.utf_8")  # what libraries import by themselves
EXIT_WALL, EXIT_FAILED = 3, 4


def read_exactly(n):
    data = b""
    while len(data) < n:
        chunk = os.read(0, min(n - len(data), 1 << 20))
        if not chunk:
            exit_with(EXIT_FAILED, "the input ended")
        data += chunk
    return data


def read_number(n):
    return int.from_bytes(read_exactly(n), "little")


def exit_with(code, words):
    os.write(2, words.encode("utf-8", "replace")[:400])
    os._exit(code)


def imported_names(tree, ast):
    """Of the libraries that a module imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def compile_module(source):
    """The module as code, with its libraries imported."""
    import ast
    import importlib
    tree = ast.parse(source, "<function>")
    for name in imported_names(tree, ast):
        if name not in LIBRARIES:
            raise ImportError("a function may not import %.40r, only %s" % (name, ", ".join(LIBRARIES)))
        importlib.import_module(name)
    for name in UNSEEN:
        importlib.import_module(name)
    return compile(tree, "<function>", "exec", dont_inherit=True)


def result_of(value):
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, str):
        return value.encode()
    import json  # imported before the walls were built
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def report_progress(percent, words=""):
    """Report progress in whole percent, with words for people."""
    line = "progress %d %s" % (percent, " ".join(str(words).split()))
    os.write(2, line.encode("utf-8", "replace")[:1000] + b"\n")


def call_function(run, params):
    """Call the function, with progress if it has a parameter of that name."""
    code = getattr(run, "__code__", None)
    if code and "progress" in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]:
        return run(params, progress=report_progress)
    return run(params)


def build_walls(text, memory, unwalled):
    """Build the walls, and leave no way back to what built them."""
    module = {"__name__": "wall"}
    exec(compile(text, "<wall>", "exec"), module)
    parent = os.getppid()
    module["close_above"](2)
    module["bound_memory"](memory, memory)
    standing = module["Wall"](1)
    standing.build()
    standing.narrow_child(parent)
    # Files cannot be opened where the calls are listed, landlock or not.
    missing = ["%s (%s)" % part for part in standing.parts.items() if part[1] and part[0] != "files"]
    if missing and not unwalled:
        exit_with(EXIT_WALL, "this system has no wall of %s" % ", ".join(missing))


def main():
    import json  # noqa: F401: for results
    memory, unwalled = read_number(8), read_number(1)
    wall, source, params = (read_exactly(read_number(4)) for _ in range(3))
    sys.stdout = sys.stderr  # only the result goes to standard output
    try:
        code = compile_module(source)
        build_walls(wall, memory, unwalled)
        module = {"__name__": "function"}
        exec(code, module)
        result = result_of(call_function(module["run"], params))
    except KeyError as e:
        exit_with(EXIT_FAILED, "KeyError: %s" % e if e.args != ("run",) else "the module has no function run(params)")
    except MemoryError:
        exit_with(EXIT_FAILED, "the function ran out of max_memory_mb")
    except BaseException as e:
        exit_with(EXIT_FAILED, "%s: %s" % (type(e).__name__, e))
    while result:
        result = result[os.write(1, result):]
    os._exit(0)


main()
