"""Making text: charged by its length, never a width beyond MAX_WIDTH, and no format that reads
attributes. representation defines how values look."""

import collections
import decimal
import operator
import re
import string

from host import enums, representation, sealed
from host.costs import table
from host.exact import plain_value
from host.meter import charge, cycles_left
from host.weights import weigh_value

MAX_WIDTH = 4096
FIELD = 3  # cycles of a field of a template of %, besides its text
ERROR = 128  # characters that the text of an error costs as; one that has more costs what it has
SPEC = re.compile(r"\d+")
DECIMAL_SPEC = re.compile(r"(?:.?[<>=^])?[-+ ]?0?\d*,?(?:\.\d+)?[eEfFgG%]?", re.S)  # 3.13 asks a missing module for others
PERCENT = re.compile(r"%(?:\((.*?)\))?([#0\- +]*)(\*|\d+)?(?:\.(\*|\d+))?(.)", re.S)


class Words(str):
    """The text of an error, on its way into a longer text."""

    __slots__ = ()


def charge_text(text):
    charge(table.str + len(text) * table.char)
    return text


def to_str(value):
    if type(value) is str:
        return charge_text(value)
    if isinstance(value, BaseException):
        return of_error(value, representation.as_str)
    weigh_value(value, 1)
    return charge_text(representation.as_str(value))


def of_error(value, make):
    """The text of an error, for one price: no version's words move a cycle (decision C20)."""
    before = cycles_left()
    weigh_value(value, 1)
    text = charge_text(make(value))
    charge(max(table.str + 2 * ERROR - (before - cycles_left()), 0))
    return text


def text_piece(value):
    """str(value), to be joined with others."""
    return Words(to_str(value)) if isinstance(value, BaseException) else to_str(value)


def to_repr(value, /):
    if isinstance(value, BaseException):
        return of_error(value, representation.as_repr)
    weigh_value(value, 1)
    if isinstance(value, bytearray):
        charge(len(value))
    return charge_text(representation.as_repr(value))


def to_ascii(value, /):
    return charge_text(to_repr(value).encode("ascii", "backslashreplace").decode())


def check_spec(spec):
    charge(len(spec))
    if len(spec) > 64 or any(len(n) > 4 or int(n) > MAX_WIDTH for n in SPEC.findall(spec)):
        raise ValueError("a format wider than %d" % MAX_WIDTH)


def format_value(value, spec="", /):
    """format(value, spec)"""
    if type(spec) is not str:
        raise TypeError("a format is a str")
    if not spec:
        return to_str(value)
    check_spec(spec)
    value = formattable_value(value)
    if type(value) is decimal.Decimal and not DECIMAL_SPEC.fullmatch(spec):
        raise ValueError("invalid format string")
    if type(value) is int and value.bit_length() > 64:
        charge((value.bit_length() >> 4) ** 2 >> 4)
        if spec[-1] in "eEfFgG%" and value.bit_length() > 900:
            raise OverflowError("an integer too large for this format")
    return charge_text(str.__format__(value, spec) if isinstance(value, str) else format(value, spec))


def formattable_value(value):
    """The int, str or Decimal whose format a value has."""
    t = type(value)
    if t is int or t is str or t is bool or t is decimal.Decimal:
        return value
    if isinstance(value, enums.Enum) and not isinstance(value, enums.ReprEnum):
        return representation.as_str(value)
    if isinstance(value, str):
        return value  # an instance of a class on str, which a format that changes nothing gives back
    value = plain_value(value)
    if type(value) is not int:
        raise TypeError("unsupported format string passed to %s.__format__" % t.__name__)
    return value


def f_string(value, conversion, spec):
    if isinstance(value, BaseException) and not spec and conversion != 97:
        return Words(of_error(value, representation.as_repr if conversion == 114 else representation.as_str))
    if conversion == 114:
        value = to_repr(value)
    elif conversion == 115:
        value = to_str(value)
    elif conversion == 97:
        value = to_ascii(value)
    return format_value(value, spec)


