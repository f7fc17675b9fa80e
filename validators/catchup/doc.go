// Package catchup fetches finalized blocks for a validator that lost some: it
// was stopped for 200 blocks or 1,000, or its home was wiped. It is a separate pure
// machine: simplex closes short gaps by itself and reports Behind for longer ones.
//
// # Events
//
// On news that a peer is ahead, the machine asks one peer for the blocks that
// follow the root, at most MaxBatchBlocks. The answer ends at a border, since only
// executing the block before it shows who signs after it.
//
// On an answer, the shell is asked to verify the batch (function Check): blocks
// linked by hash from the root on up to a block that a finalization names, whose
// votes are checked, as are those that the blocks carry. While the application
// executes the batch, the next one is fetched already, one ahead and no more.
//
// On a bad batch or one that the application rejects, its sender has lied, and
// is not asked for a while; a peer that does not answer in time is left out for
// a shorter one. A peer that has nothing to give loses the height it claimed.
// So a liar can cost one attempt, and cannot keep the machine from stopping; a
// height that a certificate proves is asked for until a peer gives it.
//
// On each batch that is applied, Moved tells simplex its new root. Peers continue
// meanwhile: simplex takes over the blocks that they finalize while the last batch
// is executed. Done says that no gap is known any more.
//
// The other side is Serve: which blocks answer a request.
package catchup
