"""The built-in names of actors, each charged by CIP-3's table."""

import builtins
import operator
import types

from host import (
    actor_code, attributes, builtin_types, check, continuations, exact, formatting, known_names, matching, methods, ops, probe, rows,
    sealed)
from host.costs import table
from host.meter import (
    ELEMENT, INT_BITS, charge, charged_generator, enter_lambda, enter_level, iterator, lazy_iterator, leave_level, meter, refuse_depth,
    run_out, tick,
)
from host.ops import drain_value, iterate_value, charge_key, charged_source
from host.weights import SETS, SIZED, weigh_value

MAX_BASES = 64  # of a class; each attribute that is absent is looked for in all
SUMMED = 3  # cycles of an element other than an int, in addition to those of its operator
SLOT, ATTRIBUTE = 24, 4  # cycles of a name in __slots__ and of one that a class defines: their memory
TESTED = 4  # cycles of a type that a value is tested for
ROWS = frozenset((list, tuple))  # whose elements can be read by index
GENERATORS = frozenset((types.GeneratorType, iterator))  # which pay for their elements
PRINTED = 4096  # bytes of one line of print


def guard_name(name):
    """getattr and its like take the names that source may spell."""
    name = exact.require_text(name, "the name of an attribute")
    charge(len(name))
    return check.check_spelling(name)


def getattr_of(value, name, /, *default):
    name = guard_name(name)
    if len(default) > 1:
        raise TypeError("getattr takes at most one default")
    charge(table.call + len(type(value).__mro__))
    if default:
        try:
            return attributes.get_attribute(value, name)
        except AttributeError:
            return default[0]
    return attributes.get_attribute(value, name)


def hasattr_of(value, name, /):
    absent = object()
    return getattr_of(value, name, absent) is not absent


def to_set(name):
    name = guard_name(name)
    if check.is_dunder(name):
        raise AttributeError("the attribute %s cannot be set" % name)
    charge(table.call)
    return name


def setattr_of(value, name, to, /):
    builtins.setattr(actor_code.check_settable(value, to_set(name)), name, to)


def delattr_of(value, name, /):
    builtins.delattr(actor_code.check_settable(value, to_set(name)), name)


def len_of(value, /):
    charge(table.len)
    return len(value)


def reduce_cost(values):
    charge(table.reduce + max(len(values) - 1, 0))


def sum_of(values, /, start=0):
    values = drain_value(values)
    reduce_cost(values)
    if isinstance(start, (str, bytes, bytearray)):
        raise TypeError("sum takes no text: use join")
    if type(start) is int and set(map(type, values)) <= {int}:
        if values and max(max(values), -min(values)).bit_length() > 64:
            weigh_value(values)
        return sum(values, start)
    charge(len(values) * SUMMED)
    for v in values:
        start = ops.add(start, v)
    return start


NONE = object()  # no argument


def min_or_max(pick):
    def choose_value(*args, key=None, default=NONE):
        if len(args) == 1:
            values = drain_value(args[0])
            if not values and default is not NONE:
                return default
        else:
            if not args or default is not NONE:
                raise TypeError("%s takes an iterable, or several values without a default" % pick.__name__)
            values = list(args)
        reduce_cost(values)
        if key is None:
            weigh_value(values)
            return pick(values)
        charge(len(values) * table.call)
        keys = [key(v) for v in values]
        weigh_value(keys)
        return values[pick(range(len(values)), key=keys.__getitem__)]
    choose_value.__name__ = pick.__name__
    return choose_value


def sorted_of(values, /, *, key=None, reverse=False):
    return methods.sort_values(drain_value(values), key, reverse)


def any_of(values, /):
    return any(values if type(values) in GENERATORS else charged_source(values))


def all_of(values, /):
    return all(values if type(values) in GENERATORS else charged_source(values))


def map_of(f, /, *iterables):
    return lazy_iterator(map(f, *map(charged_source, iterables)))


def filter_of(f, values, /):
    return lazy_iterator(filter(f, charged_source(values)))


def zip_of(*iterables, strict=False):
    return lazy_iterator(zip(*map(charged_source, iterables), strict=strict), 1 + len(iterables))


def enumerate_of(iterable, start=0):
    return lazy_iterator(enumerate(charged_source(iterable), start), ELEMENT + (operator.index(start).bit_length() >> 5))


def reversed_of(values, /):
    if isinstance(values, SETS):
        raise TypeError("a set has no order")
    return lazy_iterator(reversed(values), ELEMENT + ops.price_wide_element(values) if type(values) is range else ELEMENT)


def iter_of(value, /, *sentinel):
    if sentinel:
        return lazy_iterator(iter(value, *sentinel))
    if type(value) in SIZED or isinstance(value, SETS):
        return charged_source(value)
    return iter(value) if type(value) in GENERATORS or type(value) in actor_code.PLAIN else charged_source(value)


def next_of(it, /, *default):
    charge(table.arithmetic)
    return next(it, *default)


