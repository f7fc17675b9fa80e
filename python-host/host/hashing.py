"""Tables of hashes: the cost of finding a key, even if an attacker chose the keys.

Texts and bytes are hashed with a secret seed, so that they need few probes whatever they are.
Other hashes follow from the value. An actor that chooses the keys chooses how many of a table's
entries a look-up meets: at worst all of them. A look-up is charged for a share of the entries
that grows with the table, never for CPython's actual probes, which differ between versions and
seeds:

- NEAR keys (small numbers, short tuples of such) meet entries of other hashes,
  a few nanoseconds each: one cycle for 64 entries.
- others can be made to have equal hashes, so each is compared: five cycles for 32
  entries of numbers and tuples, six of Decimals, two an entry of objects, times what
  the key weighs.
"""

from collections import deque
from decimal import Decimal

from host import actor_code, meter, weights
from host.enums import Enum
from host.meter import charge, cycles_left
from host.weights import ITEMS, KEYS, SETS, VALUES, size_of, charge_span, weigh_value

DEAR_BITS = 1024  # of an integer, above which comparing it with a Decimal is charged for each entry
FEW = 16  # entries that a look-up's own price covers
LONG = 256  # bytes of a text whose comparison is charged
NEAR_BITS = 60  # of all integers of a key: distinct ones have distinct hashes
MEMBER = 14  # cycles of the hash of a member of an enumeration, which Python code makes
FREE, NEAR, EQUAL, OBJECT = range(4)
INDICES = frozenset((int, str, bytes))
PLAIN = (int, tuple, Decimal, frozenset)


def kind_of_key(key):
    """How its author can choose the hash of a key."""
    t = type(key)
    if t is str or t is bytes:
        return FREE
    if t is int:
        return NEAR if key.bit_length() <= NEAR_BITS else EQUAL
    if t is tuple:
        total, chosen = 0, False
        for x in key:
            t = type(x)
            if t is int:
                total += x.bit_length()
                chosen = True
            elif t is bool or x is None:
                chosen = True
            elif t is not str and t is not bytes:
                return EQUAL if t in PLAIN else OBJECT
        return FREE if not chosen else NEAR if total <= NEAR_BITS else EQUAL
    if t is bool or key is None:
        return NEAR
    if isinstance(key, Enum) and t.__hash__ is Enum.__hash__:
        charge(4)
        return FREE
    return EQUAL if t in PLAIN else OBJECT


def charge_lookup(n, key):
    """Charges for hashing key and finding it among n entries."""
    t = type(key)
    if t is str or t is bytes:
        if len(key) > LONG:
            charge(len(key) >> 7)
        return
    if t is int and key.bit_length() <= NEAR_BITS:
        if n > 63:
            charge(n >> 6)
        return
    before = cycles_left()
    if isinstance(key, Enum):
        charge(MEMBER)
        if t.__hash__ is Enum.__hash__:
            return  # the hash of its name, and no member is equal to another
    if t is not int or key.bit_length() > 64:
        weigh_value(key)
    dear = meter.account.decimals and meter.account.largest > DEAR_BITS
    if n < FEW and not dear:
        return
    how = kind_of_key(key)
    if dear and how >= EQUAL:
        charge(n * weights.as_decimal(meter.account.largest))
    if how == NEAR:
        charge(n >> 6)
    elif how == EQUAL:
        charge((n * (6 if t is Decimal else 5) >> 5) * (1 + (before - cycles_left() >> 3)))
    elif how == OBJECT:
        charge(2 * n * (1 + (before - cycles_left() >> 3)))


def charge_lookups(n, keys):
    """Charges for finding or putting each of keys in a table of n entries or more.

    Each key is charged at the final size of the table. So the order of the keys, which in a set
    follows from their hashes, makes no difference."""
    types = set(map(type, keys))
    if types <= {str, bytes}:
        return
    if types == {int} and -1 << NEAR_BITS < min(keys) and max(keys) < 1 << NEAR_BITS:
        charge(len(keys) * (n + len(keys) >> 6))
        return
    n += len(keys)
    for key in keys:
        charge_lookup(n, key)


def table_size(c):
    """The number of c's entries of hashes; 0 if it has none."""
    if isinstance(c, dict):
        return dict.__len__(c)
    return len(c) if isinstance(c, SETS) else 0


def rebuild_if_shrunk(c):
    """A deleted entry still lies in the way: the table is rebuilt each time its size falls to a
    power of two."""
    n = len(c)
    if n >= FEW and n & (n - 1) == 0:
        charge_rebuild(c)


def charge_rebuild(c):
    charge(2 * len(c))
    kept = c.copy()
    c.clear()
    c.update(kept)


def get_item(c, k):
    """c[k]"""
    t = type(c)
    if t is list or t is tuple:
        return c[k]
    if isinstance(c, dict):
        charge_lookup(dict.__len__(c), k)
    elif t is deque:
        charge(len(c) >> 8)
    elif t is range:
        charge_span(c.start, c.stop, c.step)
    elif type(k) not in INDICES:
        weigh_value(k)
    return c[k]


def set_item(v, c, k):
    """c[k] = v"""
    if type(c) is list:
        c[k] = v
        return
    if isinstance(c, dict):
        charge_lookup(dict.__len__(c), k)
    elif type(c) is deque:
        charge(len(c) >> 8)
    else:
        check_changeable(c, "__setitem__", "assignment", k)
        if type(k) not in INDICES:
            weigh_value(k)
    c[k] = v


def delete_item(c, k):
    """del c[k]"""
    if isinstance(c, dict):
        charge_lookup(dict.__len__(c), k)
        del c[k]
        rebuild_if_shrunk(c)
        return
    check_changeable(c, "__delitem__", "deletion", k)
    charge(size_of(c) >> 4)
    del c[k]


UNCHANGED = frozenset((str, bytes, tuple, range, *SETS, *KEYS, *ITEMS, *VALUES))  # whose index Python looks at first


def check_changeable(c, method, what, key=None):
    """Refuses what has no items to change. Python looks at the index first in UNCHANGED and where the type was
    made at run time: of which types of libraries that is true is for each version to say."""
    t = type(c)
    if not hasattr(t, method):
        if isinstance(key, int) and not -1 << 63 <= key < 1 << 63 and (t in UNCHANGED or actor_code.kind_of(t) is not None):
            raise IndexError("cannot fit 'int' into an index-sized integer")
        raise TypeError("'%s' object does not support item %s" % (type(c).__name__, what))


def target_container(c):
    """c of c[k] among several targets, whose key is not seen: the dearest kind of number."""
    check_changeable(c, "__setitem__", "assignment")
    charge(table_size(c) >> 3)
    return c


def set_of(elements):
    """A set comprehension, element by element."""
    made = set()
    for x in elements:
        charge_lookup(len(made), x)
        made.add(x)
    return made


def dict_of(pairs):
    """A dict comprehension."""
    made = {}
    for k, v in pairs:
        charge_lookup(len(made), k)
        made[k] = v
    return made
