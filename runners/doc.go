// Package runners is the shell of a runner (docs/INSIDE.md, "A runner"): a
// proto-actor role that gets events through its inbox, decodes nothing and decides
// nothing. It steps two cores and executes their requests to the environment.
// Package session holds the connections with validators, package worker the jobs
// from these connections. Messages from one core to the other are passed on in the
// same step.
//
// They are one role and not two, since a worker's step is short: the executor does the
// work. Also, a frame is Taken from a connection in the step that handles it, so that
// the environment's promise bounds the queue.
//
// A runner stores only its key, which its signer holds.
package runners
