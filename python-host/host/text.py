"""Making text: charged by what it makes, never an address, never a width
beyond MAX_WIDTH, and no format that reads attributes."""

import decimal
import enum
import re
import string

from costs import table
from meter import charge
from ops import ATOMS, SETS, VIEWS, parts, weigh

MAX_WIDTH = 4096
SPEC = re.compile(r"\d+")
PERCENT = re.compile(r"%(?:\((.*?)\))?([#0\- +]*)(\*|\d+)?(?:\.(\*|\d+))?(.)", re.S)


def printable(value):
    """Refuses what would print as an address or in the order of a hash."""
    level = [value]
    while level:
        below = []
        for v in level:
            if type(v) in ATOMS:
                continue
            if isinstance(v, SETS) and len(v) > 1:
                raise TypeError("a set has no order that all nodes share: print sorted(…)")
            t = type(v)
            found = parts(v)
            if not found and not isinstance(v, (str, bytes, bytearray)) and not shows_itself(v, t):
                raise TypeError("%s has no text that all nodes share" % t.__name__)
            for part in found:
                below += part
        level = below


def shows_itself(v, t):
    if isinstance(v, (enum.Enum, range, type, int, tuple)) or v is Ellipsis or v is NotImplemented:
        return True
    return t.__repr__ is not object.__repr__ and (t.__module__ == "actor" or getattr(t, "_host_shown", False))


def made(text):
    charge(table.str + len(text) * table.char)
    return text


def to_str(value):
    if type(value) is str:
        return made(value)
    weigh(value, 1)
    printable(value)
    return made(str(value))


def to_repr(value):
    weigh(value, 1)
    if isinstance(value, bytearray):
        charge(len(value))
    printable(value)
    return made(repr(value))


def to_ascii(value):
    return made(ascii(to_repr(value))[1:-1])


def check_spec(spec):
    charge(len(spec))
    if len(spec) > 64 or any(len(n) > 4 or int(n) > MAX_WIDTH for n in SPEC.findall(spec)):
        raise ValueError("a format wider than %d" % MAX_WIDTH)


def formatted(value, spec=""):
    """format(value, spec)"""
    if type(spec) is not str:
        raise TypeError("a format is a str")
    if not spec:
        return to_str(value)
    check_spec(spec)
    if not isinstance(value, (int, str, decimal.Decimal)):
        weigh(value)
        printable(value)
    if isinstance(value, int) and value.bit_length() > 64:
        charge((value.bit_length() >> 4) ** 2 >> 4)
        if spec[-1] in "eEfFgG%" and value.bit_length() > 900:
            raise OverflowError("an integer too large for this format")
    return made(format(value, spec))


def f_string(value, conversion, spec):
    if conversion == 114:
        value = to_repr(value)
    elif conversion == 115:
        value = to_str(value)
    elif conversion == 97:
        value = to_ascii(value)
    return formatted(value, spec)


def joined(pieces):
    charge(sum(map(len, pieces)) // 16)
    return "".join(pieces)


def str_format(template, *args, **kwargs):
    """str.format with fields that are a number, a name or nothing."""
    charge(len(template))
    out, auto = [], 0
    for literal, field, spec, conversion in string.Formatter().parse(template):
        out.append(literal)
        if field is None:
            continue
        if "{" in spec:
            raise ValueError("a field within a format is not available: use an f-string")
        if field == "":
            field, auto = auto, auto + 1
        if isinstance(field, int) or field.isascii() and field.isdigit() and len(field) < 5:
            value = args[int(field)]
        elif field.isidentifier():
            value = kwargs[field]
        else:
            raise ValueError("a field that reads attributes or elements is not available: use an f-string")
        out.append(f_string(value, ord(conversion) if conversion else -1, spec))
    return joined(out)


def percent(template, values):
    """template % values, with bounded widths."""
    charge(table.str + len(template))
    kind = type(template)
    as_text = template if isinstance(template, str) else template.decode("latin-1")
    out, at, taken = [], 0, 0
    given = values if isinstance(values, tuple) else (values,)
    for m in PERCENT.finditer(as_text):
        name, flags, width, precision, how = m.groups()
        out.append(as_text[at:m.start()])
        at = m.end()
        if how == "%":
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
    if taken < len(given) and not isinstance(values, dict) and taken:
        raise TypeError("not all arguments converted during string formatting")
    if not taken and at == 0 and not isinstance(values, dict) and values != ():
        raise TypeError("not all arguments converted during string formatting")
    text = joined(out + [rest])
    return text if kind is str else kind(text.encode("latin-1"))


def one_percent(kind, value, flags, width, precision, how):
    if isinstance(value, decimal.Decimal):
        raise TypeError("% takes no Decimal: use an f-string")
    spec = "%" + flags + (width or "") + ("." + precision if precision is not None else "") + how
    if how in "sra":
        if kind is str:
            shown = {"s": to_str, "r": to_repr, "a": to_ascii}[how](value)
            return made((spec[:-1] + "s") % (shown,))
        if how == "s" and not isinstance(value, (bytes, bytearray)):
            raise TypeError("%s in bytes takes bytes")
        if how == "s":
            return made((spec.encode() % (bytes(value),)).decode("latin-1"))
        return made((spec[:-1] + "s") % (to_ascii(value),))
    if isinstance(value, int) and value.bit_length() > 64:
        charge((value.bit_length() >> 4) ** 2 >> 4)
        if how in "eEfFgG" and value.bit_length() > 900:
            raise OverflowError("an integer too large for this format")
    if kind is not str and how == "b":
        return made((spec.encode() % (bytes(value),)).decode("latin-1"))
    return made(spec % (value,))


def attach(names):
    names.update({"$format": f_string, "$text": joined})
