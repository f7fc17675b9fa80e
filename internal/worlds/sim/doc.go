// Package sim is a whole network in one goroutine and in virtual time: the
// simulated implementation of package env, a network of links that delay, lose,
// duplicate, reorder and cut, and disks that lose what was not synced.
//
// A World is made from a seed. Every role of every node runs on the one loop of
// the world; where several can step, the seed picks which steps next. If none can, the clock jumps
// to the next delivery or alarm. Virtual time passes on links, until alarms, on disks that are told
// to, and while roles work: executing, checking signatures, reading and writing take it by a model
// (Work). One seed is one run: the same steps in the same order, and so the same Digest, under the
// race detector and any GOMAXPROCS. The simulation ends above QUIC: frames are delayed and lost,
// not packets. Connections between runners and validators keep what package connection promises, as
// the real ones do: what is lost there is sent again, later.
//
//	World     the loop, the clock, the nodes; RunUntil, RunFor, At
//	Receipt   what a fault did: frames dropped, held, delayed; nothing, perhaps
//	Moment    where in the life of a node CrashAt strikes
//
// Invariants: events happen in the order of (time, sequence). No map is iterated.
// All randomness comes from the world's seed, drawn in one stream for the loop and
// one for the links. A node that crashed has no effect on the world any more; after
// it boots it finds on its disk exactly its synced data, and perhaps a part of the
// rest.
//
// A World is used by one goroutine.
package sim
