"""Which names the host knows: built-ins, types, and the methods of built-in
types. Reading an attribute of one of those names goes through ops.attr; any
other name can only be the actor's own or a library's."""

import collections
import decimal
import re

TYPES = frozenset("int bool str bytes bytearray list tuple dict set frozenset range".split())
FUNCTIONS = frozenset(
    "abs all any ascii bin callable chr delattr divmod enumerate filter format getattr hasattr hex isinstance "
    "issubclass iter len map max min next oct ord pow print repr reversed round setattr sorted sum type zip".split()
)
BUILTINS = TYPES | FUNCTIONS


def _generator():
    yield


_VALUES = (
    0, True, "", b"", bytearray(), [], (), {}, set(), frozenset(), range(0), _generator(), collections.deque(),
    collections.defaultdict(), collections.OrderedDict(), collections.Counter(), collections.ChainMap(),
    decimal.Decimal(0), re.compile(""), re.match("", ""), {}.keys(), {}.items(), {}.values(), iter([]), iter({}),
    iter(""), property(), iter(range(0)), collections.OrderedDict().keys(), memoryview(b""), slice(0), type,
)
METHOD_NAMES = frozenset(
    name for value in _VALUES for name in dir(type(value) if not isinstance(value, type) else value)
    if not (name.startswith("__") and name.endswith("__"))
) - {"append", "mro"}
# A name that one version of Python has and another lacks would be charged
# differently, so the set is what 3.11 to 3.14 have between them.
METHOD_NAMES |= {"is_integer", "prefixes", "has_uniform"}
