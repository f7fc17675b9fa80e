"""The source of an actor, whatever a test has of it."""

import inspect
import os
import types


def read_source(source):
    """Name and text of a file, a module, a class, an instance; for a text the name is None."""
    if isinstance(source, bytes):
        source = source.decode()
    if isinstance(source, str) and ("\n" in source or source.startswith("go:")):
        return None, source
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
    elif isinstance(source, types.ModuleType):
        path = source.__file__
    else:
        path = inspect.getsourcefile(source if isinstance(source, type) else type(source))
    path = _find_file(path)
    _note_for_coverage(path)
    with open(path, encoding="utf-8") as file:
        return os.path.splitext(os.path.basename(path))[0], file.read()


def _note_for_coverage(path):
    """Tell `devnet test --coverage` which file is deployed."""
    folder = os.environ.get("DEVNET_COVERAGE")
    if folder:
        with open(os.path.join(folder, "paths-%d" % os.getpid()), "a", encoding="utf-8") as file:
            file.write(os.path.abspath(path) + "\n")


def _find_file(path):
    """A relative path starts at the folder of the test that names it, or at the working directory."""
    if os.path.isabs(path):
        return path
    frame = inspect.currentframe()
    here = os.path.dirname(os.path.abspath(__file__))
    while frame is not None:
        folder = os.path.dirname(os.path.abspath(frame.f_code.co_filename))
        if folder != here and os.path.exists(os.path.join(folder, path)):
            return os.path.join(folder, path)
        frame = frame.f_back
    return path
