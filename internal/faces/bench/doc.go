// Package bench is the author's bench: a conversation about one network on a pair
// of streams, for the tests of actors. `devnet bench` holds it on its standard
// streams, and cowboy_sdk.testing is its other end.
//
// A frame is one JSON object per line, at most MaxFrameBytes; each is answered by
// one with the same id, in their order:
//
//	{"id": 1, "do": "open", "open": {"version": 1, "seed": 7, "validators": 1, …}}
//	{"id": 2, "do": "request", "method": "POST", "path": "/devnet/send", "body": {…}}
//	{"id": 3, "do": "snapshot"}
//	{"id": 4, "do": "revert", "snapshot": 1}
//	{"id": 5, "do": "run", "for": "5s"}
//	{"id": 6, "do": "answer", "job": "0x…", "result": "0x…"}
//	{"id": 7, "do": "mock", "mock": {"kind": "http", "match": "example.org", "answers": [{"result": "0x…"}, {"error": "…"}]}}
//
//	{"id": 8, "do": "hold", "address": "127.0.0.1:4000"}
//
//	{"id": 2, "status": 200, "body": {…}}
//	{"id": 4, "status": 404, "body": {"error": {"code", "message", "hint", "field"}}}
//
// A request is a request of the HTTP API, which serves it as for a live network.
// Other verbs exist only for the abilities of virtual time. With "wait": false what
// would wait for a final block is answered at once, by status 202 and the
// transaction's hash.
//
// hold serves the same API over HTTP, on an address of this machine alone, until the
// next frame: so a person looks at a network where a test failed.
//
// Frames are hostile: an unknown field, a path that is not of the API or a stream
// of events is refused, and a frame that is too long ends the conversation.
package bench
