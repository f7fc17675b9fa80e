// Package executor does the work of a runner's jobs: it implements env.Executor
// over one Kind for each kind of job (CIP-2), which are packages below this one.
//
//	custom    named executors: echo, sha256, manual, Python functions, commands
//	httpjob   requests to domains that the runner offers
//	llm       language models behind an OpenAI-compatible endpoint, or the offline one
//	mcpjob    tools of MCP servers
//	ethsend   signed transactions to Ethereum's JSON-RPC
//
// They stand on three more: process, which runs programs of the machine, outbound,
// which goes out over HTTP, and cassette, which records what came back. settings
// reads a runner's configuration and opens all that it names.
//
// # Who is trusted
//
// The configuration is the runner's owner's. A job is a stranger's: every field of
// it is judged before work begins, and says what may be reached by choosing among
// what the configuration names, never by naming something itself. What the outside
// answers is a stranger's too: every answer is bounded in bytes and time before it
// is kept.
//
// # Bounds
//
// A job has max_wall_time_seconds to end; then its context ends, and with that
// everything it started. Its result has at most max_return_bytes, and is what its
// data_format says. What else it bounds, tokens and memory, each kind enforces.
//
// # Failure
//
// The wire has no frame for work that failed: who has no result is silent, and
// silence costs reputation (decision J6). So whatever can be judged before work is
// refused then, and an answer that says no in its own words is a result where its
// kind has words for it (a tool's isError, a transaction that is known already).
package executor
