"""Typed handles of actors: what `devnet actor client NAME --lang py` makes is built on this.

    from club import Club

    def test_join(chain):
        club = Club(chain.deploy("club.py"))
        receipt = club.join(who="bob", amount=5, sender="bob")
        assert receipt.value == 1

A wrong argument is a WrongValue before anything is sent. It speaks the tests' conversation (cowboy_sdk.testing): Chain, or
Chain(http=URL) for a network that runs.
"""

from cowboy_sdk.client.handle import AddressLike, Handle, Handlers, Receipt, Terms
from cowboy_sdk.client.values import Schema, WrongValue

__all__ = "AddressLike Handle Handlers Receipt Schema Terms WrongValue".split()