def flat_types(kinds, depth=0):
    """The types of isinstance's second argument, one by one."""
    if type(kinds) not in sealed.SEVERAL:
        return [kinds]
    if depth > 3:
        raise TypeError("types nested deeper than 3 tuples")
    parts, found = sealed.parts_of(kinds), []
    charge(TESTED * len(parts))
    for k in parts:
        if type(k) in sealed.SEVERAL:
            found += flat_types(k, depth + 1)
        elif type(k) is sealed.Alias:
            k.refuse()  # 3.11 refuses it before it looks at the value
        else:
            found.append(k)
    return found


def is_instance(value, kinds, /):
    charge(TESTED)
    if type(kinds) not in sealed.SEVERAL:
        return isinstance(value, matching.tested_type(kinds))
    return any(isinstance(value, matching.tested_type(t)) for t in flat_types(kinds))


def is_subclass(cls, kinds, /):
    charge(2 + len(getattr(cls, "__mro__", ())) // 4)
    if type(kinds) not in sealed.SEVERAL:
        return issubclass(sealed.real_type(cls), matching.tested_type(kinds))
    return any(issubclass(sealed.real_type(cls), matching.tested_type(t)) for t in flat_types(kinds))


def type_of(value, /, *more):
    if more:
        raise TypeError("type makes no class here: write a class statement")
    t = type(value)
    if t in sealed._PROXIES:
        return sealed._PROXIES[t]
    if actor_code.kind_of(t) is not None or isinstance(value, Exception) or value is None:
        return t
    raise TypeError("type of %s is not available to actors" % t.__name__)


def abs_of(value, /):
    charge(table.arithmetic)
    return ops.absolute(value)


ROUNDED = 2  # cycles of rounding, besides those of large numbers


def round_of(number, ndigits=None):
    value, digits = number, ndigits
    charge(ROUNDED)
    digits = digits if digits is None else operator.index(digits)
    if isinstance(value, int) and digits is not None and -digits > 20000:
        raise OverflowError("too many digits to round")
    if isinstance(value, int) and digits is not None and digits < 0:
        charge(1 + (value.bit_length() >> 6) ** 2 + digits * digits // 256)
    return round(value) if digits is None else round(value, digits)


def make_digits_function(f):
    def show_digits(value, /):
        value = operator.index(value)
        return formatting.charge_text(f(value))
    show_digits.__name__ = f.__name__
    return show_digits


def pow_of(base, exp, mod=None):
    return ops.power(base, exp, mod)


def make_divmod(a, b, /):
    return ops.divmod_ints(a, b, divmod)


def chr_of(n, /):
    charge(1)
    n = operator.index(n)
    if not 0 <= n < 0x110000:
        raise ValueError("chr() arg not in range(0x110000)")
    return chr(n)


def call_paid(f):
    return sealed.charge_fixed(f, 1)


def is_callable(value, /):
    return callable(value)


def plain_names():
    """Functions by name."""
    f = sealed.Function
    names = {
        "abs": f(abs_of), "all": f(all_of), "any": f(any_of), "ascii": f(formatting.to_ascii), "bin": f(make_digits_function(bin)),
        "callable": f(is_callable), "chr": f(chr_of), "delattr": f(delattr_of), "divmod": f(make_divmod),
        "enumerate": f(enumerate_of), "filter": f(filter_of), "format": f(formatting.format_value), "getattr": f(getattr_of),
        "hasattr": f(hasattr_of), "hex": f(make_digits_function(hex)), "isinstance": f(is_instance), "issubclass": f(is_subclass),
        "iter": f(iter_of), "len": f(len_of), "map": f(map_of), "max": f(min_or_max(max)), "min": f(min_or_max(min)),
        "next": f(next_of), "oct": f(make_digits_function(oct)), "ord": f(call_paid(ord)), "pow": f(pow_of),
        "repr": f(formatting.to_repr), "reversed": f(reversed_of), "round": f(round_of), "setattr": f(setattr_of),
        "sorted": f(sorted_of), "sum": f(sum_of), "type": f(type_of), "zip": f(zip_of),
    }
    for name, function in names.items():
        object.__setattr__(function, "__name__", name)
    return names


EXCEPTIONS = (
    "ArithmeticError AssertionError AttributeError Exception IndexError KeyError LookupError NameError "
    "NotImplementedError OverflowError RecursionError RuntimeError StopIteration TypeError UnicodeDecodeError "
    "UnicodeEncodeError UnicodeError ValueError ZeroDivisionError Warning UserWarning OSError TimeoutError PermissionError"
).split()


def list_operators():
    """The names rewritten code uses, which no source can spell."""
    return {
        **probe.NAMES, "$m": meter, "$out": run_out,
        "$deep": refuse_depth, "$tick": tick, "$enter": enter_lambda, "$up": enter_level, "$down": leave_level,
        "$lazy": charged_generator, "$weighed": ops.charge_comparison, "$key": charge_key, "$moved": ops.charge_move,
        "$iter": iterate_value, "$unpack": ops.unpack_value,
        "$spread": ops.spread_value, "$sequence": ops.check_sequence, "$mapping": ops.check_mapping, "$slice": ops.slice_of,
        "$in": ops.contains_value, "$add": ops.add, "$mul": ops.mul, "$div": ops.div,
        "$floordiv": ops.floordiv, "$mod": ops.mod, "$pow": ops.power, "$lshift": ops.lshift,
        "$rshift": ops.BINARY["rshift"], "$or": ops.BINARY["or"], "$xor": ops.BINARY["xor"], "$and": ops.BINARY["and"],
        "$i": ops.in_place, "$iitem": ops.in_place_item, "$iattr": ops.in_place_attribute, "$attr": attributes.get_attribute,
        "$own": actor_code.check_settable, "$int": int, "$rows": ROWS,
        "$plain": actor_code.PLAIN, "$open": actor_code.OPEN, "$growing": attributes.GROWING, "$type": type,
        "$fit": matching.fit_pattern, "$box": matching.Box, "$manager": matching.Manager, "$format": formatting.f_string,
        "$text": formatting.join_pieces, "$caught": ops.check_caught, "$Exception": Exception, "$any": object,
        **ops.NAMES, **continuations.OPERATORS,
    }


ROOT = (object,)


def build_plain(function, name, names):
    """class, of one that is built on nothing: the same, and no more than it needs."""
    kind = actor_code.Kind(names, (), False)
    actor_code.PENDING.append((name, ROOT, kind))
    try:
        cls = builtins.__build_class__(function, name)
    finally:
        actor_code.PENDING.pop()
    actor_code.register_plain(cls, kind)
    charge(2 * table.call * len(cls.__mro__) + price_definitions(cls, names))
    return cls


def price_definitions(cls, names):
    """The cycles of a class's own definitions."""
    slots = cls.__dict__.get("__slots__", ())
    return ATTRIBUTE * len(names) + SLOT * (len(slots) if type(slots) is tuple else 1)


def build_class(function, name, *bases, **keywords):
    """class: what an actor builds on must be its own, or made for it."""
    if not bases:
        return build_plain(function, name, keywords["$names"])
    real = types.resolve_bases(bases)
    kind = actor_code.prepare_class(real, keywords["$names"])
    actor_code.PENDING.append((name, real or ROOT, kind))
    try:
        cls = builtins.__build_class__(function, name, *bases)
    finally:
        actor_code.PENDING.pop()
    actor_code.register_class(cls, kind)
    charge(price_definitions(cls, keywords["$names"]))
    if not real:
        charge(2 * table.call * len(cls.__mro__))
        return cls
    if len(cls.__mro__) > MAX_BASES:
        raise TypeError("a class with more than %d classes above it" % MAX_BASES)
    charge(2 * table.call * len(cls.__mro__))
    if kind.enumeration:
        charge(400)
    elif issubclass(cls, tuple):
        charge(1000 + 40 * len(getattr(cls, "_fields", ())))
        if "_fields" in cls.__dict__:
            rows.price_class(cls)
    if sealed.Protocol in cls.__bases__:
        cls.__abstractmethods__ = frozenset(("Protocol",))
    if issubclass(cls, sealed.Abstract):
        cls.__abstractmethods__ = frozenset(abstract_names(cls))
    if issubclass(cls, int) and any(int(v).bit_length() > INT_BITS for v in vars(cls).values() if isinstance(v, int)):
        raise OverflowError("a member of more than %d bits" % INT_BITS)
    return cls


MADE = frozenset(("__firstlineno__", "__static_attributes__"))  # by 3.13 in each class; no method


def abstract_names(cls):
    """The methods that a class on abc.ABC still lacks."""
    below = {n for b in cls.__mro__[1:] for n in getattr(b, "__abstractmethods__", ())}
    names = below | set(vars(cls)) - MADE
    charge(len(names) * (16 + len(cls.__mro__)))
    for name in sorted(names):
        found = next((b.__dict__[name] for b in cls.__mro__ if name in b.__dict__), None)
        if type(found) in ABSTRACT and getattr(found, "__isabstractmethod__", False) is True:
            yield name


ABSTRACT = (types.FunctionType, property, staticmethod, classmethod)


def make_namespace():
    """The built-ins of every actor: one dictionary, out of its reach."""
    actor_code.BASES.update(getattr(builtins, e) for e in EXCEPTIONS)
    names = {**plain_names(), **list_operators(), **builtin_types.make_proxies()}
    for e in EXCEPTIONS:
        names[e] = getattr(builtins, e)
    for n in ("object", "property", "staticmethod", "classmethod", "super", "NotImplemented", "Ellipsis"):
        names[n] = getattr(builtins, n)
    names["__build_class__"] = build_class
    names["__name__"] = "actor"
    for t in known_names.TYPES:
        names["$T" + t] = getattr(builtins, t)
    actor_code.BUILTINS[:] = [names]
    return names
