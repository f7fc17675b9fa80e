# What editors and type checkers read of cowboy_sdk.runner.
from typing import Any, Awaitable, Callable, Generator, Literal, TypedDict, TypeVar, Unpack, overload

from pvm_host import HostError

Mode = Literal["none", "economic_bond", "majority_vote", "structured_match", "deterministic", "semantic_similarity"]

class Terms(TypedDict, total=False):
    runners: int
    mode: Mode | None
    threshold: int | None
    field: str | None
    checks: list[Any] | None
    tee: bool
    max_price: int
    tip: int
    timeout_blocks: int
    pool: str | None
    max_input_tokens: int
    max_output_tokens: int
    max_wall_time: int
    max_memory_mb: int
    max_retries: int
    max_return_bytes: int
    expected_ms: int
    data_format: Literal["bytes", "text", "json"] | None

class RunnerError(HostError): ...
class RunnerTimeout(RunnerError): ...

class Task:
    def submit(self, context: bytes = b"") -> bytes: ...
    def then(self, method: Callable[..., Any], *args: Any, **arguments: Any) -> bytes: ...
    def __await__(self) -> Generator[Any, None, Any]: ...

F = TypeVar("F", bound=Callable[..., Awaitable[Any]])

# The jobs, as runner.py has them: go test ./python-host -rewrite
def llm(prompt: str, *, model: str='offline', system_prompt: str | None=None, max_tokens: int=256, temperature: int=0, **terms: Unpack[Terms]) -> Task: ...
def http(url: str, method: str='GET', *, headers: dict[str, str] | None=None, body: bytes | None=None, extraction: str | None=None, **terms: Unpack[Terms]) -> Task: ...
def mcp(server: str, tool: str, arguments: dict | str | None=None, **terms: Unpack[Terms]) -> Task: ...
def ethsend(chain_id: int, signed_transaction: bytes, **terms: Unpack[Terms]) -> Task: ...
def custom(executor: str, params: bytes=b'', **terms: Unpack[Terms]) -> Task: ...
# The end of the jobs.
@overload
def continuation(function: F, *, timeout_blocks: int | None = None) -> F: ...
@overload
def continuation(function: None = None, *, timeout_blocks: int | None = None) -> Callable[[F], F]: ...
def cancel(job_id: bytes) -> None: ...
