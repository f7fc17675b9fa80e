package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/home"
	"github.com/cowboyinc/devnet/internal/environment/store"
	"github.com/cowboyinc/devnet/internal/environment/store/bolt"
	"github.com/cowboyinc/devnet/internal/environment/store/log"
	"github.com/cowboyinc/devnet/validators/history"
	"github.com/cowboyinc/devnet/validators/ledger"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// node is the audit of one node.
type node struct {
	genesis  *ledger.Genesis
	verifier *crypto.Verifier
	executor *ledger.Executor
	chain    map[types.Height]types.Hash // the chain by the nodes audited before
	progress func(string, types.Height, types.Height)
	report   NodeReport
	whole    *Report // of all nodes so far
}

// noteProblem notes what is wrong with the state; problemOf, with a file of a kind.
func (a *node) noteProblem(format string, args ...any) { a.problemOf(ofState, format, args...) }

func (a *node) problemOf(k kind, format string, args ...any) {
	a.report.kinds |= 1 << k
	if len(a.report.Problems) < maxProblems {
		a.report.Problems = append(a.report.Problems, fmt.Sprintf(format, args...))
	}
}

// reportDamage reports a file that cannot be used, and continues the audit with the other
// nodes; any other error ends it.
func (a *node) reportDamage(err error) error {
	switch {
	case errors.As(err, new(*store.DamagedError)):
		a.noteProblem("%v", err)
	case errors.Is(err, log.ErrDamaged), errors.Is(err, log.ErrFormat):
		a.problemOf(ofVotes, "%v", err)
	default:
		return err
	}
	return nil
}

func (a *node) auditNode(files home.Node) error {
	info, err := os.Stat(files.State)
	if errors.Is(err, os.ErrNotExist) || err == nil && info.Size() == 0 {
		return a.auditStateless(files, err == nil)
	}
	db, err := bolt.Open(files.State, store.Process)
	if err != nil {
		return a.reportDamage(err)
	}
	defer db.Close()
	archive := history.Of(db)
	if tip, err := archive.Tip(); err == nil && tip != nil {
		a.whole.noteTip(simplex.Root{Block: tip.Block, Hash: tip.Hash})
	}
	if err := a.auditLog(files, archive); err != nil {
		return err
	}
	kept, err := archive.Kept()
	if err != nil {
		return err
	}
	if kept.From > 1 {
		a.report.From = kept.From
		return a.auditChainEnd(archive, db, kept)
	}
	state, err := a.replayChain(archive)
	if err != nil {
		return err
	}
	if state != nil {
		a.compareState(db, state)
	}
	return nil
}

// auditStateless audits a node without a store, or with an empty file of it. A node that has votes ran
// before, and lost its store.
func (a *node) auditStateless(files home.Node, empty bool) error {
	if files.AreEmpty() { // to read its log writes a header
		a.report.emptied = true
		a.problemOf(ofNoState, "its files are empty: %s, and the log of votes beside it; devnet up fetches the state from the other "+
			"validators, and it votes again once they are past what it may have voted for", files.State)
		return nil
	}
	if _, err := os.Stat(files.Votes); errors.Is(err, os.ErrNotExist) {
		return nil // it never ran
	}
	records, err := a.readRecords(files)
	if err != nil || len(records) == 0 {
		return err
	}
	how := "is missing"
	if empty {
		how = "is empty"
	}
	a.problemOf(ofNoState, "its state is lost: %s %s, but %s has votes; devnet up fetches the state from the other validators",
		files.State, how, files.Votes)
	return a.findContradictions(records)
}

// auditLog audits the log of votes, and compares its end with the store's tip.
func (a *node) auditLog(files home.Node, archive *history.Archive) error {
	records, err := a.readRecords(files)
	if err != nil || records == nil {
		return err
	}
	if err := a.checkLogReach(files, archive, records); err != nil {
		return err
	}
	return a.findContradictions(records)
}

