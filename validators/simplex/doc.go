// Package simplex is the consensus of the validators as a pure machine:
// Simplex, decisions C1 to C7. One Machine is one validator's part in it. It
// has no clock, disk, network or application; Step takes one event and returns
// what has to be persisted, sent, asked and reported, in this order.
//
// # Words
//
// A view is an attempt to agree on one block. Its leader proposes a block; the
// validators vote notarize for it, or nullify for none; those who see it
// notarized vote finalize. Votes of n - f validators are a certificate: a
// notarization, a nullification or a finalization. The root is the newest block
// that is final here and whose ancestors all are; above it the machine holds
// bodies that may become final.
//
// # Events
//
// On entering a view, which any certificate of the view before allows, the
// machine forwards that certificate and starts the leader timeout and the view
// timeout. With Timing.Auto these start only when there is something to do: work of
// the application, a proposal or vote of another member in the view, or a notarized
// block that was not finalized within a resend interval. If the view's leader was
// not heard for four views, it is not waited for: the machine votes nullify at
// once.
//
// As the leader, it picks the block notarized in the latest view after which every view is nullified, and
// asks the application to build on it. It does so no earlier than a block time after that block's timestamp.
// If that time has passed and votes on runners are missing, it waits a little longer. If MaxOpenDepth blocks
// wait for finality, or no body more can be held, it proposes that block again instead. The answer is
// persisted, signed and sent, and then voted for like any other proposal.
//
// On a proposal, the first of its view and from its leader, it takes the
// notarization of the parent that the block carries. Once the parent was
// executed, every view between is nullified, and the header fits its parent, it
// asks the application to execute the block. Its timestamp is a block time after the
// parent's at least, and not too far ahead of the clock. If it is valid, body and notarize
// vote are persisted and the vote is sent; if not, it votes nullify.
//
// On a vote, it counts, one of each kind for each validator and view. A second,
// different one is evidence. n - f equal votes are a certificate.
//
// On a notarization, it votes finalize unless it voted nullify in that view, and
// enters the next view. It asks for a missing body, first from the sender of the
// certificate, then from one peer after the other. A peer that no longer has that
// body answers with its root's finalization. Once it has executed the block, it
// also votes notarize, if it has not and there are runners: the next leader carries
// the vote's bits on them.
//
// On a nullification, it enters the next view.
//
// In each view timeouts are doubled for each view since the last final one, up to 16 times. The
// view directly before counts only if this validator nullified it, or it has no notarization.
// Once as many views count as there are members, none is given up before Δ, which is doubled in
// the same way.
//
// On a finalization, the block and all its ancestors are final. They are reported
// when all bodies are present and executed, and the newest becomes the root. If too
// many are missing, or peers no longer keep them for answers, it reports Behind,
// and CaughtUp moves the root.
//
// On a timeout, it votes nullify unless it voted finalize, and reports why: the item
// that the view waited for, as far as this validator knows. It stays in the view until
// a certificate ends it. Every 2Δ it sends its votes again and, once the view is late,
// the best certificate. A sender of messages of a past view gets the certificate that
// ends that view. In a certificate of a known fact, only the votes that are not held
// are useful, and only they are checked (Machine.Unchecked).
//
// On a restart, New is given the records persisted earlier. Votes are among them
// before they were sent, so that the machine repeats them and never contradicts
// one; bodies are executed again from the root on. It resumes in the view that
// the certificates prove.
//
// On a start whose log is lost, it follows and votes for nothing until a block is
// final that was made after the start.
//
// This validator votes for a block that is proposed again as for an empty block on top of
// its notarization. Its certificates name the later view. A child of it carries any of its
// notarizations, and the views between are nullified or notarized it.
//
// A border is an end of an epoch at which the header names another set. The block before it has no child
// until it is final: leaders of later views propose the same block again, half a link delay after entering,
// when it usually is final. The first block behind carries its finalization. The next epoch is a separate
// Simplex, with the new set, whose views begin after the view in the last block's header. That is fixed by
// the block's hash. An end of an epoch without a change of the set is not a border. Beginning after the view
// of the finalization would not be safe: a block may have several, and the views between them would be
// skipped by some.
//
// # Parts
//
// A machine's knowledge is its state: membership (the set and this validator's place in it),
// finalized, views with a round each, bodies, pacemaker, fetcher, demand. Its behaviour
// is in parts that share the state, each of which calls only those before it: executor,
// requester, responder, collector (of votes), proposer, voter, finalizer, synchronizer
// (of views) and recovery. Machine gives them events, and goes over borders.
//
// # Invariants
//
//   - At most one notarize vote per view, and never both nullify and finalize.
//   - Messages are persisted before they are sent.
//   - The root only moves to descendants of itself.
//   - A message acts on the machine only as a Verified, which the Check functions
//     make; memory is bounded by the limits of this package whatever arrives.
//
// The application executes blocks, judges base fees, roots and presence, and
// decides the next validator set; package catchup fetches long stretches.
package simplex
