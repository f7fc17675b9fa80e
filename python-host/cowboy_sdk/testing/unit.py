"""unittest's side: a chain for each test."""

import os
import unittest
from contextlib import contextmanager

from cowboy_sdk.testing import explain
from cowboy_sdk.testing.chain import Chain
from cowboy_sdk.testing.conversation import DevnetError
from cowboy_sdk.testing.errors import Reverted
from cowboy_sdk.testing.seeds import replay_words, skip_reason

__unittest = True  # a traceback ends at the test's own line


class TestCase(unittest.TestCase):
    """Its tests have self.chain, which is at genesis when each begins. options are the options of Chain.

    setUp of a subclass calls super().setUp() first; its deploys are made once.
    """

    options = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seed = int(os.environ.get("DEVNET_SEED", "1"), 0)
        http = os.environ.get("DEVNET_TEST_HTTP")
        if http and cls.options:
            raise unittest.SkipTest(skip_reason(cls.options, http))
        cls.chain = Chain(cls.seed, http=http, **cls.options)
        cls.addClassCleanup(cls.chain.close)

    def setUp(self):
        super().setUp()
        self.chain.restart()

    def _callSetUp(self):
        with self._explain_failures():
            super()._callSetUp()

    def _callTestMethod(self, method):
        with self._explain_failures():
            return super()._callTestMethod(method)

    @contextmanager
    def _explain_failures(self):
        try:
            yield
        except unittest.SkipTest:
            raise
        except Exception as error:
            if isinstance(error, (Reverted, DevnetError)):
                _cut_traceback(error.__traceback__)
            self._explain_error(error)
            raise

    def _explain_error(self, error):
        """An error shows below it how it fails again, and what failed on the chain."""
        again = replay_words(self.seed, self.id(), unit=True)
        for line in ([] if again in str(error) else [again]) + explain.trace_lines(self.chain):
            error.add_note(line)

    def _formatMessage(self, msg, standardMsg):
        return "%s\n%s" % (super()._formatMessage(msg, standardMsg), replay_words(self.seed, self.id(), unit=True))


def _cut_traceback(traceback):
    """After the test's last line."""
    last = traceback
    while traceback is not None:
        if "__unittest" not in traceback.tb_frame.f_globals:
            last = traceback
        traceback = traceback.tb_next
    last.tb_next = None