// readRecords reads the log of votes; nil if it is damaged.
func (a *node) readRecords(files home.Node) ([][]byte, error) {
	votes, err := log.Open(files.Votes, store.Process)
	if err != nil {
		return nil, a.reportDamage(err)
	}
	defer votes.Close()
	records := [][]byte{}
	err = votes.Replay(func(record []byte) error {
		records = append(records, record)
		return nil
	})
	if err != nil {
		return nil, a.reportDamage(err)
	}
	if err := a.whole.logged.Add(records); err != nil {
		a.problemOf(ofVotes, "%s cannot be read: %v", files.Votes, err)
		return nil, nil
	}
	return records, nil
}

// checkLogReach names a log that is lost, or whose end is (decision C5).
func (a *node) checkLogReach(files home.Node, archive *history.Archive, records [][]byte) error {
	tip, err := archive.Tip()
	if err != nil || tip == nil {
		return err // without a tip it made no block, and an empty log is new
	}
	reach, err := simplex.ReachOf(records, simplex.Root{Block: tip.Block, Hash: tip.Hash})
	if err != nil {
		a.problemOf(ofVotes, "%s cannot be read: %v", files.Votes, err)
	} else if reach.Lost(true) {
		a.problemOf(ofLost, "%v (height %d): %s; devnet up starts it, and it votes again after a block made from then on is final", reach,
			tip.Block.Header.Height, files.Votes)
	}
	return nil
}

// replayChain executes the chain again and returns the state at its end, nil where a
// block does not execute.
func (a *node) replayChain(archive *history.Archive) (*ledger.State, error) {
	tip, err := archive.Tip()
	if err != nil {
		return nil, err
	}
	state, _, err := a.genesis.State()
	if err != nil || tip == nil {
		return nil, err
	}
	a.report.Height = tip.Block.Header.Height
	compared := archive.Compare()
	for h := types.Height(1); h <= a.report.Height; {
		stored, err := archive.Block(h)
		if err != nil {
			return nil, err
		}
		if stored == nil { // skipped, or missing: the next block's height tells
			next, err := archive.Next(h)
			if err != nil {
				return nil, err
			}
			if next == 0 {
				break // the tip is missing, which is told below
			}
			h = next
			continue
		}
		if state = a.replayBlock(compared, state, stored); state == nil {
			return nil, nil
		}
		if a.progress != nil {
			a.progress(a.report.Name, h, a.report.Height)
		}
		h++
	}
	if tip.Hash != state.Hash() {
		a.noteProblem("height %d: the tip is block %s, the chain ends with %s", a.report.Height, tip.Hash, state.Hash())
	}
	a.compareRecords(a.report.Height, compared.End)
	return state, nil
}

// compareRecords reports stored records of jobs, presence and the timer lane that differ
// from execution.
func (a *node) compareRecords(h types.Height, compare func() ([]string, error)) {
	differing, err := compare()
	if err != nil {
		a.noteProblem("height %d: %v", h, err)
	}
	for _, what := range differing {
		a.noteProblem("height %d: stored records of jobs, presence and the timer lane differ from execution: %s", h, what)
	}
}

func (a *node) replayBlock(compared *history.Comparison, parent *ledger.State, stored *history.Stored) *ledger.State {
	h, hash := stored.Block.Header.Height, stored.Block.Hash()
	a.compareIdentity(stored, hash)
	set := parent.Validators()
	if c := stored.Finalization; c != nil {
		a.checkCertificate(c, types.Finalize, hash, set)
	}
	if c := stored.Block.Parent; c != nil {
		a.checkCertificate(c, types.Notarize, stored.Block.Header.Parent, setOf(parent, c.Epoch))
	} else if h > 1 && parent.Height() > 0 {
		a.noteProblem("height %d: the block carries no notarization of its parent", h)
	}
	result, err := a.executor.Apply(parent, stored.Block)
	if err != nil {
		a.noteProblem("height %d: the block does not execute: %v", h, err)
		return nil
	}
	a.report.Blocks++
	if !bytes.Equal(codec.Marshal(result.Receipts), codec.Marshal(stored.Receipts)) {
		a.noteProblem("height %d: the stored receipts are not what executing gives", h)
	}
	a.compareRecords(h, func() ([]string, error) { return compared.Block(result) })
	return result.State
}

