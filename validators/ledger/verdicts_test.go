package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// bad are transactions that no block may hold, each with its own code.
func bad(w *world) map[string]struct {
	raw  []byte
	code string
} {
	bob := w.address("bob")
	make := func(from string, change func(*types.Transaction)) []byte {
		w.forget()
		tx := w.tx(from, &bob, &types.Transfer{Kind: types.KindTransfer})
		change(tx)
		return w.sign(from, tx).Encode()
	}
	fine := make("alice", func(*types.Transaction) {})
	unsigned := func(change func(*types.Transaction)) []byte {
		tx, _ := types.DecodeTransaction(fine)
		change(tx)
		return tx.Encode()
	}
	return map[string]struct {
		raw  []byte
		code string
	}{
		"empty":         {nil, CodeMalformed},
		"garbage":       {[]byte("garbage"), CodeMalformed},
		"cut off":       {fine[:len(fine)-1], CodeMalformed},
		"not canonical": {append([]byte{0x98, 12}, fine[1:]...), CodeMalformed},
		"oversized":     {append(fine, slices.Repeat([]byte{0}, types.MaxTransactionBytes)...), CodeTooLarge},
		"other chain":   {make("alice", func(tx *types.Transaction) { tx.ChainID = 1 }), CodeWrongChain},
		"unknown kind": {make("alice", func(tx *types.Transaction) { tx.Payload = codec.Marshal(map[string]any{"kind": "mint"}) }),
			CodeUnknownKind},
		"bad payload": {make("alice", func(tx *types.Transaction) { tx.Payload = codec.Marshal(map[string]any{"kind": "transfer", "x": 1}) }),
			CodeMalformed},
		"no address": {make("alice", func(tx *types.Transaction) { tx.To = nil }), CodeMalformed},
		"deploy to": {make("alice", func(tx *types.Transaction) {
			tx.Payload = codec.Marshal(&types.Deploy{Kind: types.KindDeploy, Code: []byte{}, Init: []byte{}})
		}), CodeMalformed},
		"long handler": {make("alice", func(tx *types.Transaction) {
			tx.Payload = codec.Marshal(&types.Execute{Kind: types.KindExecute, Handler: strings.Repeat("h", 257), Payload: []byte{}})
		}), CodeMalformed},
		"system with value": {make("system", func(tx *types.Transaction) {
			tx.To, tx.Value = nil, types.WeiOf(1)
			tx.Payload = codec.Marshal(&types.System{Kind: types.KindSystem, Opcode: 48, Args: codec.Marshal(&governance.CancelTimer{})})
		}), CodeMalformed},
		"system args": {make("system", func(tx *types.Transaction) {
			tx.To, tx.Payload = nil, codec.Marshal(&types.System{Kind: types.KindSystem, Opcode: 48,
				Args: codec.Marshal(map[string]int{"timer": 1})})
		}), CodeMalformed},
		"unknown opcode": {make("system", func(tx *types.Transaction) {
			tx.To, tx.Payload = nil, codec.Marshal(&types.System{Kind: types.KindSystem, Opcode: 47, Args: codec.Marshal(map[string]int{})})
		}), CodeUnknownOpcode},
		"not system": {make("alice", func(tx *types.Transaction) {
			tx.To, tx.Payload = nil, codec.Marshal(&types.System{Kind: types.KindSystem, Opcode: 48, Args: codec.Marshal(&governance.CancelTimer{})})
		}), CodeNotSystem},
		"unsigned":        {unsigned(func(tx *types.Transaction) { tx.Signature = nil }), CodeBadSignature},
		"wrong v":         {unsigned(func(tx *types.Transaction) { tx.Signature[64] = 9 }), CodeBadSignature},
		"changed":         {unsigned(func(tx *types.Transaction) { tx.Value = types.WeiOf(5) }), CodeBadSignature}, // that of a stranger
		"replayed":        {w.last.Block.Transactions[0].Encode(), CodeNonceTooLow},
		"cycles too high": {make("alice", func(tx *types.Transaction) { tx.CyclesLimit = 10_000_001 }), CodeLimitTooHigh},
		"cells too high":  {make("alice", func(tx *types.Transaction) { tx.CellsLimit = 1_000_001 }), CodeLimitTooHigh},
		"cycles too low":  {make("alice", func(tx *types.Transaction) { tx.CyclesLimit = 1_199 }), CodeLimitTooLow},
		"cells too low":   {make("alice", func(tx *types.Transaction) { tx.CellsLimit = 1 }), CodeLimitTooLow},
		"cheap cycles":    {make("alice", func(tx *types.Transaction) { tx.MaxFeePerCycle = types.WeiOf(1) }), CodeFeeTooLow},
		"cheap cells":     {make("alice", func(tx *types.Transaction) { tx.MaxFeePerCell = types.WeiOf(1) }), CodeFeeTooLow},
		"value":           {make("alice", func(tx *types.Transaction) { tx.Value = types.MaxWei }), CodeInsufficientFunds},
		"never funded":    {make("stranger", func(*types.Transaction) {}), CodeBadSignature},
		"endless priority": {make("alice", func(tx *types.Transaction) {
			tx.MaxFeePerCycle, tx.MaxPriorityFeePerCycle = types.MaxWei,
				types.MaxWei
		}), CodeInsufficientFunds},
	}
}

