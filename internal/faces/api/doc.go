// Package api is the HTTP face of a network: the chain's own RPC paths, and the
// devnet's. It decides nothing of the protocol; it shows a Backend and hands
// transactions to it.
//
// Every route is registered with an operation: summary, example, errors. huma
// checks requests against the types of package model, and makes the OpenAPI 3.1
// document from the same types, so that the document cannot lie.
//
// Invariants:
//
//   - Reads come from a Reader: one node's final state, unchanging while it is
//     held. Without node= it is the highest among running nodes.
//   - An answer other than success is {"error": {code, message, hint, field}}
//     with the right status (Error). Only GET /ready adds its own fields to it.
//   - Everything a client can ask for is bounded (limits.go): bodies, lists,
//     waiters, readers of events, connections, and the time a client takes.
//   - A page of another site can neither read nor drive the devnet: guard
//     refuses foreign Host headers (a name rebound to this machine) and foreign
//     origins. Only a page of an origin that Config.Origins names is sent CORS headers.
//   - The devnet signs for its accounts one transaction at a time each
//     (nonces), so that concurrent sends never collide.
//   - Events are made once a block for all readers (feed), who pull: a slow one
//     costs no memory, and is told so before it is dropped.
//
// Everything under /devnet, and the faucet, is refused on a strict network.
package api
