"""Gas bidding agents and priority tiers (CIP-1 §7).

    def get_gas_bid(context):
        late = context.current_block_height - context.trigger_block_height
        tip = 10 * (1 + late)
        return TxFeeParams(max_fee_per_cycle=2 * context.basefee_lane_timer + tip,
                           max_priority_fee_per_cycle=tip)

The chain calls get_gas_bid read-only when a timer is due. The protocol's own agent fills in the
fields that an answer omits. If it fails, it is not asked again in
that block, and the protocol's own agent answers; its prints are in the actor's log.

Under the policy gba the context has neither basefee_lane_timer nor
previous_block_p50_priority_tip_per_cycle, as in CIP-1's first revision: an agent
for both asks with getattr(context, name, default).
"""

from host import cbor, exact, meter, representation
from host.attribute_tables import show_attributes
from host.sealed import Sealed

CONTEXT = (
    "trigger_block_height current_block_height basefee_cycle basefee_cell basefee_lane_timer last_block_cycle_usage "
    "previous_block_p50_priority_tip_per_cycle owner_actor_balance"
).split()
PARAMS = "max_fee_per_cycle max_priority_fee_per_cycle max_fee_per_cell max_priority_fee_per_cell".split()
MAX_WEI = (1 << 256) - 1


class _Record(Sealed):
    """Named numbers that cannot be changed."""

    __slots__ = ()


def read_number(text, record):
    given = ((n, getattr(record, n, None)) for n in record.__slots__)
    return representation.show_fields(type(record).__name__, [(n, text.repr(v)) for n, v in given if v is not None])


class GBAContext(_Record):
    """The chain's view for an agent: heights in blocks, amounts in wei."""

    __slots__ = tuple(CONTEXT)

    def __init__(self, **known):
        meter.charge(len(known))
        for n, v in known.items():
            if n not in CONTEXT:
                raise TypeError("GBAContext has no %s" % n)
            object.__setattr__(self, n, exact.plain_value(v))


class TxFeeParams(_Record):
    """An agent's answer, in wei per unit; the protocol fills in a field that is None."""

    __slots__ = tuple(PARAMS)

    def __init__(self, max_fee_per_cycle=None, max_priority_fee_per_cycle=None, max_fee_per_cell=None,
                 max_priority_fee_per_cell=None):
        meter.charge(len(PARAMS))
        for n, v in zip(PARAMS, (max_fee_per_cycle, max_priority_fee_per_cycle, max_fee_per_cell, max_priority_fee_per_cell)):
            if v is not None:
                if not isinstance(v, int) or isinstance(v, bool):
                    raise TypeError("%s is an int, in wei, not %s" % (n, type(v).__name__))
                v = exact.require_integer(v)
                if not 0 <= v <= MAX_WEI:
                    raise ValueError("%s lies outside 0..2^256-1" % n)
            object.__setattr__(self, n, v)


class Tier(_Record):
    """A hint how urgent a timer is."""

    __slots__ = ("name", "value")

    def __init__(self, name, value):
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "value", value)


representation.RECORDS.update({GBAContext: read_number, TxFeeParams: read_number, Tier: lambda _text, tier: "PriorityTier." + tier.name})
show_attributes(Tier, "name value")
TIERS = {n: Tier(n, n.lower()) for n in ("ECONOMY", "STANDARD", "FAST", "URGENT")}


def make_context(payload):
    """The GBAContext that the chain sent."""
    try:
        told = cbor.decode_map(payload)
    except cbor.Malformed as e:
        raise cbor.Malformed("get_gas_bid takes its context from the chain, as a CBOR map: %s" % e) from None
    return GBAContext(**{n: told[n] for n in CONTEXT if n in told})


def encode_answer(found):
    """The chain's form of a handler's TxFeeParams; any other value is unchanged."""
    if type(found) is not TxFeeParams:
        return found
    return cbor.encode_map({n: getattr(found, n) for n in PARAMS if getattr(found, n) is not None})
