"""What import gives: a sealed library, made once, paid for by each message."""

# What the standard library imports when first needed: later no file can be read.
import encodings.ascii
import encodings.latin_1
import encodings.utf_8
import heapq
import linecache
import unicodedata

import program
import builtin_names
import chain
import libraries
import libraries_data
import own
import patterns
import pvm_host
import cowboy_sdk
from cowboy_sdk import runtime
from costs import table
from known import BUILTINS
from meter import charge
import sealed
from sealed import library
from shims import SOURCES

MAKERS = {
    "collections": libraries.collections_names, "dataclasses": libraries.dataclass_names, "enum": libraries.enum_names,
    "functools": libraries.functools_names, "itertools": libraries.itertools_names, "typing": libraries.typing_names,
    "abc": libraries.abc_names, "operator": libraries.operator_names, "string": libraries.string_names,
    "collections.abc": libraries.abc_hints, "json": libraries_data.json_names, "struct": libraries_data.struct_names,
    "base64": libraries_data.base64_names, "hashlib": libraries_data.hashlib_names, "hmac": libraries_data.hmac_names,
    "math": libraries_data.math_names, "decimal": libraries_data.decimal_names, "re": patterns.names,
    "pvm_host": lambda: of_package(pvm_host),
    "cowboy_sdk.runtime": lambda: of_package(runtime),
    "cowboy_sdk": lambda: {**of_package(cowboy_sdk), "runtime": made("cowboy_sdk.runtime")},
}
MADE = {}
SHIMS = {}
CLASSES = {cls: sealed.made(cls, shown) for cls, shown in cowboy_sdk.CLASSES.items()}


def of_package(package):
    """What a package of the host's exports: its classes as actors see them."""
    names = {n: getattr(package, n) for n in package.__all__ if n != "runtime"}
    return {n: CLASSES.get(v, v) if isinstance(v, type) else v for n, v in names.items()}


def made(name):
    if name not in MADE:
        MADE[name] = library(name.split(".")[-1], MAKERS[name]())
        own.OPEN[type(MADE[name])] = True
    return MADE[name]


def warm():
    """Compile the libraries in metered Python, which bear the table of costs."""
    for name in SOURCES:
        SHIMS[name] = program.shim(SOURCES[name])


def shim(name):
    """A library in metered Python runs anew in each message."""
    if name not in SHIMS:
        SHIMS[name] = program.shim(SOURCES[name])
    space = program.fresh()
    exec(SHIMS[name], space)
    return library(name, {k: v for k, v in space.items() if not k.startswith(("_", "$"))})


def bring(name):
    modules = chain.now.modules
    found = modules.get(name)
    if found is not None:
        charge(table.import_again)
        return found
    charge(table.import_first)
    if name == "decimal":
        libraries_data.begin_decimal()
    found = shim(name) if name in SOURCES else made(name)
    modules[name] = found
    return found


def bring_from(module, name):
    found = bring(module)
    if name in type(found).__dict__ and not name.startswith("_"):
        return getattr(found, name)
    raise ImportError("%s has no %s that an actor may use" % (module, name))


def exported(module, name):
    if module in SOURCES:
        return ("def %s(" % name) in SOURCES[module] or ("\n%s = " % name) in SOURCES[module]
    return name in type(made(module)).__dict__ and not name.startswith("_")


def install():
    names = builtin_names.namespace()
    names["$import"] = bring
    names["$importfrom"] = bring_from
    names["print"] = sealed.Function(chain.show)
    for name in BUILTINS:
        names["$$" + name] = function = sealed.called(names[name])
        function.__module__, function.__qualname__ = "builtins", name  # Python's errors name it
    program.NAMES = names
