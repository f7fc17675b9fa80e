"""An actor's file can be imported by its test, to name its class or module: its decorators mark, and nothing of it runs."""

import builtins
from types import SimpleNamespace

from host import actor_code, chain

if not actor_code.BUILTINS:  # no host of programs runs in this process
    actor_code.BUILTINS.append(builtins.__dict__)
    actor_code.is_class = lambda value: isinstance(value, type)
    chain.now.about = SimpleNamespace(me=None)
