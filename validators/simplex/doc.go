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
// # What happens
//
// On entering a view, which any certificate of the view before allows, the
// machine forwards that certificate and starts the leader timeout and the view
// timeout. With Timing.Auto these start only when there is something to do: work
// of the application, a proposal or a vote of somebody else in the view, or a
// notarized block that was not finalized within a resend interval. If the view's
// leader was not heard for four views, it is not waited for: the machine votes
// nullify at once.
//
// As the leader, it picks the block notarized in the latest view after which
// every view is nullified, and asks the application to build on it, no earlier
// than a block time after its timestamp; where that is over already and votes on
// runners lack, a little later. If MaxOpenDepth blocks wait for finality, or no body
// more can be held, it proposes that block again instead. The answer is persisted, signed and sent, and then
// voted for like any other proposal.
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
// enters the next view. A body it lacks it asks for, first from who sent the
// certificate, then from one peer after the other. Who keeps that body no more
// answers with its root's finalization.
// Once it has executed the block, it votes notarize too, if it has not and there
// are runners: for what the vote says of them, which the next leader carries.
//
// On a nullification, it enters the next view.
//
// In each view timeouts are doubled for each view since the last final one, up to 16 times. The
// view directly before counts only if this validator nullified it, or it has no notarization.
// Once as many views count as there are members, none is given up before Δ, which is doubled in
// the same way.
//
// On a finalization, the block and all its ancestors are final. They are
// reported when all bodies are there and executed, and the newest becomes the
// root. When too many are missing, or peers keep them for answers no more, Behind
// is reported, and CaughtUp moves the root.
//
// On a timeout, it votes nullify unless it voted finalize, and reports why: what
// the view waited for, as far as this validator knows. It stays in the view
// until a certificate lets it go on. Every 2Δ it sends its votes again and, once
// the view is late, the best certificate. Who sends something of a view that is
// past is given the certificate that ends it. Of a certificate that says what is known
// only the votes that are not held are of use, and are checked (Machine.Sift).
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
// At a border, where the header names another set for what follows, the block
// before it has no child until it is final: leaders of later views propose the
// same block again, half a link delay after entering, by when it usually is
// final. The first block behind carries its finalization. What follows is a
// Simplex of its own, with the new set, whose views begin after the view in the
// last block's header. That is fixed by the block's hash. An end of an epoch at
// which the set does not change is no border. Beginning after the view of the finalization would not be safe:
// a block may have several, and the views between them would be skipped by some.
//
// # Parts
//
// What a machine knows is its state: seat (the set and this validator's place in it),
// finalized, views with a round each, bodies, pacemaker, fetcher, demand. What it does
// lies in parts that share the state, and of which each calls none but those before it:
// executor, requester, responder, collector (of votes), proposer, voter, finalizer,
// synchronizer (of views) and recovery. Machine gives them events, and goes over borders.
//
// # What always holds
//
//   - At most one notarize vote a view, and never both nullify and finalize.
//   - What was sent had been persisted before.
//   - The root only moves to descendants of itself.
//   - A message acts on the machine only as a Verified, which the Check functions
//     make; memory is bounded by the limits of this package whatever arrives.
//
// Executing blocks, judging base fees, roots and presence, and deciding the next
// validator set are the application's; fetching long stretches is package
// catchup's.
package simplex
