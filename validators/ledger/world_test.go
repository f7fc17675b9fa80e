package ledger

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/samples"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/scheduler"
)

// world is a chain without a network: it also applies every block that it builds,
// and audits the result.
type world struct {
	t        testing.TB
	genesis  Genesis
	executor Executor
	verifier *crypto.Verifier
	keys     map[string]crypto.Signer
	names    map[types.Address]string
	head     *State
	last     *Result
	dropped  []Dropped
	tries    map[types.Address]*Tries // of each proposer of a transcript
	pace     *Pace                    // of proposers; nil: all the time
	nonces   map[string]types.Nonce   // of transactions made but not yet in a block
	actors   map[string]types.Address
}

var accountNames = []string{"alice", "bob", "carol", "system"}

const initialBalance = 1_000_000 * types.CBY

func newWorld(t testing.TB, overrides params.Overrides) *world {
	t.Helper()
	all := params.Overrides{"cip1.policy": scheduler.Fifo} // unless a test says otherwise
	maps.Copy(all, overrides)
	overrides = all
	w := &world{t: t, keys: map[string]crypto.Signer{}, names: map[types.Address]string{}, actors: map[string]types.Address{}}
	w.verifier = crypto.NewVerifier(true)
	w.executor = Executor{Programs: samples.Host{}, Verifier: w.verifier}
	w.genesis = Genesis{ChainID: 8011, Timestamp: 1_000_000, Params: overrides}
	for _, name := range accountNames {
		key := w.key(name)
		w.genesis.Accounts = append(w.genesis.Accounts, Funding{Address: key.Address(), Balance: types.WeiOf(initialBalance)})
	}
	for i := range 4 {
		key := w.key(fmt.Sprintf("v%d", i))
		w.genesis.Validators.Members = append(w.genesis.Validators.Members, types.Validator{Address: key.Address(), PublicKey: key.PublicKey()})
	}
	w.genesis.SystemKey = w.key("system").Address()
	slices.SortFunc(w.genesis.Accounts, func(a, b Funding) int { return a.Address.Compare(b.Address) })
	slices.SortFunc(w.genesis.Validators.Members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	state, _, err := w.genesis.State()
	if err != nil {
		t.Fatal(err)
	}
	w.head = state
	w.forget()
	return w
}

func (w *world) key(name string) crypto.Signer {
	if w.keys[name] == nil {
		w.keys[name] = w.verifier.Signer(crypto.DeriveKey(7, name))
		w.names[w.keys[name].Address()] = name
	}
	return w.keys[name]
}

// forget takes the nonces of all accounts from the state again.
func (w *world) forget() { w.nonces = map[string]types.Nonce{} }

// tx returns an unsigned transaction of an account with limits and fees that
// are always enough, and its next nonce.
func (w *world) tx(from string, to *types.Address, payload any) *types.Transaction {
	nonce, known := w.nonces[from]
	if !known {
		nonce = w.head.Account(w.key(from).Address()).Nonce
	}
	w.nonces[from] = nonce + 1
	return &types.Transaction{ChainID: 8011, Nonce: nonce, To: to, CyclesLimit: 100_000, CellsLimit: 20_000,
		MaxFeePerCycle: types.WeiOf(1_000_000), MaxFeePerCell: types.WeiOf(1_000_000), Payload: codec.Marshal(payload)}
}

func (w *world) sign(from string, tx *types.Transaction) *types.Transaction {
	sig := w.key(from).Sign(tx.SigningDigest())
	tx.Signature = &sig
	return tx
}

func (w *world) checked(from string, tx *types.Transaction) *Checked {
	w.t.Helper()
	w.sign(from, tx)
	c, refusal := w.executor.checkTransaction(w.head.next, tx, tx.Encode())
	if refusal != nil {
		w.t.Fatal(refusal)
	}
	return c
}

func (w *world) transfer(from, to string, wei uint64) *Checked {
	address := w.address(to)
	tx := w.tx(from, &address, &types.Transfer{Kind: types.KindTransfer})
	tx.Value = types.WeiOf(wei)
	return w.checked(from, tx)
}

func (w *world) call(from, actor, handler string, payload []byte) *Checked {
	address := w.address(actor)
	return w.checked(from, w.tx(from, &address, &types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload}))
}

