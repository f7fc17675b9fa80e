"""unittest's side: a chain for each test."""

import os
import unittest

from cowboy_sdk.testing.chain import Chain
from cowboy_sdk.testing.seeds import replay


class TestCase(unittest.TestCase):
    """Its tests have self.chain, which is at genesis when each begins. options are Chain's.

    setUp of a subclass calls super().setUp() first; what it deploys there is made once.
    """

    options = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seed = int(os.environ.get("DEVNET_SEED", "1"), 0)
        http = os.environ.get("DEVNET_TEST_HTTP")
        if http and cls.options:
            raise unittest.SkipTest("it asks for a network of its own, and the tests run on the one at " + http)
        cls.chain = Chain(cls.seed, http=http, **cls.options)
        cls.addClassCleanup(cls.chain.close)

    def setUp(self):
        super().setUp()
        self.chain.restart()

    def _formatMessage(self, msg, standardMsg):
        return "%s\n%s" % (super()._formatMessage(msg, standardMsg), replay(self.seed, self.id(), unit=True))
