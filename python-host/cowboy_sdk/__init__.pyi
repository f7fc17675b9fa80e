# What editors and type checkers read of cowboy_sdk; the modules themselves have the words.
from typing import Any, Callable, Final, TypeVar

from cowboy_sdk import runner as runner
from cowboy_sdk import runtime as runtime
from pvm_host import Address, schedule_timer as schedule_timer

C = TypeVar("C", bound=type)
H = TypeVar("H", bound=Callable[..., Any])

class _Who: ...

OWNER: Final[_Who]
SELF: Final[_Who]

class Storage:
    def __getitem__(self, key: bytes | str) -> bytes: ...
    def __setitem__(self, key: bytes | str, value: bytes) -> None: ...
    def __delitem__(self, key: bytes | str) -> None: ...
    def __contains__(self, key: bytes | str) -> bool: ...
    def get(self, key: bytes | str, default: Any = None) -> Any: ...
    def get_int(self, key: bytes | str, default: int = 0) -> int: ...
    def set_int(self, key: bytes | str, value: int) -> None: ...

class _Tier:
    name: str
    value: str

class PriorityTier:
    ECONOMY: Final[_Tier]
    STANDARD: Final[_Tier]
    FAST: Final[_Tier]
    URGENT: Final[_Tier]

class GBAContext:
    trigger_block_height: int
    current_block_height: int
    basefee_cycle: int
    basefee_cell: int
    basefee_lane_timer: int
    last_block_cycle_usage: int
    previous_block_p50_priority_tip_per_cycle: int
    owner_actor_balance: int

class TxFeeParams:
    max_fee_per_cycle: int | None
    max_priority_fee_per_cycle: int | None
    max_fee_per_cell: int | None
    max_priority_fee_per_cell: int | None
    def __init__(
        self,
        max_fee_per_cycle: int | None = None,
        max_priority_fee_per_cycle: int | None = None,
        max_fee_per_cell: int | None = None,
        max_priority_fee_per_cell: int | None = None,
    ) -> None: ...

class ActorRef:
    address: bytes
    def __init__(self, address: Address) -> None: ...
    def call(self, method: str, args: bytes = b"", cycles_limit: int = 100_000) -> bytes: ...
    def send(self, payload: bytes = b"", handler: str = "handle_message") -> None: ...

def actor(cls: C) -> C: ...
def public(handler: H) -> H: ...
def callable_by(*callers: _Who | Address) -> Callable[[H], H]: ...
def call(target: Address, method: str, args: bytes = b"", cycles_limit: int = 100_000) -> bytes: ...
def send(target: Address, payload: bytes = b"", handler: str = "handle_message") -> None: ...
def capture(**names: Any) -> Any: ...
