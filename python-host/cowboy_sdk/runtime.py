"""pvm_host under the SDK's names, and the context of the message."""

from host import chain, meter
from pvm_host import *  # noqa: F403: it mirrors them all
from pvm_host import __all__ as _names

__all__ = list(_names) + "get_sender get_block_height get_timestamp_ms get_tx_hash get_actor_address".split()


def get_sender():
    """The caller or sender; for a timer the actor itself."""
    meter.charge(1)
    return chain.now.about.sender


def get_block_height():
    """The height of the block this message runs in."""
    meter.charge(1)
    return chain.now.about.height


def get_timestamp_ms():
    """That block's time, in milliseconds since 1970."""
    meter.charge(1)
    return chain.now.about.timestamp


def get_tx_hash():
    """The transaction's hash; 32 zeros when a timer fires."""
    meter.charge(1)
    return chain.now.about.tx_hash


def get_actor_address():
    """This actor's address."""
    meter.charge(1)
    return chain.now.about.me