// TestBadTransactionsHaveTheirOwnCodes: Admit refuses each with its code, and so
// does Apply where a block holds it; Build leaves it out; nothing changes.
func TestBadTransactionsHaveTheirOwnCodes(t *testing.T) {
	w, clean := newWorld(t, nil), newWorld(t, nil)
	w.block(w.transfer("alice", "bob", 1))
	clean.block(clean.transfer("alice", "bob", 1))
	for name, c := range bad(w) {
		t.Run(name, func(t *testing.T) {
			_, err := w.executor.Admit(w.head, c.raw)
			if code := codeOf(t, err); code != c.code {
				t.Errorf("Admit: %v, want %s", err, c.code)
			}
			tx, err := types.DecodeTransaction(c.raw)
			if err != nil {
				return // no block can hold what does not decode
			}
			block := *w.opened(w.head)
			block.Transactions = []types.Transaction{*tx}
			_, err = w.executor.Apply(w.head, &block)
			if code := codeOf(t, err); code != c.code {
				t.Errorf("Apply: %v, want %s", err, c.code)
			}
		})
	}
	w.block()
	if clean.block(); w.head.Root() != clean.head.Root() {
		t.Error("the state differs from one that never saw them")
	}
}

// TestANonceAheadMayWait: Admit takes it, a block does not.
func TestANonceAheadMayWait(t *testing.T) {
	w := newWorld(t, nil)
	tx := w.tx("alice", &types.Address{}, &types.Transfer{Kind: types.KindTransfer})
	tx.Nonce = 5
	c, err := w.executor.Admit(w.head, w.sign("alice", tx).Encode())
	if err != nil {
		t.Fatal(err)
	}
	block := *w.opened(w.head)
	block.Transactions = []types.Transaction{*tx}
	_, err = w.executor.Apply(w.head, &block)
	if codeOf(t, err) != CodeNonceTooHigh {
		t.Error(err)
	}
	if w.block(c); len(w.last.Receipts) != 0 || len(w.dropped) != 0 {
		t.Error("it was included or dropped")
	}
}

// opened is a block on a state with all that is known before it is executed.
func (w *world) opened(parent *State) *types.Block {
	r := w.executor.openBlock(parent, headerOf(parent, proposalOn(parent), noPresence), noPresence, program.ForBlock)
	r.header.Passed = types.PassedHash(nil)
	return &types.Block{Header: r.header}
}

// TestEveryFieldOfAHeaderIsJudged: one that differs has its own code.
func TestEveryFieldOfAHeaderIsJudged(t *testing.T) {
	w := newWorld(t, nil)
	w.block(w.deploy("alice", "counter", "c", 0))
	parent := w.head
	block := w.block(w.call("alice", "c", "increment", nil)).Block
	cert := &types.Certificate{Block: types.Hash{1}, Height: 1}
	elsewhere := &types.Certificate{Block: parent.Hash(), Height: 2}
	for name, c := range map[string]struct {
		change func(*types.Block)
		code   string
	}{
		"chain":        {func(b *types.Block) { b.Header.ChainID++ }, CodeBadChain},
		"height":       {func(b *types.Block) { b.Header.Height++ }, CodeBadHeight},
		"skipped":      {func(b *types.Block) { b.Header.Skipped++ }, CodeBadHeight},
		"skipped much": {func(b *types.Block) { b.Header.Skipped = 1<<64 - 1 }, CodeBadSkip},
		"view":         {func(b *types.Block) { b.Header.View = parent.header.View }, CodeBadView},
		"next view":    {func(b *types.Block) { b.Header.View++ }, CodeBadProposer},
		"epoch":        {func(b *types.Block) { b.Header.Epoch++ }, CodeBadEpoch},
		"parent":       {func(b *types.Block) { b.Header.Parent[0]++ }, CodeBadParent},
		"proposer":     {func(b *types.Block) { b.Header.Proposer[0]++ }, CodeBadProposer},
		"timestamp":    {func(b *types.Block) { b.Header.Timestamp = parent.header.Timestamp }, CodeBadTimestamp},
		"transactions": {func(b *types.Block) { b.Header.Transactions[0]++ }, CodeBadTransactions},
		"presence":     {func(b *types.Block) { b.Header.Presence[0]++ }, CodeBadPresence},
		"subset epoch": {func(b *types.Block) { b.Header.SubsetEpoch++ }, CodeBadSubsetEpoch},
		"randomness":   {func(b *types.Block) { b.Header.Randomness[0]++ }, CodeBadRandomness},
		"state root":   {func(b *types.Block) { b.Header.StateRoot[0]++ }, CodeBadState},
		"receipts":     {func(b *types.Block) { b.Header.ReceiptsRoot[0]++ }, CodeBadReceipts},
		"cycles":       {func(b *types.Block) { b.Header.CyclesUsed++ }, CodeBadUse},
		"cells":        {func(b *types.Block) { b.Header.CellsUsed++ }, CodeBadUse},
		"timer cycles": {func(b *types.Block) { b.Header.TimerCyclesUsed++ }, CodeBadUse},
		"cycle fee":    {func(b *types.Block) { b.Header.BaseFeeCycle = types.WeiOf(1) }, CodeBadBaseFee},
		"cell fee":     {func(b *types.Block) { b.Header.BaseFeeCell = types.WeiOf(1) }, CodeBadBaseFee},
		"lane fee":     {func(b *types.Block) { b.Header.BaseFeeLaneTimer = types.WeiOf(1) }, CodeBadBaseFee},
		"certificate":  {func(b *types.Block) { b.Parent = cert }, CodeBadCertificate},
		"finalization": {func(b *types.Block) { b.Finalization = cert }, CodeBadCertificate},
		"elsewhere":    {func(b *types.Block) { b.Parent = elsewhere }, CodeBadCertificate},
		"left out":     {func(b *types.Block) { b.Transactions = nil }, CodeBadTransactions},
	} {
		t.Run(name, func(t *testing.T) {
			changed := *block
			changed.Transactions = slices.Clone(block.Transactions)
			c.change(&changed)
			_, err := w.executor.Apply(parent, &changed)
			if code := codeOf(t, err); code != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
}
