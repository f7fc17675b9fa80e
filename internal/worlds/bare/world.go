// Package bare is the ledger of one validator, or of several that propose in turn, and nothing else: real accounts, fees, lane,
// actors and watches, but no votes, no mempool, no history and no archive. It is for
// experiments that need many fires and no network.
//
// A block's result is lent to Config.Observe and then dropped, so memory follows from the
// state and not from the number of blocks. The state is hashed only by Root.
//
// The order of transactions is the order of Submit. Their signatures name the signer and
// prove nothing. Everything else is the rules of package ledger.
package bare

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// ChainID is the chain of every bare world.
const ChainID = 8011

// Limits and prices that a transaction of a bare world states.
const (
	cellsLimit types.Cells = 10_000_000
	maxFeeWei  uint64      = 1_000_000_000_000
)

// maxIdleBlocks is how many blocks in a row may take none of the transactions that wait.
const maxIdleBlocks = 1000

// Config describes a world.
type Config struct {
	Params   params.Overrides // what differs from the defaults; cheats are on
	Programs program.Host
	Accounts []string // their names; each has Balance
	// Validators is how many there are, who propose in turn; 0: one, or what another world that is opened as this one has by default.
	Validators int
	// Observe is lent the result of each block, and keeps nothing of it. It may be nil.
	Observe func(*ledger.Result)
}

// Balance is what each account has at genesis, in wei.
var Balance = types.WeiOf(1_000_000_000_000_000_000).Mul(1_000_000_000_000)

// World is a chain at its head.
type World struct {
	executor ledger.Executor
	head     *ledger.State
	observe  func(*ledger.Result)
	waiting  []*ledger.Checked
	nonces   map[types.Address]types.Nonce // of each account's next transaction
	blocks   uint64
	fires    uint64
}

// New makes the world at height 0. Its error says what is wrong with the parameters.
func New(c Config) (*World, error) {
	given := params.Overrides{"chain.cheats": "true"}
	for key, value := range c.Params { // order: into a map
		given[key] = value
	}
	genesis := &ledger.Genesis{ChainID: ChainID, Timestamp: 1_000_000, Params: given}
	for i := range max(1, c.Validators) {
		key := crypto.DeriveKey(0, fmt.Sprintf("v%d", i))
		genesis.Validators.Members = append(genesis.Validators.Members, types.Validator{Address: key.Address(), PublicKey: key.PublicKey()})
	}
	slices.SortFunc(genesis.Validators.Members, func(a, b types.Validator) int { return a.Address.Compare(b.Address) })
	for _, name := range c.Accounts {
		genesis.Accounts = append(genesis.Accounts, ledger.Funding{Address: AccountAddress(name), Balance: Balance})
	}
	slices.SortFunc(genesis.Accounts, func(a, b ledger.Funding) int { return a.Address.Compare(b.Address) })
	state, _, err := genesis.State()
	if err != nil {
		return nil, err
	}
	w := &World{head: state, observe: c.Observe, nonces: map[types.Address]types.Nonce{}}
	w.executor = ledger.Executor{Programs: c.Programs, Verifier: trusting{}, OmitRoots: true}
	return w, nil
}

// AccountAddress is the address of a named account. No key belongs to it.
func AccountAddress(name string) (at types.Address) {
	hash := types.Keccak([]byte("bare account "), []byte(name))
	copy(at[:], hash[len(hash)-len(at):])
	return at
}

// trusting believes the signer that a signature names.
type trusting struct{}

// Recover implements ledger.Verifier.
func (trusting) Recover(_ types.Hash, sig types.Signature) (signer types.Address, ok bool) {
	copy(signer[:], sig[:])
	return signer, true
}

// Head is the state after the last block.
func (w *World) Head() *ledger.State { return w.head }

// Blocks is how many blocks were made.
func (w *World) Blocks() uint64 { return w.blocks }

// Close ends the world, which holds nothing but memory.
func (w *World) Close() {}

// Fires is how many timers fired in them.
func (w *World) Fires() uint64 { return w.fires }

// Root hashes the whole state: two worlds with one root are alike.
func (w *World) Root() types.Hash { return w.head.Root() }

// Audit holds the state against its own books (ledger.Audit).
func (w *World) Audit() error { return ledger.Audit(w.head) }

// Deploy submits the deploy of code by an account and returns the actor's address. The
// actor gets fund.
func (w *World) Deploy(account, name string, code []byte, fund types.Wei) (types.Address, error) {
	d, at := NewDeploy(AccountAddress(account), name, code)
	return at, w.submit(account, nil, fund, d)
}

// NewDeploy is the deploy of an actor with a name by an account, and the actor's address.
func NewDeploy(by types.Address, name string, code []byte) (*types.Deploy, types.Address) {
	d := &types.Deploy{Kind: types.KindDeploy, Code: code, Salt: types.Keccak([]byte(name)), Manifest: types.Manifest{Name: name}}
	return d, actors.ActorAddress(by, d.Salt, d.Code)
}

// Call submits a call of an actor's handler by an account.
func (w *World) Call(account string, actor types.Address, handler string, payload []byte) error {
	return w.submit(account, &actor, types.Wei{}, &types.Execute{Kind: types.KindExecute, Handler: handler, Payload: payload})
}

