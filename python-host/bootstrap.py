"""The first that runs: takes the host's modules from standard input, so that it reads nothing from disk.

Their code comes with their sources if a host of the same Python compiled them before. Otherwise
this host compiles them, and sends their code before its hello.
"""

import marshal
import os
import sys
from importlib.machinery import ModuleSpec


def _read_exactly(n):
    data = bytearray(n)
    rest = memoryview(data)
    while rest:
        got = os.readv(0, [rest])
        if not got:
            os._exit(0)
        rest = rest[got:]
    return data


def _read_number(n):
    return int.from_bytes(_read_exactly(n), "little")


def _read_field():
    return _read_exactly(_read_number(4))


_compiled = _read_field()
_files = {}  # name of a module → its source
for _ in range(_read_number(4)):
    _name = _read_field().decode()
    _files[_name] = _read_field()


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in _files:
            return ModuleSpec(name, _Finder, is_package=any(n.startswith(name + ".") for n in _files))

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        exec(_codes.pop(module.__name__, None) or _compile_source(module.__name__), module.__dict__)


def _compile_source(name):
    return compile(_files[name], "<%s>" % name, "exec")


def _send_frame(frame):
    """To the descriptor of the pipe, as long as the host has not taken it."""
    frame = memoryview(len(frame).to_bytes(4, "little") + frame)
    while frame:
        frame = frame[os.write(1, frame):]


_version = sys.version.encode() + b"\0"  # whose code it is: the interpreter at a path may have been replaced since
if _compiled:
    _codes = marshal.loads(memoryview(_compiled)[len(_version):]) if _compiled.startswith(_version) else {}
else:
    _codes = {name: _compile_source(name) for name in _files}
    _send_frame(b"M" + _version + marshal.dumps(_codes))
del _compiled
sys.meta_path.insert(0, _Finder)
from host import main  # noqa: E402: from the archive, which is read by now
main.main(_read_number(8), _read_number(8), _read_number(8))