// deploy makes the deploy of a sample under a distinct name.
func (w *world) deploy(from, sample, name string, fund uint64) *Checked {
	d := &types.Deploy{Kind: types.KindDeploy, Code: samples.Code(sample), Salt: types.Keccak([]byte(name)),
		Manifest: types.Manifest{Name: name}}
	w.named(name, actors.ActorAddress(w.key(from).Address(), d.Salt, d.Code))
	tx := w.tx(from, nil, d)
	tx.Value = types.WeiOf(fund)
	return w.checked(from, tx)
}

func (w *world) named(name string, address types.Address) {
	w.actors[name] = address
	w.names[address] = name
}

func (w *world) instruct(opcode uint16, args any) *Checked {
	return w.instructBy("system", opcode, args)
}

func (w *world) instructBy(from string, opcode uint16, args any) *Checked {
	return w.checked(from, w.tx(from, nil, &types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)}))
}

func (w *world) address(name string) types.Address {
	if address, known := w.actors[name]; known {
		return address
	}
	return w.key(name).Address()
}

func (w *world) name(a types.Address) string {
	if name, known := w.names[a]; known {
		return name
	}
	if a.InSystemBand() {
		return fmt.Sprintf("0x%02x", a[19])
	}
	return a.String()
}

// proposal returns the proposal of the leader of the next view, one second later.
func (w *world) proposal() Proposal { return proposalOn(w.head) }

func proposalOn(parent *State) Proposal {
	view := parent.header.View + 1
	return Proposal{View: view, Proposer: parent.set.Leader(view), Timestamp: parent.header.Timestamp + 1000}
}

// block makes the next block and holds it against Apply and Audit.
func (w *world) block(txs ...*Checked) *Result {
	w.t.Helper()
	return w.propose(w.proposal(), txs...)
}

func (w *world) propose(proposal Proposal, txs ...*Checked) *Result {
	w.t.Helper()
	built, err := w.executor.Build(w.head, proposal, slices.Values(txs), w.pace)
	if err != nil {
		w.t.Fatal(err)
	}
	result := built.Result
	applied, err := w.executor.Apply(w.head, result.Block)
	if err != nil {
		w.t.Fatalf("Build made a block that Apply refuses: %v", err)
	}
	if applied.Hash != result.Hash || applied.State.Root() != result.State.Root() {
		w.t.Fatal("Build and Apply disagree")
	}
	if err := Audit(applied.State); err != nil {
		w.t.Fatal(err)
	}
	w.head, w.last, w.dropped = applied.State, applied, built.Dropped
	w.forget()
	return applied
}

// blocks makes n empty blocks.
func (w *world) blocks(n int) {
	w.t.Helper()
	for range n {
		w.block()
	}
}

func (w *world) balance(name string) types.Wei { return w.head.Account(w.address(name)).Balance }

// ok fails the test where an execution of the last block did not end well.
func (w *world) ok() {
	w.t.Helper()
	for _, r := range w.last.Receipts {
		if r.Status != types.StatusOK {
			w.t.Fatalf("receipt %d: %s %v", r.Index, r.Status, r.Error)
		}
	}
}

// codeOf returns the code of an *Invalid, or fails.
func codeOf(t testing.TB, err error) string {
	t.Helper()
	refusal, ok := err.(*Invalid)
	if !ok {
		t.Fatalf("%v is no *Invalid", err)
	}
	if refusal.Section == "" || refusal.Detail == "" {
		t.Errorf("%s says neither where nor what", refusal.Code)
	}
	return refusal.Code
}

// flaky is a host whose sessions fail as often as it is told.
type flaky struct {
	program.Host
	failures int
	opened   int
}

func (f *flaky) Open(p program.Purpose) (program.Session, error) {
	f.opened++
	s, err := f.Host.Open(p)
	return &flakySession{s, f}, err
}

type flakySession struct {
	program.Session
	host *flaky
}

func (s *flakySession) Handle(ctx program.Context, code program.Code, msg program.Message) (program.Outcome, error) {
	outcome, err := s.Session.Handle(ctx, code, msg)
	if s.host.failures > 0 {
		s.host.failures--
		return program.Outcome{}, fmt.Errorf("the host crashed")
	}
	return outcome, err
}
