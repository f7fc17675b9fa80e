// Package runners is the shell of a runner (docs/INSIDE.md, "A runner"): a
// proto-actor role, told of events by its inbox, that decodes nothing and decides
// nothing. It steps two cores, and does what they ask of the environment: package
// session holds the connections with validators, package worker the jobs that come
// over them. What either says to the other is passed on in the same step.
//
// They are one role and not two, since what a worker does in a step is short, the work
// itself being the executor's; and since a frame is Taken from a connection in the
// step that attends to it, so that the environment's promise bounds what waits.
//
// A runner keeps nothing that outlives it but its key, which is its signer's.
package runners
