package api

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/cowboyinc/devnet/internal/crypto"
	"github.com/cowboyinc/devnet/internal/env"
	"github.com/cowboyinc/devnet/internal/program"
	"github.com/cowboyinc/devnet/internal/types"
)

// memory is a network without consensus and programs: every transaction it
// takes becomes a block of its own when mine is called, or at once where auto
// is set. Handlers "fail" and "set" do what they are called, "count" reads,
// every other one answers its payload.
type memory struct {
	auto     bool
	strict   bool
	hostless bool // no programs can run

	mu       sync.Mutex
	keys     map[string]*crypto.Key
	accounts map[types.Address]*Account
	actors   map[types.Address]*Actor
	state    map[types.Address]map[string][]byte
	blocks   []*Block // blocks[h-1]
	pool     []*types.Transaction
	senders  map[types.Hash]types.Address
	timers   []Timer
	logs     []LogLine
	nodes    []Node
	hear     []func(types.Height)
	changed  chan struct{}
	refuse   func(*types.Transaction) error // runs before a transaction is taken
	broken   error                          // what every read fails with
	submits  int
}

const testChain = 8011

func newMemory() *memory {
	m := &memory{auto: true, keys: map[string]*crypto.Key{}, accounts: map[types.Address]*Account{}, actors: map[types.Address]*Actor{},
		state: map[types.Address]map[string][]byte{}, senders: map[types.Hash]types.Address{}, changed: make(chan struct{})}
	for _, name := range []string{"alice", "bob", "system", FaucetName} {
		key := crypto.DeriveKey(1, name)
		m.keys[name] = key
		m.accounts[key.Address()] = &Account{Balance: types.WeiOf(1_000_000 * types.CBY)}
	}
	for _, name := range []string{"v0", "v1"} {
		key := crypto.DeriveKey(1, name)
		m.nodes = append(m.nodes, Node{Name: name, Validator: types.Validator{Address: key.Address(), PublicKey: key.PublicKey(),
			Endpoint: "127.0.0.1:1"}, Status: "active", Running: true, Connections: 1})
	}
	return m
}

func (m *memory) Info() Info {
	return Info{ChainID: testChain, Genesis: types.Hash{1}, Version: "test", Strict: m.strict, Faucet: types.WeiOf(5000 * types.CBY)}
}

func (m *memory) Nodes() []Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.nodes)
}

