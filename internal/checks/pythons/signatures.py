"""Prints how the parameters of what actors may call are other than CPython's: a line of a name and what is other.

Where CPython tells no signature of a function, DOCUMENTED has it, or the host hands all arguments on to it."""

import builtins
import importlib
import inspect
import sys

sys.path.insert(0, sys.argv[1])

from host import attribute_tables, builtin_names, imports, sealed  # noqa: E402

OURS = {"pvm_host", "cowboy_sdk", "cowboy_sdk.runtime", "cowboy_sdk.runner"}
NAMES_ALONE = {"collections.abc", "typing"}  # which mean nothing when the code runs
BASES = {"abc.ABC", "enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum", "re.Match", "re.Pattern"}  # not called
DOCUMENTED = {
    "bool": "object=False, /", "bytearray": "source=b'', encoding='', errors=''", "bytes": "source=b'', encoding='', errors=''",
    "collections.Counter": "iterable=None, /, **kwds", "collections.OrderedDict": "*args, **kwds",
    "collections.defaultdict": "f=None, /, *args, **kwds",
    "collections.deque": "iterable=(), maxlen=None", "dict": "*args, **kwds", "filter": "function, iterable, /",
    "frozenset": "iterable=(), /",
    "functools.cmp_to_key": "mycmp", "functools.partial": "func, /, *args, **keywords",
    "functools.reduce": "function, iterable, initial=None, /",
    "getattr": "object, name, default=None, /", "int": "x=0, /, base=10", "iter": "object, sentinel=None, /",
    "itertools.chain": "*iterables",
    "itertools.islice": "iterable, stop, step=None, more=None, /", "itertools.product": "*iterables, repeat=1",
    "itertools.repeat": "object, times=None", "itertools.zip_longest": "*iterables, fillvalue=None", "map": "func, /, *iterables",
    "max": "*args, key=None, default=None", "min": "*args, key=None, default=None", "next": "iterator, default=None, /",
    "operator.attrgetter": "attr, /, *attrs", "operator.itemgetter": "item, /, *items",
    "operator.methodcaller": "name, /, *args, **kwargs",
    "range": "*args", "set": "iterable=(), /", "str": "object='', encoding='', errors=''", "str.format": "*args, **kwargs",
    "str.maketrans": "*args", "struct.pack": "format, /, *values", "type": "object, /", "zip": "*iterables, strict=False",
    "dict.pop": "key, default=None, /", "dict.update": "*args, **kwargs", "Counter.subtract": "iterable=None, /, **kwds",
}
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def list_callables():
    """A name, the host's function, CPython's, and whether both are methods."""
    imports.install_imports()
    for name, made in sorted(builtin_names.make_namespace().items()):
        if name.isidentifier() and not name.startswith("_") and isinstance(made, (sealed.Function, sealed.Type)):
            yield from library_callable(name, made, getattr(builtins, name))
    for t, methods in sorted(attribute_tables.TABLE.items(), key=lambda kv: kv[0].__name__):
        for name, f in sorted(methods.items()):
            yield "%s.%s" % (t.__name__, name), f, getattr(t, name), True
    for module in sorted(set(imports.MAKERS) - OURS - NAMES_ALONE):
        library, real = imports.make_package(module), importlib.import_module(module)
        for name in sorted(type(library).__dict__):
            if not name.startswith("_") and callable(getattr(library, name)):
                yield from library_callable("%s.%s" % (module, name), getattr(library, name), getattr(real, name))
    for module, source in sorted(imports.SOURCES.items()):
        shim, real = {}, importlib.import_module(module)
        exec(source, shim)
        for name, made in sorted(shim.items()):
            if not name.startswith("_"):
                yield "%s.%s" % (module, name), made, getattr(real, name), False


def library_callable(name, made, real):
    yield name, sealed.called_function(made) if isinstance(made, (sealed.Function, sealed.Type)) else made, real, False
    if isinstance(made, sealed.Type):
        for static, f in sorted(sealed._TYPES[id(made)][2].items()):
            if isinstance(f, sealed.Function) and static not in attribute_tables.TABLE.get(real, {}):
                yield "%s.%s" % (name, static), f._host_call, getattr(real, static), False


def parameters_of(f, method, name):
    """The parameters of a function without the value that a method is of; None if they are nowhere told."""
    if name in DOCUMENTED:
        space = {}
        exec("def f(%s): pass" % DOCUMENTED[name], space)
        return list(inspect.signature(space["f"]).parameters.values())
    try:
        found = list(inspect.signature(f).parameters.values())
    except (ValueError, TypeError):
        return None
    return found[1:] if method else found


def describe_difference(ours, theirs):
    """What is other in our parameters, in words."""
    said = []
    takes_rest = any(p.kind is p.VAR_POSITIONAL for p in ours)
    takes_names = any(p.kind is p.VAR_KEYWORD for p in ours)
    wanted = [p for p in theirs if p.kind in POSITIONAL]
    given = [p for p in ours if p.kind in POSITIONAL]
    absent, renamed, closed = [], [], []
    for i, p in enumerate(wanted):
        here = next((q for q in ours if q.name == p.name and p.kind is not p.POSITIONAL_ONLY), None)
        here = here or (given[i] if i < len(given) else None)
        if here is None:
            if not takes_rest:
                absent.append(p.name)
        elif p.kind is p.POSITIONAL_OR_KEYWORD and here.kind is not here.POSITIONAL_ONLY and here.name != p.name and not takes_names:
            renamed.append("%s for %s" % (here.name, p.name))
        elif p.kind is p.POSITIONAL_OR_KEYWORD and here.kind is here.POSITIONAL_ONLY:
            closed.append(p.name)
        elif p.kind is p.POSITIONAL_ONLY and here.kind is not here.POSITIONAL_ONLY:
            said.append("%s by name" % here.name)
        elif (p.default is p.empty) != (here.default is here.empty):
            said.append("%s %s" % (p.name, "may be left out" if p.default is p.empty else "is needed"))
    names = {p.name for p in ours}
    absent += [p.name for p in theirs if p.kind is p.KEYWORD_ONLY and p.name not in names and not takes_names]
    extra = [p.name for p in ours if p.kind is p.KEYWORD_ONLY and p.name not in {q.name for q in theirs}]
    if not any(p.kind is p.VAR_POSITIONAL for p in theirs):
        extra += [p.name for p in given[len(wanted):] if p.name not in {q.name for q in theirs}]
    for words, found in (("without %s", absent), ("%s", renamed), ("by position: %s", closed), ("also %s", extra)):
        if found:
            said.append(words % ", ".join(found))
    return "; ".join(said)


def main():
    seen = 0
    for name, ours, real, method in list_callables():
        seen += 1
        raw = getattr(ours, "raw", None)
        if raw is real and raw is not None or name in BASES or isinstance(real, type) and issubclass(real, BaseException):
            continue
        mine, its = parameters_of(ours, method, ""), parameters_of(real, method, name)
        if its is None:  # CPython tells nothing: what it is asked is what we hand on
            if any(p.kind is p.POSITIONAL_OR_KEYWORD for p in mine or ()):
                print(name, "named arguments", sep="\t")
            continue
        said = describe_difference(mine, its) if mine is not None else "no signature"
        if said:
            print(name, said, sep="\t")
    print("", seen, sep="\t")


main()
