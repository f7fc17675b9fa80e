"""CIP-3's table as data. The chain sends it at the start, and when it changes.

The spec's table is partial; other operations are charged by the nearest entry. An attribute or
a statement costs as arithmetic, a tuple as arithmetic per element. A byte moved or compared in
bulk costs a sixteenth of a cycle.
"""

from host.protocol import DEFAULT_COSTS


class Table:
    """One attribute an entry; a change takes effect with the next message."""


table = Table()


def install_costs(costs):
    if set(costs) != set(DEFAULT_COSTS):
        raise ValueError("the table of costs has other names than %s" % ", ".join(DEFAULT_COSTS))
    for name, value in costs.items():
        setattr(table, name, value)


install_costs(DEFAULT_COSTS)