def join_pieces(pieces):
    size = sum(map(len, pieces))
    if Words in map(type, pieces):
        size += sum(max(ERROR - len(p), 0) for p in pieces if type(p) is Words)
    charge(size // 16)
    if len(pieces) == 1 and type(pieces[0]) is not Words:
        return pieces[0]  # which may be of a class on str
    return "".join(pieces)


def str_format(template, /, *args, **kwargs):
    """str.format with fields that are a number, a name or nothing."""
    given, template = template, plain_value(template)
    charge(len(template))
    out, auto, numbered = [], 0, False
    for literal, field, spec, conversion in string.Formatter().parse(template):
        out.append(literal)
        if field is None:
            continue
        if "{" in spec:
            raise ValueError("a field within a format is not available: use an f-string")
        if field == "":
            field, auto = auto, auto + 1
        if isinstance(field, int) or field.isascii() and field.isdigit() and len(field) < 5:
            numbered = numbered or not isinstance(field, int)
            if auto and numbered:
                raise ValueError("fields are numbered all, or none")
            value = args[int(field)]
        elif field.isidentifier():
            value = kwargs[field]
        else:
            raise ValueError("a field that reads attributes or elements is not available: use an f-string")
        out.append(f_string(value, ord(conversion) if conversion else -1, spec))
    if len(out) > 1 and not isinstance(out[-1], Words) and type(out[-1]) is not str and not any(map(len, out[:-1])):
        return out[-1]  # of a class on str, and all that there is
    return unless_alone(given, template, out)


def unless_alone(given, template, pieces):
    """The pieces joined; the template as it was given where it has no fields, which may be one of a class on str."""
    made = join_pieces(pieces)
    return given if given is not template and len(pieces) == 1 and made == template else made


def has_items(values, kind):
    """Whether % takes values for a mapping, all of which need not be named."""
    apart = (tuple, str) if kind is str else (tuple, str, bytes, bytearray)
    classes = type(values).__mro__
    charge(len(classes))
    items = any("__getitem__" in vars(c) for c in classes)  # of its own: that of an enumeration gives members
    return items and not isinstance(values, apart + (collections.deque, sealed.Sealed))


def format_percent(template, values):
    """template % values, with bounded widths."""
    whole, template = template, plain_value(template)
    kind = type(template)
    as_text = template if kind is str else template.decode("latin-1")
    charge(table.str + len(template) + FIELD * (as_text.count("%") + 1))  # one more for its end
    out, at, taken = [], 0, 0
    given = values if isinstance(values, tuple) else (values,)
    for m in PERCENT.finditer(as_text):
        name, flags, width, precision, how = m.groups()
        out.append(as_text[at:m.start()])
        at = m.end()
        if how == "%":
            if kind is not str and m.end() - m.start() > 2:
                raise ValueError("unsupported format character '%'")
            out.append("%")
            continue
        if "*" in (width, precision):
            raise ValueError("a width of * is not available: use an f-string")
        check_spec((width or "") + " " + (precision or ""))
        if name is not None:
            value = values[name if kind is str else name.encode("latin-1")]
        else:
            if taken >= len(given):
                raise TypeError("not enough arguments for format string")
            value, taken = given[taken], taken + 1
        out.append(one_percent(kind, value, flags, width, precision, how))
    rest = as_text[at:]
    if "%" in rest:
        raise ValueError("incomplete format")
    if taken < len(given) and not has_items(values, kind):
        raise TypeError("not all arguments converted during string formatting")
    text = unless_alone(whole, template, out + [rest]) if kind is str else join_pieces(out + [rest])
    return text if kind is str else kind(text.encode("latin-1"))


def one_percent(kind, value, flags, width, precision, how):
    if isinstance(value, decimal.Decimal):
        raise TypeError("% takes no Decimal: use an f-string")
    if isinstance(value, BaseException) and how in "sr" and kind is str and not (flags or width or precision):
        return Words(of_error(value, representation.as_str if how == "s" else representation.as_repr))
    spec = "%" + flags + (width or "") + ("." + precision if precision is not None else "") + how
    if how in "sra":
        if kind is str:
            shown = {"s": to_str, "r": to_repr, "a": to_ascii}[how](value)
            return charge_text((spec[:-1] + "s") % (shown,))
        if how == "s" and not isinstance(value, (bytes, bytearray)):
            raise TypeError("%s in bytes takes bytes")
        if how == "s":
            return charge_text((spec.encode() % (bytes(value),)).decode("latin-1"))
        return charge_text((spec[:-1] + "s") % (to_ascii(value),))
    value = plain_value(value)
    if how != "b" and type(value) not in (int, bool, str, bytes):
        value = operator.index(value)
    if isinstance(value, int) and value.bit_length() > 64:
        charge((value.bit_length() >> 4) ** 2 >> 4)
        if how in "eEfFgG" and value.bit_length() > 900:
            raise OverflowError("an integer too large for this format")
    if kind is not str and how == "b":
        return charge_text((spec.encode() % (bytes(value),)).decode("latin-1"))
    return charge_text(spec % (value,))
