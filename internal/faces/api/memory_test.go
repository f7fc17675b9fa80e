package api

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/history"
)

// memory is a network without consensus and programs: every transaction it takes
// becomes a separate block when mine is called, or at once if auto is set. Handlers
// "fail" and "set" do what they are called, "count" reads, every other one answers
// its payload.
type memory struct {
	auto     bool
	strict   bool
	hostless bool // no programs can run

	mu       sync.Mutex
	keys     map[string]*crypto.Key
	accounts map[types.Address]*actors.Account
	actors   map[types.Address]*answers.Actor
	state    map[types.Address]map[string][]byte
	blocks   []*answers.Block // blocks[h-1]
	keptFrom types.Height
	pool     []*types.Transaction
	senders  map[types.Hash]types.Address
	timers   []answers.Timer
	logs     []history.LogLine
	nodes    []answers.Node
	hear     []func(types.Height)
	changed  chan struct{}
	refuse   func(*types.Transaction) error // runs before a transaction is taken
	broken   error                          // what every read fails with
	submits  int
	faults   []fault.Effect
	liveness answers.Liveness
	paused   bool
	drops    bool // what it admitted
	labour
	shown
	gaps bool // before a nonce are admitted, as a pool does that hopes for the rest
}

const testChain = 8011

func newMemory() *memory {
	m := &memory{auto: true, keys: map[string]*crypto.Key{}, accounts: map[types.Address]*actors.Account{},
		actors: map[types.Address]*answers.Actor{}, state: map[types.Address]map[string][]byte{},
		senders: map[types.Hash]types.Address{}, changed: make(chan struct{})}
	for _, name := range []string{"alice", "bob", "system", wallet.Faucet, "r0"} {
		key := crypto.DeriveKey(1, name)
		m.keys[name] = key
		m.accounts[key.Address()] = &actors.Account{Balance: types.WeiOf(1_000_000 * types.CBY)}
	}
	for _, name := range []string{"v0", "v1"} {
		key := crypto.DeriveKey(1, name)
		m.nodes = append(m.nodes, answers.Node{Name: name, Counts: []answers.Count{
			{Of: answers.CountGivenUp, What: "no_proposal", N: 3}, {Of: answers.CountRefused, What: "peers", N: 2},
			{Of: answers.CountRunners, What: "hard_failure", N: 4}, {Of: answers.CountStrangers, What: "not_in_subset", N: 5}},
			Validator: types.Validator{Address: key.Address(), PublicKey: key.PublicKey(),
				Endpoint: "127.0.0.1:1"}, Status: "active", Running: true, Connections: 1})
	}
	return m
}

func (m *memory) Info() answers.Info {
	return answers.Info{ChainID: testChain, Genesis: types.Hash{1}, Version: "test", Strict: m.strict, Faucet: types.WeiOf(5000 * types.CBY)}
}

func (m *memory) Nodes() []answers.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.nodes)
}

func (m *memory) Accounts() (out []answers.NamedAccount) {
	for _, name := range []string{"alice", "bob", "system"} {
		out = append(out, answers.NamedAccount{Name: name, Address: m.keys[name].Address()})
	}
	return out
}

func (m *memory) Runners() []answers.NamedAccount {
	return []answers.NamedAccount{{Name: "r0", Address: m.keys["r0"].Address()}}
}

func (m *memory) RunnerNodes() []answers.RunnerNode { return nil }

func (m *memory) RunnerLetters() map[types.Address]uint64 {
	return map[types.Address]uint64{m.keys["r0"].Address(): 7}
}

func (m *memory) Signer(name string) env.Signer {
	if key := m.keys[name]; key != nil {
		return key
	}
	return nil
}

func (m *memory) Subscribe(each func(types.Height)) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hear = append(m.hear, each)
	return func() {}
}

