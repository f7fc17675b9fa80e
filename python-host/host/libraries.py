"""The libraries of functions and containers: functools, itertools, collections, operator,
string. Sealed, curated, and charged."""

import collections
import functools
import itertools
import operator
import string

from host import actor_code, builtin_types, exact, hashing, ops, rows, sealed
from host.builtin_names import getattr_of
from host.costs import table
from host.libraries_classes import abc_hints, of_file
from host.meter import ELEMENT, charge, enter_level, lazy_iterator, leave_level
from host.methods import update
from host.ops import drain_value, charged_source
from host.sealed import Function, Type, make_library
from host.weights import HELD


MISSING = object()  # no argument


def price_arguments(args, kwargs):
    """The cycles of passing arguments on."""
    return len(args) // HELD + 2 * len(kwargs)


class partial(sealed.Sealed):
    __slots__ = ("_host_f", "_host_a", "_host_k")

    def __init__(self, f, /, *args, **kwargs):
        for slot, v in zip(self.__slots__, (f, args, kwargs)):
            object.__setattr__(self, slot, v)

    def __call__(self, /, *args, **kwargs):
        charge(table.call + price_arguments(self._host_a, self._host_k) + price_arguments(args, kwargs))
        enter_level()
        try:
            return self._host_f(*self._host_a, *args, **{**self._host_k, **kwargs})
        finally:
            leave_level()


def _partial(f, /, *args, **kwargs):
    return partial(f, *args, **kwargs)


def _reduce(f, values, initial=MISSING, /):
    values = charged_source(values)
    result = next(values, values) if initial is MISSING else initial
    if result is values:
        raise TypeError("reduce of nothing needs a first value")
    for v in values:
        charge(table.call)
        result = f(result, v)
    return result


def _cache(f, /):
    return cached_by(f, None, False)


def cached_by(f, most, typed):
    """f with the results of its last calls, at most so many; None of all."""
    known = {} if most is None else collections.OrderedDict()

    def call_cached(*args, **kwargs):
        charge(table.call + price_arguments(args, kwargs))
        if most == 0:
            return f(*args, **kwargs)
        k = key_of(args, kwargs, typed)
        hashing.charge_lookup(len(known), k)
        if k in known:
            if most is not None:
                known.move_to_end(k)
            return known[k]
        made = f(*args, **kwargs)
        hashing.set_item(made, known, k)
        if most is not None and len(known) > most:
            hashing.charge_lookup(len(known), next(iter(known)))
            known.popitem(last=False)
            hashing.rebuild_if_shrunk(known)
        return made
    return Method(call_cached)


def key_of(args, kwargs, typed):
    """What a call's result is kept under: a lone text or integer as itself, so that 1 and True differ."""
    if len(args) == 1 and not kwargs and not typed and type(args[0]) in (int, str):
        return args[0]
    kinds = tuple(type(v) for v in (*args, *kwargs.values())) if typed else ()
    return args, tuple(kwargs.items()), kinds


class Method(Function):
    """A Function that binds to an instance, as functions in a class do."""

    __slots__ = ()

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return Function(lambda *a, **k: self._host_call(instance, *a, **k), self.__name__)


def _lru_cache(maxsize=128, typed=False):
    if callable(maxsize) and isinstance(typed, bool):
        return cached_by(maxsize, 128, typed)
    most = maxsize if maxsize is None else max(exact.require_integer(maxsize, "maxsize"), 0)
    return lambda f: cached_by(f, most, bool(typed))


COPIED = 20  # cycles of giving a function the names of another


def _wraps(wrapped):
    """Gives a function of the file the name and the documentation of another, and what its decorators noted."""
    def copy_description(wrapper):
        charge(COPIED)
        if actor_code.is_function(wrapped) and actor_code.is_function(wrapper):
            wrapper.__name__, wrapper.__doc__ = wrapped.__name__, wrapped.__doc__
            charge(table.dict * len(wrapped.__dict__))
            wrapper.__dict__.update(wrapped.__dict__)
        return wrapper
    return copy_description


def _ordered_by(mycmp):
    def call_through(a, b):
        charge(table.call)
        return mycmp(a, b)
    return functools.cmp_to_key(call_through)


def functools_names():
    return {"partial": _partial, "reduce": _reduce, "cache": _cache, "lru_cache": _lru_cache, "wraps": _wraps,
            "cmp_to_key": _ordered_by, "total_ordering": _total_ordering}


def _total_ordering(cls):
    charge(50)
    return functools.total_ordering(of_file(cls, "total_ordering"))


