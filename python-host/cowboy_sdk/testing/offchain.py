"""An actor's file can be imported by its test, to name its class or module: its decorators mark, and nothing of it runs."""

import builtins
from types import SimpleNamespace

from host import chain, own

if not own.BUILTINS:  # no host of programs runs in this process
    own.BUILTINS.append(builtins.__dict__)
    own.is_class = lambda value: isinstance(value, type)
    chain.now.about = SimpleNamespace(me=None)
