"""The text of values: str and repr, made here.

Python's own would print addresses: of a function, or of a defaultdict's factory, or in a list
that an author's __repr__ changes while it is printed. It would also print the order of hashes,
and texts that differ between versions. Here every type has its own function; a type without one
has no text.

An author's __repr__ or __str__ runs within the message as any code of his. With
own=False it does not run at all, and what would need it has no text: so are
errors explained whose message is over.
"""

import collections
import decimal
import types

from host import actor_code, attributes, enums, sealed, words
from host.meter import NESTING, charge, meter, refuse_depth
from host.weights import ITEMS, VIEWS, WALKED


def no_text(t):
    raise TypeError("%s has no text that all nodes share" % t.__name__)


NESTED = 10  # cycles of a value whose text is made of others'


class Text:
    """The making of one text."""

    __slots__ = ("own", "depth", "ran", "left")

    def __init__(self, own=True):
        self.own = own  # the author's code may run
        self.depth = 0
        self.ran = False  # it did: what was weighed before may have grown
        self.left = MAX_EXPLAINED  # of work that is not charged

    def take(self, v):
        """Counts what is shown without a charge."""
        self.left -= 1 + (len(v) if type(v) in SIZED else 0)
        if self.left < 0:
            raise ValueError("too much to show")

    def repr(self, v):
        t = type(v)
        if not self.own:
            self.take(v)
        if t in ATOMS:
            return repr(v)
        show = SHOWN.get(t)
        if show is not None:
            return self.show_nested(show, v)
        if actor_code.kind_of(t) is not None:
            return self.of_own(v, t, "__repr__")
        return self.of_host(v, t)

    def str(self, v):
        t = type(v)
        if not self.own:
            self.take(v)
        if t is str:
            return v
        if t is decimal.Decimal:
            return str(v)
        if t in ATOMS or t in SHOWN:
            return self.repr(v)
        if actor_code.kind_of(t) is not None:
            return self.of_own(v, t, "__str__")
        if isinstance(v, BaseException):
            return self.show_nested(error_text, v)
        return self.of_host(v, t)

    def show_nested(self, show, v):
        """One level of nesting: bounded, and counted as a call is."""
        self.depth += 1
        if self.depth > NESTING:
            raise ValueError("values nested deeper than %d levels" % NESTING)
        meter[1] += 1
        if self.own:
            if meter[1] > meter[2]:
                refuse_depth()
            charge(NESTED)
        try:
            return show(self, v)
        finally:
            self.depth -= 1
            meter[1] -= 1

    def show_each(self, values):
        """The texts of a container's elements, as they are now."""
        values = list(values)
        if self.ran:
            charge(len(values) + WALKED)
        return [self.repr(v) for v in values]

    def show_pairs(self, items):
        values = list(items)
        if self.ran:
            charge(2 * len(values) + WALKED)
        return ["%s: %s" % (self.repr(k), self.repr(v)) for k, v in values]

    def of_host(self, v, t):
        if isinstance(v, BaseException):
            return self.show_nested(error_repr, v)
        if isinstance(v, type):
            return type.__repr__(v) if type(v) is type else enums.EnumType.__repr__(v)
        if t is sealed.Type or t is sealed.Union or t is sealed.Alias:
            return repr(v)
        record = RECORDS.get(t)
        if record is None:
            no_text(t)
        return self.show_nested(record, v)

    def of_own(self, v, t, name):
        """The author's method if there is one, otherwise the base's."""
        if self.own:
            charge(len(t.__mro__))
        for base in t.__mro__:
            for special in ("__repr__",) if name == "__repr__" else ("__str__", "__repr__"):
                found = base.__dict__.get(special)
                if found is not None and base in actor_code.KINDS and is_authored(found):
                    return self.show_own(v, special)
        return self.of_base(v, t, name == "__str__")

    def show_own(self, v, special):
        if not self.own:
            no_text(type(v))
        self.ran = True
        return str.__str__(repr(v) if special == "__repr__" else str(v))

    def of_base(self, v, t, as_str):
        if isinstance(v, enums.Enum):
            return self.show_nested(member_str if as_str else member_repr, v)
        if isinstance(v, BaseException):
            return self.show_nested(error_text if as_str else error_repr, v)
        if isinstance(v, str):
            return str.__str__(v) if as_str else str.__repr__(v)
        if isinstance(v, int):
            return int.__repr__(v)
        if isinstance(v, tuple):
            return self.show_nested(show_row, v)
        if "__dataclass_fields__" in t.__dict__ or hasattr(t, "__dataclass_fields__"):
            return self.show_nested(show_record, v)
        return "<%s>" % t.__name__


def is_authored(found):
    """Whether the author wrote a method of an actor's class, not a library."""
    t = type(found)
    return actor_code.is_function(found) or t is not types.FunctionType and t is not types.WrapperDescriptorType


def as_str(value):
    t = type(value)
    if t is str:
        return value
    if t in ATOMS:
        return str(value)
    return Text().str(value)


def as_repr(value):
    if type(value) in ATOMS:
        return repr(value)
    return Text().repr(value)


enums.shown = as_repr
ATOMS = frozenset((int, bool, str, bytes, bytearray, type(None), decimal.Decimal, range, type(Ellipsis), type(NotImplemented)))


SIZED = frozenset((str, bytes, bytearray, list, tuple, dict))
MAX_EXPLAINED = 100_000  # elements and characters of an error's text


def of_list(text, v):
    return "[%s]" % ", ".join(text.show_each(v))


def of_tuple(text, v):
    shown = text.show_each(tuple.__iter__(v))
    return "(%s,)" % shown[0] if len(shown) == 1 else "(%s)" % ", ".join(shown)


