"""Actors of others, as far as a test needs them: real actors whose handlers answer what the test says."""

from cowboy_sdk.client.answers import to_bytes

HEAD = '''"""%(name)s, as a test plays it."""

import pvm_host


def _answer(handler, answers, payload):
    key = b"calls/" + handler.encode()
    n = int(pvm_host.get_state(key) or b"0")
    pvm_host.set_state(key, str(n + 1).encode())
    pvm_host.emit_event(handler, payload)
    answer = answers[n] if n < len(answers) else answers[-1]
    if isinstance(answer, str):
        raise ValueError(answer)
    return answer
'''
HANDLER = '''

def %(handler)s(payload):
    return _answer(%(handler)r, %(answers)r, payload)
'''


class reverts:
    """An answer of a mock: the handler reverts with that text."""

    def __init__(self, text="the mock reverts"):
        self.text = text


class fails:
    """An answer of mock_runner: the runner says that it failed, and why."""

    def __init__(self, why="the mock fails"):
        self.why = why or "the mock fails"


def mock_source(name, handlers):
    """The actor whose handlers answer so."""
    text = HEAD % {"name": name}
    for handler, answers in handlers.items():
        if not handler.isidentifier() or handler.startswith("_"):
            raise ValueError("invalid handler name %r" % handler)
        answers = answers if isinstance(answers, list) else [answers]
        if not answers:
            raise ValueError("%s has no answer: give bytes, or reverts(…)" % handler)
        told = tuple(a.text if isinstance(a, reverts) else to_bytes(a, "an answer") for a in answers)
        text += HANDLER % {"handler": handler, "answers": told}
    return text


class Mock:
    """An actor that answers as a test says. A call of it that reverts leaves no trace, as on every chain."""

    def __init__(self, chain, name, handlers):
        self.chain = chain
        self.actor = chain.deploy(mock_source(name, handlers), name)
        self.address, self.name = self.actor.address, name

    def calls(self, handler=None):
        """Handler and payload of each call it answered, in order."""
        return [(e.name, e.data) for e in self.chain.events(self.address, handler)]