func (m *memory) Accounts() (out []NamedAccount) {
	for _, name := range []string{"alice", "bob", "system"} {
		out = append(out, NamedAccount{name, m.keys[name].Address()})
	}
	return out
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

func (m *memory) View(node string) (View, error) {
	if m.broken != nil {
		return nil, m.broken
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if node != "" && !slices.ContainsFunc(m.nodes, func(n Node) bool { return n.Name == node }) {
		return nil, Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", node).At("node")
	}
	return &memoryView{m}, nil
}

func (m *memory) Submit(_ context.Context, raw []byte) (types.Hash, error) {
	tx, err := types.DecodeTransaction(raw)
	if err != nil {
		return types.Hash{}, Refuse(http.StatusBadRequest, "malformed", "%v", err)
	}
	sender, ok := crypto.NewVerifier(false).Recover(tx.SigningDigest(), *tx.Signature)
	if !ok {
		return types.Hash{}, Refuse(http.StatusBadRequest, "bad_signature", "nobody signed this")
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
		return types.Hash{}, Refuse(http.StatusConflict, CodeNonceTooLow, "nonce %d", tx.Nonce)
	case tx.Nonce < next:
		return types.Hash{}, Refuse(http.StatusConflict, CodeNonceTaken, "nonce %d", tx.Nonce)
	case tx.Nonce > next:
		return types.Hash{}, Refuse(http.StatusConflict, CodeNonceGap, "nonce %d", tx.Nonce)
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

func (m *memory) Wait(ctx context.Context, hash types.Hash) (*types.Receipt, error) {
	for {
		m.mu.Lock()
		changed := m.changed
		r := m.receipt(hash)
		m.mu.Unlock()
		if r != nil {
			return r, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *memory) account(a types.Address) *Account {
	if m.accounts[a] == nil {
		m.accounts[a] = &Account{}
	}
	return m.accounts[a]
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

// mine makes a block of what waits.
func (m *memory) mine(marks ...TimerMark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.mineLocked(marks...)
}

func (m *memory) mineLocked(marks ...TimerMark) {
	height := types.Height(len(m.blocks) + 1)
	b := &Block{Block: &types.Block{Header: types.Header{ChainID: testChain, Height: height, View: types.View(height),
		Timestamp: types.Millis(height) * 1000}}, Timers: marks}
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

func (m *memory) execute(tx *types.Transaction, height types.Height, b *Block) types.Receipt {
	from := m.senders[tx.Hash()]
	r := types.Receipt{Hash: tx.Hash(), Origin: types.OriginTransaction, Height: height, Index: uint32(len(b.Receipts)),
		Sender: from, Status: types.StatusOK, Cycles: 1000, Cells: types.Cells(len(tx.Payload)), Fee: types.WeiOf(7)}
	m.account(from).Nonce++
	if tx.To != nil {
		r.To = *tx.To
	}
	switch in := must(tx.Instruction()).(type) {
	case *types.Deploy:
		r.Handler, r.To = "init", address20(types.Keccak(in.Code, in.Salt[:]))
		m.actors[r.To] = &Actor{Address: r.To, Name: in.Manifest.Name, Owner: from, CodeHash: types.Keccak(in.Code), DeployedAt: height,
			Handlers: []program.Handler{{Name: "ping"}}}
	case *types.Execute:
		r.Handler, r.Output = in.Handler, in.Payload
		b.Logs = append(b.Logs, LogLine{Actor: r.To, Height: height, Hash: r.Hash, Line: "ran " + in.Handler})
		m.logs = append(m.logs, b.Logs[len(b.Logs)-1])
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

// memoryView reads through to the network: tests hold none across a block.
type memoryView struct{ m *memory }

func (v *memoryView) lock() func() { v.m.mu.Lock(); return v.m.mu.Unlock }

func (v *memoryView) Head() Head {
	defer v.lock()()
	h := Head{Height: types.Height(len(v.m.blocks)), NextBaseFeeCycle: types.WeiOf(1000), NextBaseFeeCell: types.WeiOf(1000),
		NextBaseFeeLane: types.WeiOf(1000), TimersPending: uint64(len(v.m.timers))}
	if h.Height > 0 {
		h.Hash = v.m.blocks[h.Height-1].Hash
	}
	return h
}

func (v *memoryView) Block(h types.Height) (*Block, error) {
	defer v.lock()()
	if h == 0 || int(h) > len(v.m.blocks) {
		return nil, nil
	}
	return v.m.blocks[h-1], nil
}

func (v *memoryView) HeightOf(hash types.Hash) (types.Height, bool, error) {
	defer v.lock()()
	for i, b := range v.m.blocks {
		if b.Hash == hash {
			return types.Height(i + 1), true, nil
		}
	}
	return 0, false, nil
}

func (v *memoryView) Transaction(hash types.Hash) (*types.Transaction, types.Height, error) {
	defer v.lock()()
	for i, b := range v.m.blocks {
		for j := range b.Block.Transactions {
			if b.Block.Transactions[j].Hash() == hash {
				return &b.Block.Transactions[j], types.Height(i + 1), nil
			}
		}
	}
	return nil, 0, nil
}

func (v *memoryView) Receipt(hash types.Hash) (*types.Receipt, error) {
	defer v.lock()()
	return v.m.receipt(hash), nil
}

func (v *memoryView) Account(a types.Address) (Account, error) {
	defer v.lock()()
	return *v.m.account(a), nil
}

func (v *memoryView) Actor(a types.Address) (*Actor, error) {
	defer v.lock()()
	return v.m.actors[a], nil
}

func (v *memoryView) Actors(offset, limit int) (out []Actor, err error) {
	defer v.lock()()
	for _, a := range v.m.actors {
		out = append(out, *a)
	}
	slices.SortFunc(out, func(a, b Actor) int { return a.Address.Compare(b.Address) })
	return cut(out, offset, limit), nil
}

func (v *memoryView) Named(name string) (out []types.Address, err error) {
	defer v.lock()()
	for at, a := range v.m.actors {
		if a.Name == name {
			out = append(out, at)
		}
	}
	return out, nil
}

func (v *memoryView) State(a types.Address, prefix []byte, offset, limit int) (out []Entry, err error) {
	defer v.lock()()
	for key, value := range v.m.state[a] {
		if strings.HasPrefix(key, string(prefix)) {
			out = append(out, Entry{[]byte(key), value})
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(string(a.Key), string(b.Key)) })
	return cut(out, offset, limit), nil
}

func (v *memoryView) Logs(a types.Address, offset, limit int) (out []LogLine, err error) {
	defer v.lock()()
	for _, l := range v.m.logs {
		if l.Actor == a {
			out = append(out, l)
		}
	}
	return cut(out, offset, limit), nil
}

func (v *memoryView) Timer(id types.TimerID) (*Timer, error) {
	defer v.lock()()
	for i := range v.m.timers {
		if v.m.timers[i].ID == id {
			return &v.m.timers[i], nil
		}
	}
	return nil, nil
}

func (v *memoryView) Timers(f TimerFilter) (out []Timer, err error) {
	defer v.lock()()
	for _, t := range v.m.timers {
		if (f.Actor == nil || *f.Actor == t.Actor) && (f.DueBy == nil || t.Height <= *f.DueBy) && (f.Status == "" || f.Status == t.Status) {
			out = append(out, t)
		}
	}
	return cut(out, f.Offset, f.Limit), nil
}

func (v *memoryView) Params() ([]Param, error) {
	return []Param{{"chain.id", "8011", "genesis", "8011"}, {"cip1.policy", "fifo", "block", "fifo"}}, nil
}

func (v *memoryView) Read(_ context.Context, c Call) (Result, error) {
	if c.Handler == "crash" {
		return Result{}, errors.New("the host crashed")
	}
	if c.Handler == "fail" {
		return Result{Outcome: program.Outcome{Status: types.StatusReverted, Fault: &types.Fault{Code: "raised", Message: "no"}}}, nil
	}
	return Result{Outcome: program.Outcome{Status: types.StatusOK, Output: c.Payload}, Cycles: 10, Logs: []string{"read"}}, nil
}

func (v *memoryView) Simulate(_ context.Context, tx *types.Transaction) (*types.Receipt, error) {
	if v.m.hostless {
		return nil, Refuse(http.StatusServiceUnavailable, CodeNoProgramHost, "no python3")
	}
	return &types.Receipt{Hash: tx.Hash(), Origin: types.OriginTransaction, Status: types.StatusOK, Cycles: 42}, nil
}

func cut[T any](all []T, offset, limit int) []T {
	all = all[min(offset, len(all)):]
	return all[:min(limit, len(all))]
}

// addTimer makes a pending timer of an actor.
func (m *memory) addTimer(actor types.Address, due types.Height, status types.TimerStatus) types.TimerID {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := types.Keccak(actor[:], binary.BigEndian.AppendUint64(nil, uint64(len(m.timers))))
	t := Timer{Timer: types.Timer{ID: id, Actor: actor, Height: due, Handler: "handle_timer", FeePayer: actor}, Status: status}
	if status != types.TimerPending {
		t.EndedAt = due
	}
	m.timers = append(m.timers, t)
	return id
}

var errBroken = fmt.Errorf("the disk is on fire")

func address20(h types.Hash) types.Address { return types.Address(h[12:]) }
