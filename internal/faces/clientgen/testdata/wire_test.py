"""The client in Python on the corpus, and the generated files under the interpreter."""

import ast
import importlib.util
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[3]
sys.path.insert(0, str(TOP / "python-host"))

from cowboy_sdk.client import Schema, WrongValue  # noqa: E402


def corpus():
    told = json.loads((TOP / "internal/base/typed/testdata/payloads.json").read_text())
    schema = Schema("", told["schema"])
    for handler, raw, one in told["legal"]:
        got = schema.payload(handler, schema.arguments(handler, raw.encode())).decode()
        assert got == one, (handler, raw, got, one)
    for handler, raw, path in told["refused"]:
        try:
            schema.arguments(handler, raw.encode())
        except WrongValue as wrong:
            assert wrong.path == path, (handler, raw, wrong.path, path)
        else:
            raise AssertionError("%s %s was taken" % (handler, raw))
    return len(told["legal"]), len(told["refused"])


def load(name):
    spec = importlib.util.spec_from_file_location(name, HERE / name / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main():
    found = corpus()
    club, every = load("club"), load("every")
    member = club.Member(who=b"\x01" * 20, paid=5)
    text = club.SCHEMA.text("Member", member)
    assert text == '{"note":null,"paid":"5","who":"0x%s"}' % ("01" * 20), text
    assert club.SCHEMA.decode("Member", text.encode()) == member
    assert club.SCHEMA.decode("Member", text.replace("{", '{"since":{"day":1},').encode()) == member  # of newer code
    box = every.Box(a_b=1 << 63)
    assert every.SCHEMA.decode("Box", every.SCHEMA.text("Box", box).encode()) == box
    try:
        club.SCHEMA.payload("join", {"who": b"\x01" * 20, "amount": True})
    except WrongValue as wrong:
        assert wrong.path == "amount" and str(wrong) == "amount is an amount in wei: this is True", wrong
    else:
        raise AssertionError("true is no amount")
    for name in ("club", "every"):
        ast.parse((HERE / name / (name + "_interface.py")).read_text())
    print("%d legal and %d refused payloads" % found)


main()
