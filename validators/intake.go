package validators

import (
	"errors"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/roles"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/rations"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// intakeEvent is an event of the intake role.
type intakeEvent interface{ forIntake() }

// Events of the intake role.
type (
	// submission is a transaction that came in at this validator.
	submission struct {
		raw     []byte
		request requestID // of an admitted
	}
	// ownReport is a runner transaction of this validator.
	ownReport struct{ raw []byte }
	// verify asks to check finalized blocks that a peer sent.
	verify struct{ ask catchup.Verify }
	// attend says that frames wait.
	attend struct{}
	// reopen reports that a banned peer may be connected again.
	reopen struct{}
	// newSets says that the validator sets have changed.
	newSets struct{}
)

func (submission) forIntake() {}
func (ownReport) forIntake()  {}
func (verify) forIntake()     {}
func (attend) forIntake()     {}
func (reopen) forIntake()     {}
func (newSets) forIntake()    {}

// intake is the role that faces the outside: it drops all that is malformed or not
// signed by the validator it names, except messages marked as unchecked
// (catchup.Answer, peerAhead).
type intake struct {
	v    *Validator
	held map[types.Address]*futureFrames
	from []types.Address // the keys of held, as they came
}

// futureFrames is one peer's frames of sets to come, until those are known.
type futureFrames struct {
	frames [][]byte
	size   int // in bytes
}

// Limits of the frames of sets to come that wait. Many of them hint that this
// validator does not come to those by itself.
const (
	maxHeld        = 256                                   // of one peer
	maxHeldBytes   = 32 << 20                              // of all peers together, in equal shares,
	minHeldBytes   = maxTransactionsFrame                  // minimum size of each
	maxHeldEach    = types.MaxBlockBytes + maxRequestFrame // and at most a block's
	aheadHintEvery = 32                                    // of one peer: that many are a hint
)

// maxBacklog bounds the frames that wait for another role beyond which intake
// loses more: the role cannot keep up, and will not by being given more.
const maxBacklog = 1024

func (v *Validator) newIntake() (roles.Steps[intakeEvent], error) {
	in := &intake{v: v}
	if v.checking != 0 { // the role was made again: no answer for that batch will come
		v.consensus.Post(asCatchupEvent(catchup.Refused{ID: v.checking}))
		v.checking = 0
	}
	return roles.Steps[intakeEvent]{Each: in.receiveEvent, Last: v.ingress.endAlarm}, nil
}

func (in *intake) receiveEvent(event intakeEvent) {
	switch event := event.(type) {
	case attend:
		if f, ok := in.v.ingress.nextFrame(); ok {
			in.readFrame(f.From, f.Data)
		}
	case submission:
		in.checkSubmission(event)
	case ownReport:
		in.ownReport(event)
	case verify:
		in.verifyBatch(event.ask)
	case reopen:
		in.v.ingress.endBans()
	case newSets:
		in.resumeWaiting()
	default:
		panic(unknownEvent("intake", event))
	}
}

func (in *intake) readFrame(from types.Address, data []byte) {
	read, err := in.v.memo.readFrame(data)
	in.v.reportWork(env.BytesRead, uint64(len(data)))
	if err != nil {
		in.refuseFrame(from, err)
		return
	}
	switch message := read.message.(type) {
	case *transactions:
		in.checkTransactions(from, message)
	case *catchup.RangeRequest:
		if in.v.ingress.spendRation(from, rations.Ranges, 1) && in.v.ingress.spendRation(from, rations.Served, 1) {
			passOn[archiveEvent](in, in.v.archive, rangeRequest{from, message})
		} else {
			in.v.count.refusedFrames.Add(1)
		}
	case *catchup.Batch:
		passOn(in, in.v.consensus, asCatchupEvent(catchup.Answer{From: from, Batch: message}))
	case *types.Certificate:
		in.checkCertificate(from, data, read, message)
	default:
		in.checkConsensusMessage(from, data, read)
	}
}

// passOn hands on a message from outside, or drops it if the receiving role is too
// far behind.
func passOn[E any](in *intake, to roles.Inbox[E], event E) {
	if to.Waiting() >= maxBacklog || !to.Offer(event) {
		in.v.count.refusedFrames.Add(1)
	}
}

// checkCertificate checks the new part of a certificate.
func (in *intake) checkCertificate(from types.Address, data []byte, read *reading, c *types.Certificate) {
	unchecked := in.v.known.uncheckedParts(c)
	switch {
	case unchecked.Whole:
		in.checkConsensusMessage(from, data, read)
	case unchecked.Past != nil:
		passOn[consensusEvent](in, in.v.consensus, received{From: from, Message: unchecked.Past})
	case len(unchecked.Votes) > 0:
		in.checkVotes(from, unchecked.Votes)
	}
}

// checkVotes checks some votes of a certificate.
func (in *intake) checkVotes(from types.Address, votes []*types.Vote) {
	if !in.v.ingress.spendRation(from, rations.Recoveries, len(votes)) {
		in.v.count.refusedFrames.Add(1)
		return
	}
	sets := *in.v.sets.Load()
	for _, vote := range votes {
		in.v.reportWork(env.Recoveries, 1)
		verified, err := simplex.CheckVote(in.v.genesis.ChainID, in.v.node.Verifier, sets, vote)
		if err != nil {
			in.refuseFrame(from, err)
			return
		}
		passOn[consensusEvent](in, in.v.consensus, received{From: from, Message: verified})
	}
}

// errRation says that a frame was not looked into.
var errRation = errors.New("the sender exceeded its rate limit")

// checkConsensusMessage checks a message of the consensus.
func (in *intake) checkConsensusMessage(from types.Address, data []byte, read *reading) {
	sets := *in.v.sets.Load()
	in.v.reportWork(env.Recoveries, signaturesIn(read.message))
	verified, err := in.v.memo.checkMessage(read, sets, func() (simplex.Verified, error) {
		if !in.v.ingress.spendRation(from, rations.Recoveries, int(signaturesIn(read.message))) {
			return nil, errRation
		}
		return simplex.Check(in.v.genesis.ChainID, in.v.node.Verifier, sets, read.message)
	})
	if err == nil {
		passOn[consensusEvent](in, in.v.consensus, received{From: from, Message: verified})
		return
	}
	var unknown *simplex.UnknownEpoch
	switch {
	case errors.Is(err, errRation):
		in.v.count.refusedFrames.Add(1)
	case errors.As(err, &unknown):
		in.noteAhead(from, data, unknown)
	default:
		in.refuseFrame(from, err)
	}
}

// noteAhead keeps a message of a future set until that is known: a validator that
// is a few blocks late at a border must lose nothing, or a view that it leads waits
// for it without result. A peer's first of them, and one in aheadHintEvery, hints
// that this validator lags behind their sender. A peer has its own share: its
// excess evicts only its own frames.
func (in *intake) noteAhead(from types.Address, data []byte, unknown *simplex.UnknownEpoch) {
	if unknown.Epoch <= unknown.Current {
		return
	}
	kept := in.heldOf(from)
	if len(kept.frames) >= maxHeld || kept.size+len(data) > in.bytesPerPeer() {
		*kept = futureFrames{}
	}
	if len(kept.frames)%aheadHintEvery == 0 {
		passOn[consensusEvent](in, in.v.consensus, peerAhead{from, unknown.Epoch})
	}
	kept.frames = append(kept.frames, data)
	kept.size += len(data)
}

func (in *intake) heldOf(from types.Address) *futureFrames {
	if kept := in.held[from]; kept != nil {
		return kept
	}
	if in.held == nil {
		in.held = map[types.Address]*futureFrames{}
	}
	kept := &futureFrames{}
	in.held[from], in.from = kept, append(in.from, from)
	return kept
}

// bytesPerPeer is the bytes that one peer's frames may take.
func (in *intake) bytesPerPeer() int {
	members := max(1, len((*in.v.sets.Load())[0].Members))
	return min(max(maxHeldBytes/members, minHeldBytes), maxHeldEach)
}

// resumeWaiting takes up what waited for its set, each peer's in the order it came.
func (in *intake) resumeWaiting() {
	from, kept := in.from, in.held
	in.from, in.held = nil, nil
	for _, peer := range from {
		for _, data := range kept[peer].frames {
			in.readFrame(peer, data)
		}
	}
}

// verifyBatch checks finalized blocks against the sets they were decided by.
func (in *intake) verifyBatch(ask catchup.Verify) {
	count := func(votes int) { in.v.reportWork(env.Recoveries, uint64(votes)) }
	in.v.checking = ask.ID
	batch, err := checkBatch(in.v.genesis.ChainID, in.v.node.Verifier, ask.Batch, &ask.Root, count)
	in.v.checking = 0
	if err != nil {
		in.v.count.refusedFrames.Add(1)
		in.v.log.Warn("finalized blocks were refused", "error", err)
		in.v.consensus.Post(asCatchupEvent(catchup.Refused{ID: ask.ID}))
		return
	}
	in.v.consensus.Post(asCatchupEvent(catchup.Verified{ID: ask.ID, Batch: batch}))
}

// checkBatch verifies finalized blocks that continue from root: each certificate by
// the set of its epoch. count is called with the number of votes checked.
func checkBatch(chainID uint64, rec simplex.Recoverer, batch *catchup.Batch, root *catchup.Root,
	count func(votes int)) (catchup.VerifiedBatch, error) {
	sets := simplex.Sets{root.Set}
	if root.Previous != nil {
		sets = append(sets, *root.Previous)
	}
	return catchup.Check(batch, root, func(c *types.Certificate) error {
		count(len(c.Votes))
		_, err := simplex.CheckCertificate(chainID, rec, sets, c)
		return err
	})
}

func (in *intake) checkTransactions(from types.Address, message *transactions) {
	if len(message.Raw) > maxTransactions {
		in.refuseFrame(from, errors.New("too many transactions in one frame"))
		return
	}
	if in.v.execution.Waiting() >= maxBacklog || !in.v.ingress.spendRation(from, rations.Transactions, len(message.Raw)) {
		in.v.count.refusedFrames.Add(1)
		return
	}
	var checked []*ledger.Checked
	in.v.reportWork(env.Recoveries, uint64(len(message.Raw)))
	for _, raw := range message.Raw {
		tx, err := in.v.admitter.Admit(in.v.head.Load().State, raw)
		if err != nil {
			in.v.count.refusedTransactions.Add(1)
			if neverValid(err) {
				in.refuseFrame(from, err)
				return
			}
			continue // the sender may have known an older state
		}
		checked = append(checked, tx)
	}
	if len(checked) > 0 {
		passOn[executionEvent](in, in.v.execution, admission{txs: checked})
	}
}

// neverValid reports whether a transaction is refused whatever the state: no
// honest validator hands it on.
func neverValid(err error) bool {
	var refused *ledger.Invalid
	return errors.As(err, &refused) &&
		(refused.Code == ledger.CodeMalformed || refused.Code == ledger.CodeWrongChain || refused.Code == ledger.CodeBadSignature)
}

func (in *intake) checkSubmission(s submission) {
	in.v.reportWork(env.Recoveries, 1)
	tx, err := in.v.admitter.Admit(in.v.head.Load().State, s.raw)
	if err != nil {
		in.v.count.refusedTransactions.Add(1)
		in.v.requests.answerRequest(s.request, admitted{err: err})
		return
	}
	if !in.v.execution.Offer(admission{txs: []*ledger.Checked{tx}, here: true, request: s.request}) {
		in.v.requests.answerRequest(s.request, admitted{err: ErrBusy})
	}
}

// ownReport checks a report of this validator's own gateway, for which no caller
// waits: the chain may have moved on since.
func (in *intake) ownReport(event ownReport) {
	in.v.reportWork(env.Recoveries, 1)
	tx, err := in.v.admitter.Admit(in.v.head.Load().State, event.raw)
	if err != nil {
		in.v.count.refusedTransactions.Add(1)
		in.v.log.Debug("own runner transaction refused", "error", err)
		return
	}
	in.v.execution.Post(admission{txs: []*ledger.Checked{tx}, here: true})
}

// refuseFrame counts what a peer sent that no honest peer sends, and blames it.
func (in *intake) refuseFrame(from types.Address, err error) {
	in.v.ingress.blamePeer(from)
	in.v.count.refusedFrames.Add(1)
	in.v.log.Warn("a frame was refused", "from", from, "error", err)
}

// signaturesIn is how many signatures a message of the consensus holds to be
// checked.
func signaturesIn(message any) uint64 {
	switch message := message.(type) {
	case *types.Vote:
		return 1
	case *types.Certificate:
		if message != nil {
			return uint64(len(message.Votes))
		}
	case *types.Proposal:
		return 1 + signaturesOf(message.Block)
	case *simplex.BlockAnswer:
		return signaturesOf(message.Block)
	case *simplex.ViewAnswer:
		return signaturesIn(message.Certificate)
	}
	return 0
}

// signaturesOf is how many votes a block's certificates hold.
func signaturesOf(b *types.Block) (n uint64) {
	if b == nil {
		return 0
	}
	for _, c := range []*types.Certificate{b.Parent, b.Finalization} {
		if c != nil {
			n += uint64(len(c.Votes))
		}
	}
	return n
}
