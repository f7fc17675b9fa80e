"""Jobs for runners, from within an actor (CIP-2, CIP-6).

    @actor
    class Oracle:
        @public
        @runner.continuation
        async def refresh(self, payload):
            ctx = capture()
            ctx.pair = payload.decode()
            price = await runner.http("https://example.org/" + ctx.pair, runners=3)
            self.storage[ctx.pair] = price.encode()

Code before an await runs in the message that calls the handler, which returns the job's id. Code after it runs some blocks later, when
the job has ended. By then arguments and local names are gone, except self, the result of ctx = capture(), and names set after the await.
An await raises RunnerError if the job failed, RunnerTimeout if no outcome arrived in time.

Besides the arguments of its kind, every job takes:

    runners=1            how many do it
    mode=None            how results are judged: none, majority_vote, structured_match, deterministic or
                         semantic_similarity; None: none for one runner, else what fits the kind
    threshold, field, checks, tee                   of that mode, as CIP-2 has them
    max_price=10**9, tip=0                          in wei, from the actor's balance; what is not used comes back
    timeout_blocks=30, max_retries=3                of each draw of runners
    pool=None            the runners that may do it
    max_input_tokens=4096, max_output_tokens=1024, max_wall_time=30 (seconds), max_memory_mb=256, max_return_bytes=65536,
    expected_ms=1000     bounds of the work
    data_format          what an await gives: "text" a str, "bytes" bytes, "json" what json.loads makes of it
"""

from host import chain, continuations, jobs
from host.errors import RunnerError, RunnerTimeout
from host.libraries_data import _dumps as dumps

__all__ = ("llm http mcp ethsend custom continuation cancel RunnerError RunnerTimeout").split()


def llm(prompt: str, *, model: str = "offline", system_prompt: str | None = None, max_tokens: int = 256, temperature: int = 0, **terms):
    """A job: what a language model answers, as text. temperature is in thousandths: 700 is 0.7."""
    asked = {
        "model": jobs.check_text(model, "the model"), "prompt": jobs.check_text(prompt, "the prompt"),
        "system_prompt": jobs.check_optional(jobs.check_text, system_prompt, "the system_prompt"),
        "temperature": chain.check_number(temperature, 64, "the temperature, in thousandths,"),
        "max_tokens": chain.check_number(max_tokens, 64, "max_tokens"),
    }
    return jobs.make_task("Llm", asked, "text", "SemanticSimilarity", terms)


def http(url: str, method: str = "GET", *, headers: dict[str, str] | None = None, body: bytes | None = None,
         extraction: str | None = None, **terms):
    """A job: the body of a URL's answer, or the value at the JSON pointer extraction in it, as text. headers is a dict."""
    if headers is not None and type(headers) is not dict:
        raise TypeError("headers is a dict of names and values")
    asked = {
        "url": jobs.check_text(url, "the url"), "method": jobs.check_text(method, "the method"),
        "headers": [[jobs.check_text(k, "a header's name"), jobs.check_text(v, "a header's value")] for k, v in (headers or {}).items()],
        "body": jobs.check_optional(chain.check_bytes, body, "the body"),
        "extraction": jobs.check_optional(jobs.check_text, extraction, "the extraction"),
    }
    return jobs.make_task("Http", asked, "text", "Deterministic", terms)


def mcp(server: str, tool: str, arguments: dict | str | None = None, **terms):
    """A job: what a tool of an MCP server answers, as the text of its JSON. arguments is a dict, or JSON."""
    arguments = {} if arguments is None else arguments
    if type(arguments) is dict:
        arguments = dumps(arguments, sort_keys=True, separators=(",", ":"))
    asked = {"server": jobs.check_text(server, "the server"), "tool": jobs.check_text(tool, "the tool"),
             "arguments": jobs.check_text(arguments, "arguments")}
    return jobs.make_task("Mcp", asked, "text", "Deterministic", terms)


def ethsend(chain_id: int, signed_transaction: bytes, **terms):
    """A job: send a transaction that is signed already to another chain. Its hash, as bytes."""
    asked = {"chain": chain.check_number(chain_id, 64, "the chain's id"),
             "signed_transaction": chain.check_bytes(signed_transaction, "the transaction")}
    return jobs.make_task("EthSend", asked, "bytes", "Deterministic", terms)


def custom(executor: str, params: bytes = b"", **terms):
    """A job: what an executor of this name makes of params, as bytes."""
    name = jobs.check_text(executor, "the executor").encode()
    asked = {"executor_hash": chain.request_of(chain.KECCAK, name, chain.WAITING), "params": chain.check_bytes(params, "params")}
    return jobs.make_task("Custom", asked, "bytes", "Deterministic", terms)


def continuation(function=None, *, timeout_blocks=None):
    """Over an async def: let it await runners' jobs, each for at most timeout_blocks (unless given, as long as the job may take)."""
    blocks = continuations.check_timeout(timeout_blocks)
    if function is not None:
        return continuations.mark_continuation(function, blocks)
    return lambda f: continuations.mark_continuation(f, blocks)


def cancel(job_id):
    """End a job of this actor; its escrow is refunded. An await of it ends with its watchdog."""
    job_id = chain.check_bytes(job_id, "the job's id")
    if len(job_id) != 32:
        raise ValueError("a job's id is 32 bytes")
    jobs.cancel_job(job_id)
