package ledger

import (
	"errors"
	"iter"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// randomnessAtGenesis is R(0) = keccak256(chain id), in eight bytes (decision C9).
func randomnessAtGenesis(chainID uint64) types.Hash {
	var id [8]byte
	for i := range id {
		id[i] = byte(chainID >> (56 - 8*i))
	}
	return types.Keccak(id[:])
}

// headerOf is the header of a block on parent before it is executed.
func headerOf(parent *State, proposal Proposal, presence Presence) types.Header {
	height := parent.header.Height + 1 + types.Height(proposal.Skipped)
	return types.Header{
		ChainID: parent.header.ChainID, Height: height, Skipped: proposal.Skipped, View: proposal.View,
		Epoch: governance.EpochOf(parent.next, height), SetEpoch: parent.set.Epoch, Parent: parent.hash, Proposer: proposal.Proposer,
		Timestamp: proposal.Timestamp, Presence: presence.Bitmap.Hash(), SubsetEpoch: parent.header.SubsetEpoch,
		Randomness: types.Keccak(parent.header.Randomness[:], parent.hash[:]), // R(Height) (decision C9)
	}
}

// checkProposal judges what a leader decides. Consensus judges certificates and
// signatures; here they only have to belong to the parent.
//
// Spec: CIP-1 §3 step 1, decisions C1, C6, C7, C8.
func checkProposal(parent *State, proposal Proposal) *Invalid {
	switch skippable := parent.Skippable(); {
	case proposal.Skipped > skippable:
		return newInvalid(CodeBadSkip, "C8", "the block skips %d heights; the next thing is due after %d", proposal.Skipped, skippable)
	case proposal.View <= parent.header.View:
		return newInvalid(CodeBadView, "C1", "view %d is not after the parent's, %d", proposal.View, parent.header.View)
	case proposal.Proposer != parent.set.Leader(proposal.View):
		return newInvalid(CodeBadProposer, "C1", "%s is not the leader of view %d, who is %s", proposal.Proposer, proposal.View,
			parent.set.Leader(proposal.View))
	case proposal.Timestamp <= parent.header.Timestamp:
		return newInvalid(CodeBadTimestamp, "C7", "%d ms is not after the parent's %d", proposal.Timestamp, parent.header.Timestamp)
	}
	for _, c := range []*types.Certificate{proposal.Parent, proposal.Finalization} {
		if c != nil && (c.Block != parent.hash || c.Height != parent.header.Height) {
			return newInvalid(CodeBadCertificate, "C3", "a certificate of block %s at height %d, the parent is %s at %d",
				c.Block, c.Height, parent.hash, parent.header.Height)
		}
	}
	return nil
}

// Apply executes a block on its parent's state and judges all of its header but
// what takes certificates or a clock. It is a pure function: neither parent nor
// block is changed. Its error is an *Invalid, the proposer's fault, or an
// *EnvironmentError, this node's.
//
// Spec: decision C2.
func (x *Executor) Apply(parent *State, block *types.Block) (*Result, error) {
	return x.applyBlock(parent, block, false)
}

// Judge is Apply for a voter: a program that is late ends there and then, as an
// *EnvironmentError. A caller that must have the result uses Apply.
//
// Spec: decision C18.
func (x *Executor) Judge(parent *State, block *types.Block) (*Result, error) {
	return x.applyBlock(parent, block, true)
}

func (x *Executor) applyBlock(parent *State, block *types.Block, strict bool) (*Result, error) {
	claimed := &block.Header
	proposal := Proposal{View: claimed.View, Proposer: claimed.Proposer, Timestamp: claimed.Timestamp,
		Skipped: claimed.Skipped, Parent: block.Parent, Finalization: block.Finalization}
	if claimed.Parent != parent.hash {
		return nil, newInvalid(CodeBadParent, "C1", "the block's parent is %s, but the state belongs to %s", claimed.Parent, parent.hash)
	}
	if refusal := checkProposal(parent, proposal); refusal != nil {
		return nil, refusal
	}
	presence, refusal := parent.presenceOf(proposal.Parent)
	if refusal != nil {
		return nil, refusal
	}
	r := x.openBlock(parent, headerOf(parent, proposal, presence), presence, x.forBlocks())
	if refusal := checkBeforeExecution(claimed, &r.header); refusal != nil {
		return nil, refusal
	}
	switch own := types.PassedHash(block.Passed); {
	case block.Passed.TooLong():
		return nil, newInvalid(CodeBadPassed, "C18", "the block skips more than %d items of one kind by name", types.MaxPassed)
	case claimed.Passed != own:
		return nil, newInvalid(CodeBadPassed, "C18", "the header commits to another list of skipped items: %s, not %s", claimed.Passed, own)
	}
	r.passing.followList(block.Passed)
	r.sessions.strict = strict
	result, err := r.runPhases(func() error {
		if refusal := r.followLists(block.Passed); refusal != nil {
			return refusal
		}
		if err := r.includeAll(block.Transactions); err != nil {
			return err
		}
		if refusal := r.checkLists(); refusal != nil {
			return refusal
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if refusal := r.passing.checkList(r.late.made); refusal != nil {
		return nil, refusal
	}
	if refusal := checkAfterExecution(claimed, &result.Block.Header); refusal != nil {
		refusal.Own = result.Receipts
		return nil, refusal
	}
	result.Block = block
	return result, nil
}

// includeAll includes the transactions of another proposer's block.
func (r *run) includeAll(txs []types.Transaction) error {
	for i := range txs {
		raw := txs[i].Encode()
		if limit := maxTransaction(r.params); len(raw) > limit {
			return newInvalid(CodeTooLarge, "C11", "transaction %d has %d bytes, at most %d", i, len(raw), limit)
		}
		c, refusal := r.x.checkTransaction(r.params, &txs[i], raw)
		if refusal != nil {
			return refusal
		}
		if err := r.includeTransaction(c); err != nil {
			return err
		}
	}
	return nil
}

// checkBeforeExecution judges what is known before anything is executed.
func checkBeforeExecution(claimed, own *types.Header) *Invalid {
	switch {
	case claimed.ChainID != own.ChainID:
		return newInvalid(CodeBadChain, "C10", "the block belongs to chain %d, want %d", claimed.ChainID, own.ChainID)
	case claimed.Height != own.Height:
		return newInvalid(CodeBadHeight, "C8", "height %d is not the parent's + 1 + skipped, %d", claimed.Height, own.Height)
	case claimed.Epoch != own.Epoch:
		return newInvalid(CodeBadEpoch, "C6", "epoch %d; height %d is in epoch %d", claimed.Epoch, own.Height, own.Epoch)
	case claimed.SetEpoch != own.SetEpoch:
		return newInvalid(CodeBadEpoch, "C6", "a set of epoch %d; that of epoch %d decides on height %d", claimed.SetEpoch, own.SetEpoch,
			own.Height)
	case claimed.Presence != own.Presence:
		return newInvalid(CodeBadPresence, "C3", "presence %s is not the hash of P, %s", claimed.Presence, own.Presence)
	case claimed.SubsetEpoch != own.SubsetEpoch:
		return newInvalid(CodeBadSubsetEpoch, "J10", "subset epoch %d, not %d", claimed.SubsetEpoch, own.SubsetEpoch)
	case claimed.Randomness != own.Randomness:
		return newInvalid(CodeBadRandomness, "C9", "randomness %s, not %s", claimed.Randomness, own.Randomness)
	case claimed.BaseFeeCycle != own.BaseFeeCycle, claimed.BaseFeeCell != own.BaseFeeCell, claimed.BaseFeeLaneTimer != own.BaseFeeLaneTimer:
		return newInvalid(CodeBadBaseFee, "C14", "base fees of %s, %s and %s, not %s, %s and %s", claimed.BaseFeeCycle, claimed.BaseFeeCell,
			claimed.BaseFeeLaneTimer, own.BaseFeeCycle, own.BaseFeeCell, own.BaseFeeLaneTimer)
	}
	return nil
}

// checkAfterExecution judges what executing gave.
func checkAfterExecution(claimed, own *types.Header) *Invalid {
	switch {
	case claimed.Transactions != own.Transactions:
		return newInvalid(CodeBadTransactions, "C2", "the header commits to other transactions: %s, not %s", claimed.Transactions,
			own.Transactions)
	case claimed.ReceiptsRoot != own.ReceiptsRoot:
		return newInvalid(CodeBadReceipts, "C2", "receipts root %s, executing gives %s", claimed.ReceiptsRoot, own.ReceiptsRoot)
	case claimed.CyclesUsed != own.CyclesUsed, claimed.CellsUsed != own.CellsUsed, claimed.TimerCyclesUsed != own.TimerCyclesUsed:
		return newInvalid(CodeBadUse, "C2", "use of %d cycles, %d cells and %d timer cycles, executing gives %d, %d and %d", claimed.CyclesUsed,
			claimed.CellsUsed, claimed.TimerCyclesUsed, own.CyclesUsed, own.CellsUsed, own.TimerCyclesUsed)
	case claimed.StateRoot != own.StateRoot:
		return newInvalid(CodeBadState, "C2, C12", "state root %s, executing gives %s", claimed.StateRoot, own.StateRoot)
	case claimed.NextSet != own.NextSet:
		return newInvalid(CodeBadNextSet, "C6", "the next set's hash is %s, executing gives %s", claimed.NextSet, own.NextSet)
	case *claimed != *own:
		panic("ledger: a header has a field that nothing judges")
	}
	return nil
}

// Built is a proposer's output: its block, and the outcome of transactions that are
// not in it.
type Built struct {
	Result   *Result
	Dropped  []Dropped           // transactions that no block on this parent can hold, or over which the host failed
	Failures []*EnvironmentError // of items that the block skips, and of transactions
}

// Build makes a block of a leader: the transactions that fit, in the order they
// come, and everything else that follows. Apply accepts what it returns. It leaves
// out transactions that may be in a later block. It drops those that may not, or on
// which the environment failed. It skips fires, deliveries and questions to agents
// on which the environment failed, and those that it did not reach. Its error is an
// *Invalid about the proposal.
//
// Spec: decisions C2, C4, C18.
func (x *Executor) Build(parent *State, proposal Proposal, txs iter.Seq[*Checked], pace *Pace) (*Built, error) {
	if refusal := checkProposal(parent, proposal); refusal != nil {
		return nil, refusal
	}
	presence, refusal := parent.presenceOf(proposal.Parent)
	if refusal != nil {
		return nil, refusal
	}
	r := x.openBlock(parent, headerOf(parent, proposal, presence), presence, program.ForBlock)
	r.pace.Pace = pace
	r.sessions.strict = pace != nil
	r.pace.members = len(parent.set.Members)
	if pace != nil {
		r.pace.rememberedTries().beginBlock(r.header.Height, pace.Begun)
	}
	built := new(Built)
	result, err := r.runPhases(func() error {
		built.Dropped = r.chooseTransactions(txs)
		return nil
	})
	built.Failures = r.failures
	if err != nil {
		return built, err
	}
	result.Block.Parent, result.Block.Finalization = proposal.Parent, proposal.Finalization
	built.Result = result
	return built, nil
}

// chooseTransactions includes transactions that a mempool offers, as many as it can. The large one whose
// turn it is comes when the mempool offers it.
func (r *run) chooseTransactions(txs iter.Seq[*Checked]) (dropped []Dropped) {
	r.pace.beginPhase(r.parent, r.header.Height, phaseTransactions, r.afterTransactions()...)
	r.late.ended = map[slot]bool{}
	r.listLate()
	for c := range txs {
		isFull := r.pace.isOver() || r.cyclesLeft(laneUser) < r.params.CostTransaction
		if isFull && !r.pace.continuesForTry() {
			break
		}
		t := r.pace.takeTurn(c.Hash, c.Sender)
		if t == turnWaits || t == turnFirst && isFull {
			continue
		}
		end, err := r.tryItem(c.Hash, t, c.Sender, func() error { return r.includeTransaction(c) })
		switch {
		case end == endStarved:
			r.pace.Tries.forgetItem(c.Hash)
			dropped = append(dropped, Dropped{Transaction: c, Err: err})
		case end == endDone, end == endWaits, end == endBroken && mayFitLater(err), end == endFailed && r.wasLate(c, err):
		default:
			dropped = append(dropped, Dropped{Transaction: c, Err: err})
		}
	}
	return dropped
}

func (r *run) afterTransactions() []phase {
	if scheduler.BeforeTransactions(r.params) {
		return []phase{phaseDeliveries}
	}
	return []phase{phaseFires, phaseDeliveries}
}

// mayFitLater reports whether a transaction that was refused may be in a later
// block.
func mayFitLater(err error) bool {
	var refusal *Invalid
	if !errors.As(err, &refusal) {
		return false
	}
	return refusal.Code == CodeNoRoom || refusal.Code == CodeNonceTooHigh || refusal.Code == CodeFeeTooLow || refusal.Code == CodeEarlyReport
}
