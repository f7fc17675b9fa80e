package oracle

import (
	"bytes"
	"math/big"
	"slices"

	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// Account is one account after a block, as its state holds it.
type Account struct {
	Address types.Address
	Nonce   types.Nonce
	Balance types.Wei
}

// Sent is a message that a block put into the queue.
type Sent struct {
	Seq      types.Seq
	Hash     types.Hash
	Cause    types.Hash // of the execution that sent it; of a callback the job
	From, To types.Address
	Handler  string
	Payload  []byte
	Cycles   types.Cycles // limits of its delivery
	Cells    types.Cells
}

// books are all accounts as this package counts them.
type books struct {
	known  map[types.Address]account
	actors map[types.Address]types.Address // deployed on this chain, and by whom
	queue  map[types.Hash]prepaid
}

type account struct {
	nonce   types.Nonce
	balance *big.Int // never changed in place
}

// prepaid is a message that waits, what was paid for it (decision C16), and who gets
// what is left of that.
type prepaid struct {
	Sent
	cycle, cell types.Wei
	payer       types.Address
}

func newBooks(genesis []Account) books {
	b := books{known: map[types.Address]account{}, actors: map[types.Address]types.Address{}, queue: map[types.Hash]prepaid{}}
	for _, a := range genesis {
		b.known[a.Address] = account{a.Nonce, a.Balance.Big()}
	}
	return b
}

func (b *books) balanceOf(of types.Address) *big.Int {
	if a := b.known[of]; a.balance != nil {
		return a.balance
	}
	return new(big.Int)
}

// moves is what a block did to balances, as its receipts and timers tell it.
type moves struct {
	by   map[types.Address]*big.Int
	ran  bool                   // a program did
	jobs map[types.Address]bool // the accounts whose money moved for runners and jobs
}

func (m *moves) addTo(to types.Address, amount *big.Int) {
	if m.by[to] == nil {
		m.by[to] = new(big.Int)
	}
	m.by[to].Add(m.by[to], amount)
}

func (m *moves) takeFrom(from types.Address, amount *big.Int) {
	m.addTo(from, new(big.Int).Neg(amount))
}

// judgeAccounts judges payers and payees (decisions C10, C14, C16, T2, T13, T24). Each
// transaction's fee and value are paid by its signer, a fire's fee by its fee
// payer. The unused part of a delivery is refunded to its sender. Tips go to the
// block's proposer, bids into the escrow and back to their payers. Receipts do not
// show transfers between programs. So an actor may hold less than computed, in a
// block in which a program ran, and others then hold as much more. Only accounts
// that were asked to pay for gas bidding agents may also differ.
func (j *Judge) judgeAccounts(o *Observation) {
	h := &o.Block.Header
	wrong := func(format string, args ...any) {
		j.reportViolation("accounts", h.Height, types.Address{}, format, args...)
	}
	m := &moves{by: map[types.Address]*big.Int{}, jobs: map[types.Address]bool{}}
	for _, t := range j.work.moved {
		m.takeFrom(t.from, t.amount)
		m.addTo(t.to, t.amount)
		m.jobs[t.from], m.jobs[t.to] = true, true
	}
	j.countTransactions(o, m, wrong)
	j.countTimers(o, m, wrong)
	j.countMessages(o, m, wrong)
	for i := range o.Receipts {
		m.addTo(h.Proposer, o.Receipts[i].Tip.Big())
	}
	j.compareAccounts(o, m, wrong)
}

// countTransactions counts transactions: nonces of each signer rise by one, so that none
// comes twice; and what each moved.
func (j *Judge) countTransactions(o *Observation, m *moves, wrong func(string, ...any)) {
	h := &o.Block.Header
	paid := map[types.Hash]*types.Receipt{}
	for i := range o.Receipts {
		if o.Receipts[i].Origin == types.OriginTransaction {
			paid[o.Receipts[i].Hash] = &o.Receipts[i]
		}
	}
	for i := range o.Block.Transactions {
		tx := &o.Block.Transactions[i]
		hash := keccak256(codec.Marshal(tx))
		if tx.Signature == nil {
			wrong("transaction %s is not signed", hash)
			continue
		}
		if j.reportOf(tx) != nil {
			continue // free, and without nonce: the oracle of jobs judges it
		}
		signer, ok := j.rules.Recover(tx.SigningDigest(), *tx.Signature)
		if !ok {
			wrong("transaction %s has no signer", hash)
			continue
		}
		j.seen.Nonces++
		was := j.books.known[signer]
		if tx.Nonce != was.nonce {
			j.reportViolation("nonces", h.Height, types.Address{}, "transaction %s has nonce %d, the next of %s is %d", hash, tx.Nonce, signer,
				was.nonce)
		}
		j.books.known[signer] = account{tx.Nonce + 1, j.books.balanceOf(signer)}
		r := paid[hash]
		if r == nil {
			continue // the oracle of fees accuses it
		}
		j.countOneTransaction(tx, r, signer, m, wrong)
	}
}

// countOneTransaction counts what one transaction moved.
func (j *Judge) countOneTransaction(tx *types.Transaction, r *types.Receipt, signer types.Address, m *moves, wrong func(string, ...any)) {
	var head struct {
		Kind string `cbor:"kind"`
	}
	if err := codec.UnmarshalPartial(tx.Payload, types.MaxTransactionBytes, &head); err != nil {
		wrong("the payload of transaction %s cannot be read: %v", r.Hash, err)
	}
	from, to, value := signer, tx.To, tx.Value
	if as := readImpersonation(tx); as != nil {
		if from, to, value = as.From, as.To, as.Value; signer != j.rules.SystemKey {
			wrong("transaction %s of %s, which is not the system key, is in the name of %s", r.Hash, signer, from)
		}
		if err := codec.UnmarshalPartial(as.Payload, types.MaxTransactionBytes, &head); err != nil {
			wrong("the payload in the name of %s cannot be read: %v", from, err)
		}
	}
	if r.Sender != from || to != nil && r.To != *to {
		wrong("the receipt of transaction %s of %s says it is from %s to %s", r.Hash, from, r.Sender, r.To)
	}
	m.takeFrom(signer, r.Fee.Big())
	switch head.Kind {
	case types.KindExecute, types.KindDeploy, types.KindUpgrade, types.KindApply:
		m.ran = true
	}
	if r.Status != types.StatusOK {
		return
	}
	m.takeFrom(from, value.Big())
	m.addTo(r.To, value.Big())
	j.setBalance(tx, r, m, wrong)
	if head.Kind == types.KindDeploy {
		j.books.actors[r.To] = from
	}
}

// countTimers counts what timers moved: fees of fires, and bids.
func (j *Judge) countTimers(o *Observation, m *moves, wrong func(string, ...any)) {
	fresh := map[types.TimerID]*types.Timer{}
	for i := range o.Timers {
		c := &o.Timers[i]
		t := fresh[c.Timer.ID]
		if known := j.timers.pending[c.Timer.ID]; known != nil {
			t = &known.timer
		}
		if t == nil {
			t = &c.Timer
			fresh[t.ID] = t
			m.takeFrom(t.FeePayer, t.Bid.Big())
			m.addTo(types.TimerEscrow, t.Bid.Big())
			if t.FeePayer != c.Timer.Actor {
				j.judgeOtherPayer(o, t, wrong)
			}
		}
		payer := payerOf(&o.Lane, t, c.Status)
		if c.Timer.FeePayer != payer {
			wrong("timer %s, for which %s pays, became one for which %s does", t.ID, payer, c.Timer.FeePayer)
		}
		if c.Status == types.TimerPending {
			continue
		}
		m.takeFrom(types.TimerEscrow, t.Bid.Big())
		if c.Status != types.TimerFired {
			m.addTo(t.FeePayer, t.Bid.Big())
			continue
		}
		m.ran = true
		if o.Lane.isAuction() { // the payment comes out of the bid
			m.takeFrom(payer, new(big.Int).Sub(c.FeePaid.Big(), c.TipPaid.Big()))
			m.addTo(t.FeePayer, new(big.Int).Sub(t.Bid.Big(), c.TipPaid.Big()))
			continue
		}
		m.takeFrom(payer, c.FeePaid.Big())
		m.addTo(t.FeePayer, t.Bid.Big())
	}
}

// payerOf is the payer that a change of a timer names: the one that was stated. A fire
// under the first revision names the actor, which paid it (decisions T23, T28).
func payerOf(rules *LaneRules, t *types.Timer, status types.TimerStatus) types.Address {
	if rules.Policy == firstRevision && status == types.TimerFired {
		return t.Actor
	}
	return t.FeePayer
}

// judgeOtherPayer judges that who pays for another's timer signed a transaction of the block
// that scheduled it (decision T2).
func (j *Judge) judgeOtherPayer(o *Observation, t *types.Timer, wrong func(string, ...any)) {
	for i := range o.Receipts {
		if r := &o.Receipts[i]; r.Origin == types.OriginTransaction && r.Sender == t.FeePayer {
			return
		}
	}
	wrong("%s pays for timer %s of %s, and signed no transaction of the block that scheduled it", t.FeePayer, t.ID, t.Actor)
}

// countMessages counts messages: paid for when they are sent, at the base fees of that
// block, and charged at those when they are delivered.
func (j *Judge) countMessages(o *Observation, m *moves, wrong func(string, ...any)) {
	h := &o.Block.Header
	for i := range o.Receipts {
		r := &o.Receipts[i]
		if r.Origin != types.OriginMessage {
			continue
		}
		m.ran = true
		sent, waits := j.books.queue[r.Hash]
		if !waits {
			wrong("a message is delivered that was never sent, or twice: %s", r.Hash)
			continue
		}
		delete(j.books.queue, r.Hash)
		j.seen.Deliveries++
		fee := new(big.Int).Add(multiplyPrice(sent.cycle.Big(), uint64(r.Cycles)), multiplyPrice(sent.cell.Big(), uint64(r.Cells)))
		if r.Fee.Big().Cmp(fee) != 0 || r.Sender != sent.From || r.Cycles > sent.Cycles || r.Cells > sent.Cells {
			wrong("the delivery %s for %s used %d cycles and %d cells for %s; it was sent by %s, with %d and %d, and costs %s",
				r.Hash, r.Sender, r.Cycles, r.Cells, r.Fee, sent.From, sent.Cycles, sent.Cells, fee)
		}
		m.addTo(sent.payer, new(big.Int).Sub(sent.totalPayment(), r.Fee.Big()))
	}
	j.takeTurns(o, func(s *Sent) (types.Address, bool) {
		if c := j.work.callers[s.Hash]; c != nil {
			return c.job.spec.Submitter, true
		}
		return types.Address{}, false
	})
	for _, s := range o.Sent {
		p := prepaid{s, h.BaseFeeCycle, h.BaseFeeCell, s.From}
		if c := j.work.callers[s.Hash]; c != nil { // at the prices of the job's submission, from its escrow
			p.cycle, p.cell, p.payer = c.cycle, c.cell, c.job.spec.Submitter
			delete(j.work.callers, s.Hash)
		}
		j.books.queue[s.Hash] = p
		m.takeFrom(s.From, p.totalPayment())
	}
}

func (p *prepaid) totalPayment() *big.Int {
	return new(big.Int).Add(multiplyPrice(p.cycle.Big(), uint64(p.Cycles)), multiplyPrice(p.cell.Big(), uint64(p.Cells)))
}

// compareAccounts holds the accounts that the block wrote against what it was to do.
func (j *Judge) compareAccounts(o *Observation, m *moves, wrong func(string, ...any)) {
	for _, a := range o.Accounts {
		if was := j.books.known[a.Address].nonce; a.Nonce != was {
			j.reportViolation("nonces", o.Block.Header.Height, types.Address{}, "the nonce of %s is %d, by its transactions %d", a.Address, a.Nonce,
				was)
		}
		m.takeFrom(a.Address, new(big.Int).Sub(a.Balance.Big(), j.books.balanceOf(a.Address)))
		j.books.known[a.Address] = account{a.Nonce, a.Balance.Big()}
	}
	// The rest of each move is missing in the state: more than it should hold if it
	// is negative.
	asked, askers := j.burnedForQuestions(o), j.possiblePayers(o)
	open := new(big.Int)
	for _, at := range sortedAddresses(m.by) {
		lacks := m.by[at]
		j.seen.Accounts++
		open.Add(open, lacks)
		held := at == types.RegistryAddress || at == types.DispatcherAddress // to the wei, and by no program
		if lacks.Sign() != 0 && held || lacks.Sign() > 0 && m.jobs[at] {
			j.reportViolation("jobs", o.Block.Header.Height, types.Address{}, "%s holds %s wei less than stakes, escrows and payments leave it with",
				at, lacks)
			continue
		}
		_, isActor := j.books.actors[at]
		if lacks.Sign() <= 0 || m.ran && isActor || askers[at] && lacks.Cmp(asked) <= 0 {
			continue
		}
		wrong("%s holds %s wei less than receipts, timers and messages leave it with", at, lacks)
	}
	if open.Cmp(asked) != 0 {
		wrong("balances hold %s wei less than receipts, timers and messages leave them with; questions to agents cost %s", open, asked)
	}
}

// burnedForQuestions is what the block burned for questions to gas bidding agents.
func (j *Judge) burnedForQuestions(o *Observation) *big.Int {
	shown := uint64(0)
	for i := range o.Receipts {
		shown += uint64(o.Receipts[i].Cycles)
	}
	h := &o.Block.Header
	if uint64(h.CyclesUsed) <= shown || j.hasFreeFires(o) {
		return new(big.Int)
	}
	return multiplyPrice(h.BaseFeeCycle.Big(), uint64(h.CyclesUsed)-shown)
}

// possiblePayers are those who may have been asked to pay for agents: of the timers that
// are due.
func (j *Judge) possiblePayers(o *Observation) map[types.Address]bool {
	payers := map[types.Address]bool{}
	if uint64(o.Block.Header.CyclesUsed) == 0 {
		return payers
	}
	for i := range o.Timers {
		if known := j.timers.pending[o.Timers[i].Timer.ID]; known != nil {
			payers[payerOf(&o.Lane, &known.timer, types.TimerFired)] = true
		}
	}
	return payers
}

func sortedAddresses[V any](of map[types.Address]V) []types.Address {
	all := make([]types.Address, 0, len(of))
	for a := range of {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b types.Address) int { return bytes.Compare(a[:], b[:]) })
	return all
}
