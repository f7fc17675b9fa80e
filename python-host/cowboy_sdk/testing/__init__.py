"""Tests of actors, on a real network in virtual time.

    from cowboy_sdk.testing import Chain, SimulatedChain, expect_revert, expect_event

    def test_add(chain):                       # the pytest fixture: a fresh network for each test
        counter = chain.deploy("counter.py")
        assert counter.call("add", "2").output == b"2"
        with expect_revert("user_error"):
            counter.call("add", "two")

The network is the one that scenarios run on: the same consensus, timers, fees and faults, in a separate `devnet bench` process. No actor
can import this.
"""

from cowboy_sdk.testing import offchain  # first: it makes an actor's file importable
from cowboy_sdk.client.answers import Event, Receipt
from cowboy_sdk.testing.actors import Actor, Timer
from cowboy_sdk.testing.chain import CBY, Chain, Snapshot
from cowboy_sdk.testing.conversation import DevnetError, DevnetGone
from cowboy_sdk.testing.errors import Reverted, expect_event, expect_revert
from cowboy_sdk.testing.mocks import fails, reverts
from cowboy_sdk.testing.nodes import Runner, Validator
from cowboy_sdk.testing.simulated import SimulatedChain
from cowboy_sdk.testing.unit import TestCase

__all__ = (
    "CBY Actor Chain DevnetError DevnetGone Event Receipt Reverted Runner SimulatedChain Snapshot TestCase Timer Validator expect_event "
    "expect_revert fails reverts"
).split()
