"""What a test that failed is told beside its failure: the trace of the last transaction, fire or message that failed and that no
expect_revert waited for."""

from cowboy_sdk.testing.conversation import DevnetError, DevnetGone

BLOCKS = 32  # that are looked at for fires and messages that failed


def trace(chain):
    """Its lines, or none."""
    try:
        failed = _last(chain)
        if failed is None:
            return []
        return ["the trace of what failed last:"] + chain.get("/transaction/0x%s/trace?text=true" % failed.hex())["text"]
    except (DevnetError, DevnetGone) as error:
        return ["there is no trace of what failed last: %s" % error]


def _last(chain):
    """The hash of what failed last, or None."""
    since = max(chain.height + 1 - BLOCKS, 1)
    for receipt in reversed(chain.receipts(since)):
        if not receipt.ok and receipt.hash not in chain.expected:
            return receipt.hash
    return chain.failed
