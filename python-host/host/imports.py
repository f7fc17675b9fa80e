"""Imported packages: each is a sealed library, made once, paid for by each message."""

import importlib
import types
from collections import Counter

from host import actor_code, builtin_names, chain, libraries, libraries_classes, libraries_data, patterns, program, records, sealed
from host.attribute_tables import TABLE, name_methods
from host.costs import table
from host.known_names import BUILTINS, STATICS
from host.meter import charge
from host.sealed import make_library
from host.shims import SOURCES

import cowboy_sdk
import pvm_host
from cowboy_sdk import runner, runtime

# Modules that the standard library imports when first needed: later no file can be read.
for _module in "encodings.ascii encodings.latin_1 encodings.utf_8 heapq linecache unicodedata".split():
    importlib.import_module(_module)

MAKERS = {
    "collections": libraries.collections_names, "dataclasses": records.make_names, "enum": libraries_classes.enum_names,
    "functools": libraries.functools_names, "itertools": libraries.itertools_names, "typing": libraries_classes.typing_names,
    "abc": libraries_classes.abc_names, "operator": libraries.operator_names, "string": libraries.string_names,
    "collections.abc": libraries_classes.abc_hints, "json": libraries_data.json_names, "struct": libraries_data.struct_names,
    "base64": libraries_data.base64_names, "hashlib": libraries_data.hashlib_names, "hmac": libraries_data.hmac_names,
    "math": libraries_data.math_names, "decimal": libraries_data.decimal_names, "re": patterns.make_names,
    "pvm_host": lambda: of_package(pvm_host),
    "cowboy_sdk.runtime": lambda: of_package(runtime),
    "cowboy_sdk.runner": lambda: of_package(runner),
    "cowboy_sdk": lambda: {**of_package(cowboy_sdk), **{n: make_package("cowboy_sdk." + n) for n in PARTS}},
}
PARTS = ("runtime", "runner")  # of cowboy_sdk, each a separate library
MADE = {}
SHIMS = {}
CLASSES = {cls: sealed.make_type(cls, shown) for cls, shown in cowboy_sdk.CLASSES.items()}


def of_package(package):
    """The exports of a package of the host's: its classes as actors see them."""
    names = {n: getattr(package, n) for n in package.__all__ if n not in PARTS}
    return {n: CLASSES.get(v, v) if isinstance(v, type) else v for n, v in names.items()}


def make_package(name):
    if name not in MADE:
        MADE[name] = make_library(name.split(".")[-1], MAKERS[name]())
        actor_code.OPEN[type(MADE[name])] = True
    return MADE[name]


def warm_libraries():
    """Compile the libraries in metered Python, which contain the table of costs."""
    for name in SOURCES:
        SHIMS[name] = program.compile_library(SOURCES[name])


def load_shim(name):
    """A library in metered Python runs again in each message."""
    if name not in SHIMS:
        SHIMS[name] = program.compile_library(SOURCES[name])
    space = program.make_space()
    exec(SHIMS[name], space)
    names = {k: v for k, v in space.items() if not k.startswith(("_", "$"))}
    if name == "bisect":
        names = {k: of_sequence(v) for k, v in names.items()}
    else:
        names.update((k, of_list(names[k], more)) for k, more in (("heappush", 1), ("heappushpop", None), ("heapreplace", 0)))
        names.update((k, of_list_alone(names[k], more)) for k, more in (("heapify", 0), ("heappop", -1)))
    return make_library(name, names)


def of_sequence(search):
    """A search in a sequence, of which Python asks neither a key nor the length of a dict."""
    def call_through(a, x, lo=0, hi=None, *, key=None):
        keyed = isinstance(a, dict) and type(a) is not Counter  # which is a sequence by its methods, as any class of Python's
        if (keyed or not hasattr(type(a), "__getitem__")) and not (isinstance(lo, int) and lo < 0):
            raise TypeError("%s is not a sequence" % type(a).__name__)
        return search(a, x, lo, hi, key=key)
    call_through.__name__ = search.__name__
    return call_through


def of_list(change, more):
    """A function that puts an item into a heap, which has so many items more after it; None: its first comparison may say."""
    def call_through(heap, item, /):
        return of_heap(heap, more, change, heap, item)
    call_through.__name__ = change.__name__
    return call_through


def of_list_alone(change, more):
    """A function of a heap alone."""
    def call_through(heap, /):
        return of_heap(heap, more, change, heap)
    call_through.__name__ = change.__name__
    return call_through


def of_heap(heap, more, change, *args):
    """Calls a function of a heap, which is a list. A comparison that makes it longer or shorter is an error."""
    if not isinstance(heap, list):
        raise TypeError("heap argument must be list, not %s" % type(heap).__name__)
    if more is None or not list.__len__(heap):
        return change(*args)
    n = list.__len__(heap) + more
    try:
        found = change(*args)
    except IndexError:
        if list.__len__(heap) == n:
            raise
    if list.__len__(heap) != n:
        raise RuntimeError("list changed size during iteration")
    return found


def bring_name(name):
    modules = chain.now.modules
    found = modules.get(name)
    if found is not None:
        charge(table.import_again)
        return found
    charge(table.import_first)
    if name == "decimal":
        libraries_data.begin_decimal()
    found = load_shim(name) if name in SOURCES else make_package(name)
    modules[name] = found
    return found


def bring_from(module, name):
    found = bring_name(module)
    if name in type(found).__dict__ and not name.startswith("_"):
        return getattr(found, name)
    raise ImportError("%s has no %s that an actor may use" % (module, name))


def is_exported(module, name):
    if module in SOURCES:
        return ("def %s(" % name) in SOURCES[module] or ("\n%s = " % name) in SOURCES[module]
    return name in type(make_package(module)).__dict__ and not name.startswith("_")


def as_named(functions):
    """Python's errors name a function by its module, for whose package no author has a use."""
    for name, f in functions.items():
        f = f.__func__ if isinstance(f, staticmethod) else f
        if isinstance(f, types.FunctionType):
            f.__module__, f.__name__, f.__qualname__ = f.__module__.removeprefix("host."), getattr(f, "python_name", name), name


def install_imports():
    names = builtin_names.make_namespace()
    names["$import"] = bring_name
    names["$importfrom"] = bring_from
    names["print"] = sealed.Function(chain.print_lines, "print")
    for name in BUILTINS:
        names["$$" + name] = function = sealed.called_function(names[name])
        function.__module__, function.__qualname__ = "builtins", name  # Python's errors name it
    for static in STATICS:
        of, name = static.split(".")
        names["$$" + static] = sealed.called_function(sealed.static_method(names[of], name))
    program.NAMES = names
    name_methods()
    for name in MAKERS:
        as_named(type(make_package(name)).__dict__)
    for methods in TABLE.values():
        as_named(methods)