def of_dict(text, v):
    return "{%s}" % ", ".join(text.show_pairs(v.items()))


def of_set(text, v):
    if len(v) > 1:
        raise TypeError("a set has no order that all nodes share: print sorted(…)")
    shown = "{%s}" % ", ".join(text.show_each(v)) if v else ""
    if type(v) is set:
        return shown or "set()"
    return "frozenset(%s)" % shown


def of_deque(text, v):
    shown = of_list(text, v)
    return "deque(%s)" % shown if v.maxlen is None else "deque(%s, maxlen=%d)" % (shown, v.maxlen)


def of_view(text, v):
    if type(v) in ITEMS:
        shown = ["(%s, %s)" % (text.repr(k), text.repr(e)) for k, e in list(v)]
    else:
        shown = text.show_each(v)
    return "%s([%s])" % (type(v).__name__, ", ".join(shown))


COUNTS = frozenset((int, bool, str, bytes, decimal.Decimal))


def of_counter(text, v):
    items = list(v.items())
    if len(items) > 1 and not all(type(n) in COUNTS or isinstance(n, int) for _, n in items):
        raise TypeError("a Counter of other than numbers and texts has no text that all nodes share: print dict(…)")
    try:
        items.sort(key=lambda kv: kv[1], reverse=True)
    except TypeError:
        items = list(v.items())
    return "Counter({%s})" % ", ".join(text.show_pairs(items)) if items else "Counter()"


def of_ordered(text, v):
    return "OrderedDict(%s)" % (of_dict(text, v) if v else "")


def of_default(text, v):
    made = v.default_factory
    if actor_code.is_function(made):
        made = "<function %s>" % made.__name__
    else:
        made = text.repr(made)
    return "defaultdict(%s, %s)" % (made, of_dict(text, v))


SHOWN = {
    list: of_list, tuple: of_tuple, dict: of_dict, set: of_set, frozenset: of_set, collections.deque: of_deque,
    collections.Counter: of_counter, collections.OrderedDict: of_ordered, collections.defaultdict: of_default,
    **{v: of_view for v in VIEWS},
}
RECORDS = {}  # type of the host's → how its instances look


def show_fields(name, pairs):
    return "%s(%s)" % (name, ", ".join("%s=%s" % p for p in pairs))


def show_row(text, v):
    """A named tuple's, of exactly its fields."""
    names = next((b.__dict__["_fields"] for b in type(v).__mro__ if "_fields" in b.__dict__), None)
    if type(names) is not tuple:
        return of_tuple(text, v)
    return show_fields(type(v).__name__, zip(names, text.show_each(tuple.__iter__(v))))


def show_record(text, v):
    """A dataclass's."""
    shown = [n for n, f in type(v).__dataclass_fields__.items() if f.repr]
    read = object.__getattribute__ if text.own else read_attribute
    return show_fields(type(v).__qualname__, [(n, text.repr(read(v, n))) for n in shown])


def as_record(self):
    """The __repr__ of a dataclass, where something else than this module asks for it."""
    return Text().show_nested(show_record, self)


def read_attribute(v, name):
    """An attribute that can be read without running code."""
    found = attributes.object_dict(v)
    return found[name] if name in found else no_text(type(v))


def member_name(v):
    return v._name_ if type(v._name_) is str else None


def member_repr(text, v):
    name, value = member_name(v), text.repr(v._value_)
    return "<%s: %s>" % (type(v).__name__, value) if name is None else "<%s.%s: %s>" % (type(v).__name__, name, value)


def member_str(text, v):
    if isinstance(v, enums.ReprEnum):
        return str.__str__(v) if isinstance(v, str) else int.__repr__(v)
    name = member_name(v)
    if name is None:
        return "%s(%s)" % (type(v).__name__, text.repr(v._value_))
    return "%s.%s" % (type(v).__name__, name)


def error_args(text, e):
    """The arguments of an error, each as a text."""
    return text.show_each(attributes.error_arguments(e))


def error_repr(text, e):
    return "%s(%s)" % (type(e).__name__, ", ".join(error_args(text, e)))


def error_text(text, e):
    args = attributes.error_arguments(e)
    special = next((ERRORS[b] for b in type(e).__mro__ if b in ERRORS), None)
    if special is not None:
        return special(text, e)
    if not args:
        return ""
    if len(args) > 1:
        shown = error_args(text, e)
        return "(%s)" % ", ".join(shown)
    return (text.repr if isinstance(e, KeyError) else text.str)(args[0])


def of_codec(text, e):
    if type(e.encoding) is not str or type(e.reason) is not str:
        no_text(type(e))
    reason = ": " + e.reason if words.has_own_arguments(e) and e.reason else ""
    return "%s does not fit position %d%s" % (e.encoding, e.start, reason)


def explain_error(e):
    """The text of an error whose message has ended; "" if it has none."""
    try:
        return Text(own=False).str(e)
    except Exception:
        return ""


def tell_error(e):
    """The text of such an error for people, which no receipt holds: CPython's, where C raised it."""
    if type(e) in (UnicodeDecodeError, UnicodeEncodeError) and not words.has_own_arguments(e):
        return str(e)
    raw = BaseException.args.__get__(e)
    if len(raw) == 1 and type(raw[0]) is str and not isinstance(e, KeyError) and not words.has_own_arguments(e):
        if raw[0].startswith("Exceeds the limit"):
            return "an integer of more than 4300 digits has no text"
        return attributes.without_address(raw[0])
    return explain_error(e)


ERRORS = {  # type → its text
    UnicodeDecodeError: of_codec, UnicodeEncodeError: of_codec, decimal.DecimalException: lambda _text, _e: "",
}