def make_iterator(make):
    def call_through(values, /):
        return lazy_iterator(make(charged_source(values)), 1)
    call_through.__name__ = make.__name__
    return call_through


def _compress(data, selectors):
    return lazy_iterator(itertools.compress(charged_source(data), charged_source(selectors)), 1)


def _zip_longest(*iterables, fillvalue=None):
    return lazy_iterator(itertools.zip_longest(*map(charged_source, iterables), fillvalue=fillvalue), 1 + len(iterables))


class _Later:
    """Values whose iterator is asked for when the library asks: what is wrong with its other arguments comes first."""

    __slots__ = ("values",)

    def __init__(self, values):
        self.values = values

    def __iter__(self):
        return charged_source(self.values)


def _islice(values, /, *bounds):
    return lazy_iterator(itertools.islice(_Later(values), *bounds))


def _repeat(object, times=MISSING):
    return lazy_iterator(itertools.repeat(object) if times is MISSING else itertools.repeat(object, times))


def _chain_from(values, /):
    return lazy_iterator(itertools.chain.from_iterable(map(charged_source, charged_source(values))))


def _groupby(iterable, key=None):
    # Each group is a separate iterator, and its key is compared.
    return lazy_iterator(((k, lazy_iterator(g)) for k, g in itertools.groupby(charged_source(iterable), key)), 4 * ELEMENT)


def _starmap(f, values, /):
    return lazy_iterator(itertools.starmap(f, (ops.spread_value(v) for v in charged_source(values))))


def _accumulate(iterable, func=None, *, initial=None):
    return lazy_iterator(itertools.accumulate(charged_source(iterable), func or ops.add, initial=initial))


TEED = 8  # cycles of one of the iterators of tee: some 300 bytes


def _tee(values, n=2, /):
    n = exact.require_integer(n, "how many iterators")
    charge(TEED * (1 + max(n, 0)))
    return tuple(lazy_iterator(i) for i in itertools.tee(_Later(values), n))