// compareIdentity compares a block with its record, and with the other nodes'.
func (a *node) compareIdentity(stored *history.Stored, hash types.Hash) {
	h := stored.Block.Header.Height
	if hash != stored.Hash {
		a.noteProblem("height %d: the block stored as %s has the hash %s", h, stored.Hash, hash)
	}
	if other, known := a.chain[h]; known && other != hash {
		a.problemOf(ofOthers, "height %d: block %s is final here, and %s at another node", h, hash, other)
	}
	a.chain[h] = hash
}

// setOf is the set that decides from an epoch on, as the state before a border or
// any later one knows it.
func setOf(s *ledger.State, epoch types.Epoch) *types.ValidatorSet {
	if previous := s.PreviousValidators(); previous != nil && previous.Epoch == epoch {
		return previous
	}
	return s.Validators()
}

// checkCertificate counts a certificate's signers for itself.
func (a *node) checkCertificate(c *types.Certificate, kind types.VoteKind, block types.Hash, set *types.ValidatorSet) {
	if c.Kind != kind || c.Block != block || c.Epoch != set.Epoch {
		a.noteProblem("height %d: got a %s certificate of epoch %d for %s, want kind %s of epoch %d for %s",
			c.Height, c.Kind, c.Epoch, c.Block, kind, set.Epoch, block)
		return
	}
	signers := map[types.Address]bool{}
	for i := range c.Votes {
		vote := c.Vote(i)
		signer, ok := a.verifier.Recover(vote.Digest(a.genesis.ChainID), vote.Signature)
		if ok && signer == vote.Validator && set.Index(signer) >= 0 {
			signers[signer] = true
		}
	}
	n := len(set.Members)
	if need := n - (n-1)/3; len(signers) < need {
		a.noteProblem("height %d: a %s certificate has %d valid signers of %d, it takes %d", c.Height, c.Kind, len(signers), n, need)
	}
}

// compareState compares the stored state with the one that executing gave, key by key.
func (a *node) compareState(db env.Store, state *ledger.State) {
	if err := ledger.Audit(state); err != nil {
		a.noteProblem("height %d: %v", state.Height(), err)
	}
	stored := map[string][]byte{}
	err := history.ScanState(db, func(key, value []byte) {
		stored[string(key)] = bytes.Clone(value)
	})
	if err != nil {
		a.noteProblem("the stored state cannot be read: %v", err)
		return
	}
	state.Scan(nil, nil, func(key, value []byte) bool {
		if have, ok := stored[string(key)]; !ok || !bytes.Equal(have, value) {
			a.noteProblem("the stored state differs at key %q", key)
		}
		delete(stored, string(key))
		return true
	})
	if len(stored) > 0 {
		a.noteProblem("the stored state has %d keys that executing does not give", len(stored))
	}
}

// findContradictions looks for votes that contradict each other: two notarize votes of a
// view, or a nullify and a finalize vote of one (decision C1). A view belongs to
// its epoch: who saw an epoch's last block final in one view begins the next
// epoch in the view in which others proposed it again.
func (a *node) findContradictions(records [][]byte) error {
	votes, err := simplex.OwnVotes(records)
	if err != nil {
		return err
	}
	a.report.Votes = len(votes)
	type place struct {
		kind  types.VoteKind
		epoch types.Epoch
		view  types.View
	}
	seen := map[place]types.Hash{}
	for i := range votes {
		v := &votes[i]
		at := place{v.Kind, v.Epoch, v.View}
		if block, voted := seen[at]; voted && block != v.Block {
			a.problemOf(ofOaths, "epoch %d, view %d: two %s votes, for %s and %s", v.Epoch, v.View, v.Kind, block, v.Block)
		}
		seen[at] = v.Block
	}
	for at := range seen {
		if _, finalized := seen[place{types.Finalize, at.epoch, at.view}]; finalized && at.kind == types.Nullify {
			a.problemOf(ofOaths, "epoch %d, view %d: a nullify vote and a finalize vote", at.epoch, at.view)
		}
	}
	return nil
}