func (m *memory) Reader(node string) (answers.Reader, error) {
	if m.broken != nil {
		return nil, m.broken
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if node != "" && !slices.ContainsFunc(m.nodes, func(n answers.Node) bool { return n.Name == node }) {
		return nil, refusal.New("unknown_node", "no node is called %q", node).At("node")
	}
	return &memoryView{m}, nil
}

func (m *memory) Submit(_ context.Context, raw []byte) (types.Hash, error) {
	tx, err := types.DecodeTransaction(raw)
	if err != nil {
		return types.Hash{}, refusal.New("malformed", "%v", err)
	}
	sender, ok := crypto.NewVerifier(false).Recover(tx.SigningDigest(), *tx.Signature)
	if !ok {
		return types.Hash{}, refusal.New("bad_signature", "nobody signed this")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.submits++
	if m.refuse != nil {
		if err := m.refuse(tx); err != nil {
			return types.Hash{}, err
		}
	}
	next := m.accounts[sender].Nonce
	for _, waiting := range m.pool {
		if m.senders[waiting.Hash()] == sender {
			next = max(next, waiting.Nonce+1)
		}
	}
	switch {
	case tx.Nonce < m.accounts[sender].Nonce:
		return types.Hash{}, refusal.New(refusal.CodeNonceTooLow, "nonce %d", tx.Nonce)
	case tx.Nonce < next:
		return types.Hash{}, refusal.New(refusal.CodeNonceTaken, "nonce %d", tx.Nonce)
	case tx.Nonce > next && !m.gaps:
		return types.Hash{}, refusal.New(refusal.CodeNonceGap, "nonce %d", tx.Nonce)
	}
	m.senders[tx.Hash()] = sender
	m.pool = append(m.pool, tx)
	if m.auto {
		m.mineLocked()
	}
	return tx.Hash(), nil
}

func (m *memory) Pending(hash types.Hash) (*types.Transaction, types.Address) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, tx := range m.pool {
		if tx.Hash() == hash {
			return tx, m.senders[hash]
		}
	}
	return nil, types.Address{}
}

// NextNonce knows final transactions only, the worst a backend may do.
func (m *memory) NextNonce(a types.Address) types.Nonce {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.account(a).Nonce
}

func (m *memory) Wait(ctx context.Context, hash types.Hash) (*history.Executed, error) {
	for {
		m.mu.Lock()
		changed := m.changed
		r := m.receipt(hash)
		if m.drops {
			m.pool = slices.DeleteFunc(m.pool, func(tx *types.Transaction) bool { return tx.Hash() == hash })
			m.mu.Unlock()
			return nil, refusal.New(refusal.CodeDropped, "the transaction was dropped")
		}
		m.mu.Unlock()
		if r != nil {
			return m.printed(r), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *memory) account(a types.Address) *actors.Account {
	if m.accounts[a] == nil {
		m.accounts[a] = &actors.Account{}
	}
	return m.accounts[a]
}

// printed is a receipt with the lines of its execution.
func (m *memory) printed(r *types.Receipt) *history.Executed {
	if r == nil {
		return nil
	}
	out := &history.Executed{Receipt: *r}
	for _, l := range m.logs {
		if l.Cause == r.Hash {
			out.Logs = append(out.Logs, l.Line)
		}
	}
	return out
}

func (m *memory) receipt(hash types.Hash) *types.Receipt {
	for _, b := range m.blocks {
		for i := range b.Receipts {
			if b.Receipts[i].Hash == hash {
				return &b.Receipts[i]
			}
		}
	}
	return nil
}

// mine makes a block of the waiting transactions.
func (m *memory) mine(marks ...history.TimerMark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mineLocked(marks...)
}

func (m *memory) mineLocked(marks ...history.TimerMark) {
	height := types.Height(len(m.blocks) + 1)
	b := &answers.Block{Stored: history.Stored{Block: &types.Block{Header: types.Header{ChainID: testChain, Height: height,
		View: types.View(height), Timestamp: types.Millis(height) * 1000}}}}
	b.Jobs, b.Presence = m.does, m.shows
	for _, mark := range marks {
		if mark.Status == types.TimerPending && mark.Reason != "" && mark.Reason != "extended" {
			b.Deferred = append(b.Deferred, mark)
		} else {
			b.Timers = append(b.Timers, mark)
		}
	}
	if height > 1 {
		b.Block.Header.Parent = m.blocks[height-2].Hash
		b.Block.Parent = &types.Certificate{Votes: []types.CertificateVote{{Validator: m.nodes[0].Validator.Address}}}
	}
	for _, tx := range m.pool {
		b.Block.Transactions = append(b.Block.Transactions, *tx)
		b.Receipts = append(b.Receipts, m.execute(tx, height, b))
	}
	for _, mark := range marks {
		if mark.Status == types.TimerFired {
			b.Receipts = append(b.Receipts, types.Receipt{Hash: mark.ID, Origin: types.OriginTimer, Height: height, Sender: mark.Actor,
				To: mark.Actor, Handler: "handle_timer", Status: types.StatusOK})
		}
	}
	m.pool = nil
	b.Block.Header.Transactions = types.TransactionsHash(b.Block.Transactions)
	b.Hash = b.Block.Hash()
	m.blocks = append(m.blocks, b)
	for i := range m.nodes {
		if m.nodes[i].Running {
			m.nodes[i].Height, m.nodes[i].View = height, types.View(height+1)
		}
	}
	close(m.changed)
	m.changed = make(chan struct{})
	for _, each := range m.hear {
		each(height)
	}
}

func (m *memory) execute(tx *types.Transaction, height types.Height, b *answers.Block) types.Receipt {
	from := m.senders[tx.Hash()]
	r := types.Receipt{Hash: tx.Hash(), Origin: types.OriginTransaction, Height: height, Index: uint32(len(b.Receipts)),
		Sender: from, Status: types.StatusOK, Cycles: 1000, Cells: types.Cells(len(tx.Payload)), Fee: types.WeiOf(7)}
	m.account(from).Nonce++
	if tx.To != nil {
		r.To = *tx.To
	}
	switch in := mustSucceed(tx.Instruction()).(type) {
	case *types.Deploy:
		r.Handler, r.To = "init", address20(types.Keccak(in.Code, in.Salt[:]))
		m.actors[r.To] = &answers.Actor{Address: r.To, Name: in.Manifest.Name, Owner: from, CodeHash: types.Keccak(in.Code), DeployedAt: height,
			Handlers: []program.Handler{{Name: "ping"}}}
	case *types.Execute:
		r.Handler, r.Output = in.Handler, in.Payload
		b.Logs = append(b.Logs, actors.LogLine{Actor: r.To, Cause: r.Hash, Line: "ran " + in.Handler})
		m.logs = append(m.logs, history.LogLine{Height: height, LogLine: b.Logs[len(b.Logs)-1]})
		switch {
		case m.actors[r.To] == nil:
			r.Status, r.Error = types.StatusNoActor, &types.Fault{Code: "no_actor", Message: "no actor there"}
		case in.Handler == "fail":
			r.Status, r.Error = types.StatusReverted, &types.Fault{Code: "raised", Message: "ValueError: no"}
		case in.Handler == "set":
			key, value, _ := strings.Cut(string(in.Payload), "=")
			if m.state[r.To] == nil {
				m.state[r.To] = map[string][]byte{}
			}
			m.state[r.To][key] = []byte(value)
		}
	}
	if r.Status == types.StatusOK {
		m.account(from).Balance = m.account(from).Balance.Sub(tx.Value)
		m.account(r.To).Balance = m.account(r.To).Balance.Add(tx.Value)
	}
	return r
}
