"""Sources of handlers that do one thing."""

MODULES = (
    "abc base64 bisect collections dataclasses decimal enum functools hashlib heapq hmac itertools json math operator re string struct "
    "typing pvm_host cowboy_sdk").split()


def indent_lines(text, by):
    return "".join(" " * by + line + "\n" for line in text.splitlines())


def wrap_body(body, setup=""):
    """A source whose handler f carries out setup and then body."""
    head = "import %s\n" % ", ".join(MODULES)
    return (head + "def f(payload):\n" + indent_lines(setup, 4) + indent_lines(body, 4)).encode()