// Fill submits a call by an account that takes at most these cells of the next block, by a payload
// that its handler ignores, and says what they cost. Where a cell costs more than most wei then,
// nothing is submitted and ok is false.
func (w *World) Fill(account string, actor types.Address, handler string, cells types.Cells, most types.Wei) (cost types.Wei, ok bool,
	err error) {
	price := w.head.NextBaseFees().Cell
	if most.Less(price) {
		return types.Wei{}, false, nil
	}
	call, err := CallOfCells(handler, cells)
	if err != nil {
		return types.Wei{}, false, err
	}
	tx := w.newTransaction(account, &actor, types.Wei{}, call)
	tx.CellsLimit = types.Cells(len(tx.Payload))
	return price.Mul(uint64(tx.CellsLimit)), true, w.admitTransaction(account, tx)
}

// CallOfCells is a call of a handler that ignores its payload, which takes so many cells.
func CallOfCells(handler string, cells types.Cells) (*types.Execute, error) {
	call := &types.Execute{Kind: types.KindExecute, Handler: handler, Payload: make([]byte, cells)}
	excess := types.Cells(len(codec.Marshal(call))) - cells
	if excess > cells {
		return nil, fmt.Errorf("a call takes more than %d cells", excess)
	}
	call.Payload = call.Payload[:cells-excess]
	return call, nil
}

func (w *World) submit(account string, to *types.Address, value types.Wei, payload any) error {
	return w.admitTransaction(account, w.newTransaction(account, to, value, payload))
}

func (w *World) newTransaction(account string, to *types.Address, value types.Wei, payload any) *types.Transaction {
	return NewTransaction(w.head.NextParams(), w.nonces[AccountAddress(account)], to, value, payload)
}

// NewTransaction is a transaction that no fee of a room keeps out, without its signature.
func NewTransaction(p *params.Params, nonce types.Nonce, to *types.Address, value types.Wei, payload any) *types.Transaction {
	most := types.WeiOf(maxFeeWei)
	return &types.Transaction{ChainID: ChainID, Nonce: nonce, To: to, Value: value, CyclesLimit: p.ItemCycles,
		CellsLimit: min(cellsLimit, p.CellsLimit), MaxFeePerCycle: most, MaxFeePerCell: most, Payload: codec.Marshal(payload)}
}

func (w *World) admitTransaction(account string, tx *types.Transaction) error {
	from := AccountAddress(account)
	tx.Signature = new(types.Signature)
	copy(tx.Signature[:], from[:])
	checked, err := w.executor.Admit(w.head, tx.Encode())
	if err != nil {
		return fmt.Errorf("a transaction of %s: %w", account, err)
	}
	w.nonces[from]++
	w.waiting = append(w.waiting, checked)
	return nil
}

// Step makes one block of what waits and fits. A transaction that failed is an error: its
// maker is at fault.
func (w *World) Step() error {
	view := w.head.Header().View + 1
	proposal := ledger.Proposal{View: view, Proposer: w.head.Validators().Leader(view), Timestamp: w.head.Timestamp() + 1000}
	built, err := w.executor.Build(w.head, proposal, slices.Values(w.waiting), nil)
	if err != nil {
		return err
	}
	for _, dropped := range built.Dropped {
		return fmt.Errorf("a transaction of %s can be in no block: %w", dropped.Transaction.Sender, dropped.Err)
	}
	result := built.Result
	if err := FailedTransaction(result); err != nil {
		return err
	}
	w.waiting = w.without(result.Block.Transactions)
	w.head = result.State
	w.blocks++
	w.fires += CountFires(result)
	if w.observe != nil {
		w.observe(result)
	}
	return nil
}

// FailedTransaction is why a transaction of a block failed; nil if none did.
func FailedTransaction(result *ledger.Result) error {
	for i := range result.Receipts {
		if r := &result.Receipts[i]; r.Origin == types.OriginTransaction && r.Status != types.StatusOK {
			return fmt.Errorf("the transaction of %s at height %d ended with %s: %v", r.Sender, r.Height, r.Status, r.Error)
		}
	}
	return nil
}

// CountFires is how many timers fired in a block.
func CountFires(result *ledger.Result) (fires uint64) {
	for i := range result.Timers {
		if result.Timers[i].Status == types.TimerFired {
			fires++
		}
	}
	return fires
}

// without is what waits still after a block with some transactions.
func (w *World) without(txs []types.Transaction) (left []*ledger.Checked) {
	type slot struct {
		from  types.Address
		nonce types.Nonce
	}
	taken := make(map[slot]bool, len(txs))
	for i := range txs {
		signer, _ := trusting{}.Recover(types.Hash{}, *txs[i].Signature)
		taken[slot{signer, txs[i].Nonce}] = true
	}
	for _, c := range w.waiting {
		if !taken[slot{c.Sender, c.Tx.Nonce}] {
			left = append(left, c)
		}
	}
	return left
}

// Run makes blocks.
func (w *World) Run(blocks uint64) error {
	for range blocks {
		if err := w.Step(); err != nil {
			return err
		}
	}
	return nil
}

// Settle makes blocks until no transaction waits.
func (w *World) Settle() error {
	for idle := 0; len(w.waiting) > 0; {
		before := len(w.waiting)
		if err := w.Step(); err != nil {
			return err
		}
		if idle++; len(w.waiting) < before {
			idle = 0
		}
		if idle == maxIdleBlocks {
			return errors.New("the transactions that wait fit into no block: raise cip3.lane_user_cycles")
		}
	}
	return nil
}
