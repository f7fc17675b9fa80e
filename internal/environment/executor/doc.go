// Package executor does the work of a runner's jobs: it implements env.Executor
// over one Kind for each kind of job (CIP-2), which are packages below this one.
//
// They use three more packages: process, which runs programs of the machine,
// outbound, which makes HTTP requests, and cassette, which records the answers.
// settings reads a runner's configuration and opens all that it names.
//
// # Trust
//
// The configuration is the runner's owner's. A job comes from a stranger: every
// field of it is judged before work begins, and it can only choose among the
// destinations that the configuration names. Outside answers come from strangers
// too: every answer is bounded in bytes and time before it is stored.
//
// # Bounds
//
// A job has max_wall_time_seconds to end; then its context ends, and with that
// everything it started. Its result has at most max_return_bytes, and is what its
// data_format says. Each kind enforces the other bounds, tokens and memory.
//
// # Failure
//
// The wire has no frame for work that failed: who has no result is silent, and
// silence costs reputation (decision J6). So whatever can be judged before work is
// refused then, and an answer that says no in its own words is a result where its
// kind has words for it (a tool's isError, a transaction that is known already).
package executor