def _product(*values, repeat=1):
    repeat = exact.require_integer(repeat, "repeat")
    itertools.product(repeat=min(repeat, 0))  # refuses what is below zero
    ready = [drain_value(v) for v in values]
    width = len(ready) * repeat
    charge(max(width, 0) * (1 + max(map(len, ready), default=0) // 16))
    if width > 10000:
        raise OverflowError("a product of more than 10000 factors")
    return lazy_iterator(itertools.product(*ready, repeat=repeat), 1 + width)


def make_choice(make):
    def call_through(iterable, r):
        return choose_lazily(make, drain_value(iterable), r)
    call_through.__name__ = make.__name__
    return call_through


def _permutations(iterable, r=None):
    ready = drain_value(iterable)
    return choose_lazily(itertools.permutations, ready, len(ready) if r is None else r)


def choose_lazily(make, ready, r):
    n = exact.require_integer(r, "how many are chosen")
    if n > 10000:
        raise OverflowError("more than 10000 places")
    charge(len(ready) + max(n, 0))
    return lazy_iterator(make(ready, n), 1 + max(n, 0))


def _chain(*values):
    return lazy_iterator(itertools.chain(*map(charged_source, values)))


def itertools_names():
    i = itertools
    names = {
        "chain": Type(_Chain, _chain, {"from_iterable": Function(_chain_from, "from_iterable")}, "chain"), "islice": _islice,
        "repeat": _repeat, "groupby": _groupby, "starmap": _starmap, "accumulate": _accumulate, "tee": _tee,
        "product": _product, "permutations": _permutations, "combinations": make_choice(i.combinations),
        "combinations_with_replacement": make_choice(i.combinations_with_replacement),
        "zip_longest": _zip_longest, "compress": _compress, "count": _count,
    }
    for f in (i.cycle, i.pairwise):
        names[f.__name__] = make_iterator(f)
    for f in (i.takewhile, i.dropwhile, i.filterfalse):
        names[f.__name__] = make_filter(f)
    return names


class _Chain:
    pass


def _count(start=0, step=1):
    return lazy_iterator(itertools.count(start, step), ELEMENT + (size_of(start) + size_of(step) >> 5))


def size_of(n):
    """Bits of an integer; 0 of another value."""
    return int.bit_length(n) if isinstance(n, int) else 0


def make_filter(make):
    def call_through(test, values, /):
        return lazy_iterator(make(test, charged_source(values)))
    call_through.__name__ = make.__name__
    return call_through


def _deque(iterable=(), maxlen=None):
    values = iterable
    charge(table.list_base)
    if maxlen is None:
        values = drain_value(values)
        charge(len(values))
        return collections.deque(values)
    collections.deque((), maxlen)  # what is wrong with it comes before what is wrong with the values
    return collections.deque(charged_source(values), maxlen)


def _counter(*args, **kwargs):
    made = collections.Counter()
    charge(table.dict_base)
    update(made, *args, **kwargs)
    return made


def _default_dict(factory=None, /, *args, **kwargs):
    return builtin_types.fill_dict(collections.defaultdict(factory), args, kwargs)


def _ordered_dict(*args, **kwargs):
    return builtin_types.fill_dict(collections.OrderedDict(), args, kwargs)


def _named_tuple(typename, field_names, *, defaults=None):
    name, fields = exact.require_text(typename, "the name of a namedtuple"), field_names
    fields = exact.require_text(fields).replace(",", " ").split() if isinstance(fields, str) else \
        [exact.require_text(f) for f in drain_value(fields)]
    charge(1200 + 70 * len(fields))
    if len(fields) > 255 or not all(isinstance(f, str) and len(f) < 100 for f in fields) or len(name) > 100:
        raise ValueError("namedtuple takes at most 255 fields with short names")
    made = collections.namedtuple(name, fields, defaults=defaults, module="actor")
    rows.price_class(made)
    return actor_code.register_class(made, actor_code.Kind(frozenset(), actor_code.relied_on((tuple,)), False))


def collections_names():
    return {
        "deque": Type(collections.deque, _deque), "Counter": Type(collections.Counter, _counter),
        "defaultdict": Type(collections.defaultdict, _default_dict),
        "OrderedDict": Type(collections.OrderedDict, _ordered_dict), "namedtuple": _named_tuple,
        "abc": make_library("abc", abc_hints()),
    }


def _capwords(s, sep=None):
    text = exact.require_text(s, "a text")
    charge(3 * len(text))
    return string.capwords(text, sep)


def string_names():
    names = {n: getattr(string, n) for n in (
        "ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits", "octdigits", "punctuation",
        "printable", "whitespace")}
    names["capwords"] = _capwords
    return names


def make_getter(read):
    def make_reader(name, /, *names):
        names = (name, *names)

        def get_parts(value, /):
            charge(table.dict * len(names))
            found = tuple(read(value, n) for n in names)
            return found[0] if len(found) == 1 else found
        return Function(get_parts, "")
    return make_reader


def _read_attribute(value, name):
    for part in exact.require_text(name, "the name of an attribute").split("."):
        value = getattr_of(value, part)
    return value


def make_caller(name, /, *args, **kwargs):
    def call_through(value, /):
        return _read_attribute(value, name)(*args, **kwargs)
    return Function(call_through, "")


def operator_names():
    names = {n: make_binary(f) for n, f in (
        ("add", ops.add), ("sub", ops.BINARY["sub"]), ("mul", ops.mul), ("floordiv", ops.floordiv), ("mod", ops.mod),
        ("pow", ops.power), ("truediv", ops.div), ("lshift", ops.lshift), ("rshift", ops.BINARY["rshift"]),
        ("and_", ops.BINARY["and"]), ("or_", ops.BINARY["or"]), ("xor", ops.BINARY["xor"]), ("concat", concatenate_values))}
    for n in ("eq", "ne", "lt", "le", "gt", "ge"):
        names[n] = make_comparison(getattr(operator, n))
    for n in ("not_", "truth", "index", "is_", "is_not"):
        names[n] = sealed.charge_fixed(getattr(operator, n), 1)
    for n, f in (("neg", ops.negative), ("pos", ops.positive), ("invert", ops.inverted), ("abs", ops.absolute)):
        names[n] = make_unary(n, f)
    names.update(itemgetter=make_getter(hashing.get_item), attrgetter=make_getter(_read_attribute), methodcaller=make_caller,
                 contains=lambda y, x, /: ops.contains_value(x, y), getitem=lambda v, k, /: hashing.get_item(v, k))
    return names


SEQUENCES = (str, bytes, bytearray, list, tuple, collections.deque)


def concatenate_values(a, b):
    if not all(isinstance(v, SEQUENCES) or actor_code.kind_of(type(v)) is not None and hasattr(type(v), "__getitem__") for v in (a, b)):
        raise TypeError("concat takes two sequences")
    return ops.add(a, b)


def make_unary(name, f):
    def call_through(a, /):
        charge(1)
        return f(a)
    call_through.__name__ = name
    return call_through


def make_binary(f):
    def call_through(a, b, /):
        charge(1)
        return f(a, b)
    return call_through


def make_comparison(f):
    def call_through(a, b, /):
        charge(2)
        return f(ops.charge_comparison(a), ops.charge_comparison(b))
    return call_through
