package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboyinc/devnet/actors"
	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/params"
	"github.com/cowboyinc/devnet/internal/base/trie"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/runners/selection"
)

// Genesis is the initial state and rules of a chain. Networks with the same Hash are the same
// chain.
type Genesis struct {
	_          struct{}           `cbor:",toarray"`
	ChainID    uint64             `json:"chain_id"`
	Timestamp  types.Millis       `json:"timestamp_ms"` // three block times before the start (decision C7)
	Validators types.ValidatorSet `json:"validators"`   // the set of epoch 0
	Accounts   []Funding          `json:"accounts"`     // by address, without duplicates
	SystemKey  types.Address      `json:"system_key"`   // whose instructions count; zero: no such key
	Runners    []system.Enrolment `json:"runners"`      // in the order of the registry (decision J20)
	Params     params.Overrides   `json:"params"`       // what differs from the defaults; not chain.id
}

// Funding is an account's balance at genesis.
type Funding struct {
	_       struct{}      `cbor:",toarray"`
	Address types.Address `json:"address"`
	Balance types.Wei     `json:"balance"`
}

// Hash is the keccak256 of the genesis's canonical bytes.
func (g *Genesis) Hash() types.Hash { return types.Keccak(codec.Marshal(g)) }

// maxGenesisBytes bounds a genesis in CBOR: 100 validators and thousands of
// accounts.
const maxGenesisBytes = 1 << 20

// DecodeGenesis reads what codec.Marshal made of a genesis.
func DecodeGenesis(data []byte) (*Genesis, error) {
	g := new(Genesis)
	if err := codec.Unmarshal(data, maxGenesisBytes, g); err != nil {
		return nil, err
	}
	return g, nil
}

// PythonKey is the key among Params by which a genesis names the minor version of CPython
// that runs the network's programs, as in 3.11. It is not a parameter: nothing of it enters
// the state, and a genesis without it, as of older homes, names none (decision C20).
const PythonKey = "program.python"

// Python is the minor version of CPython that runs the network's programs; "" where the
// genesis names none.
func (g *Genesis) Python() string { return g.Params[PythonKey] }

// isMinor matches a minor version of Python 3.
func isMinor(text string) bool {
	minor, ok := strings.CutPrefix(text, "3.")
	n, err := strconv.ParseUint(minor, 10, 8)
	return ok && err == nil && strconv.FormatUint(n, 10) == minor
}

// Parameters are those in force from genesis on. The error names what is wrong
// with the overrides.
func (g *Genesis) Parameters() (*params.Params, error) {
	if _, given := g.Params["chain.id"]; given {
		return nil, errors.New("genesis: the chain id is given twice: leave chain.id out of the parameters")
	}
	given := g.Params
	if python, named := g.Params[PythonKey]; named {
		if !isMinor(python) {
			return nil, fmt.Errorf("genesis: %s is not a minor version of Python (got %.20q, want one like 3.11)", PythonKey, python)
		}
		given = maps.Clone(given)
		delete(given, PythonKey)
	}
	p := params.Defaults()
	p.ChainID = g.ChainID
	if err := p.Apply(given); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	return &p, nil
}

// State returns the state at height 0 and the block that stands for it. The
// error says what is wrong with the genesis.
//
// Spec: decisions C7, C9, C12, C15.
func (g *Genesis) State() (*State, *types.Block, error) {
	state, p, err := g.enterState()
	if err != nil {
		return nil, nil, err
	}
	storeParams(state, p, nil)
	tree, _ := state.Seal()
	block := g.genesisBlock(p, tree.Root())
	return newState(tree, block.Header, block.Hash(), p, 0, registryOf(tree)), block, nil
}

// Check returns the error of State, without making it.
func (g *Genesis) Check() error {
	_, _, err := g.enterState()
	return err
}

// enterState returns all that a genesis enters into the state but its parameters, and
// these.
func (g *Genesis) enterState() (*actors.State, *params.Params, error) {
	p, err := g.Parameters()
	if err != nil {
		return nil, nil, err
	}
	if err := g.checkGenesis(p); err != nil {
		return nil, nil, fmt.Errorf("genesis: %w", err)
	}
	state := actors.NewState(trie.Empty)
	supply := Supply{}
	for _, f := range g.Accounts {
		supply.Genesis = supply.Genesis.Add(f.Balance)
		state.Credit(f.Address, f.Balance)
	}
	governance.SetSystemKey(state, g.SystemKey)
	governance.SetValidators(state, &g.Validators)
	if err := g.enrolRunners(state, p, &supply); err != nil {
		return nil, nil, fmt.Errorf("genesis: %w", err)
	}
	setSupply(state, &supply)
	return state, p, nil
}

// enrolRunners enters the runners, whose stakes are part of the supply, and the first
// assignment of subsets.
func (g *Genesis) enrolRunners(state *actors.State, p *params.Params, supply *Supply) error {
	b := system.InBlock{Params: p, State: state}
	first := selection.Assignment{Members: g.Validators.Members, Constants: selection.ConstantsOf(p)}
	system.SetRotation(state, &selection.Rotation{Current: first})
	for _, runner := range g.Runners {
		var ok bool
		if supply.Genesis, ok = supply.Genesis.AddOk(runner.Stake); !ok {
			return errors.New("balances and stakes exceed 2^256")
		}
	}
	return b.Enrol(g.Runners)
}

func storeParams(state *actors.State, p, before *params.Params) {
	governance.Store(p, before, func(stateKey string, value []byte) {
		state.SetStorage(types.GovernanceAddress, []byte(stateKey), value)
	})
}

// genesisBlock returns the block of height 0: it has no proposer, and its base fees are
// the initial ones.
func (g *Genesis) genesisBlock(p *params.Params, root types.Hash) *types.Block {
	return &types.Block{Header: types.Header{
		ChainID: g.ChainID, Timestamp: g.Timestamp,
		Parent:       g.Hash(), // so that the block's hash covers all of genesis
		Transactions: types.TransactionsHash(nil), Passed: types.PassedHash(nil), Presence: selection.NewBitmap(0).Hash(),
		ReceiptsRoot: receiptsRoot(p, nil),
		Randomness:   randomnessAtGenesis(g.ChainID), StateRoot: root,
		BaseFeeCycle: p.InitialBaseFeeCycle, BaseFeeCell: p.InitialBaseFeeCell, BaseFeeLaneTimer: p.InitialBaseFeeCycle,
	}}
}

func (g *Genesis) checkGenesis(p *params.Params) error {
	members := g.Validators.Members
	switch {
	case g.Timestamp < 0:
		return fmt.Errorf("negative time %d ms", g.Timestamp)
	case g.Validators.Epoch != 0:
		return fmt.Errorf("validators of epoch %d, want 0", g.Validators.Epoch)
	case len(members) == 0:
		return errors.New("no validators")
	case uint64(len(members)) > p.MaxValidators:
		return fmt.Errorf("%d validators, at most %d", len(members), p.MaxValidators)
	}
	for i, v := range members {
		if address, err := crypto.AddressOf(v.PublicKey); err != nil || address != v.Address {
			return fmt.Errorf("validator %s does not have the address of its public key", v.Address)
		}
		if len(v.Endpoint) > governance.MaxEndpointBytes {
			return fmt.Errorf("validator %s has an endpoint of more than %d bytes", v.Address, governance.MaxEndpointBytes)
		}
		if i > 0 && members[i-1].Address.Compare(v.Address) >= 0 {
			return errors.New("validators must be sorted by address, without duplicates")
		}
	}
	return g.checkAccounts()
}

func (g *Genesis) checkAccounts() error {
	byAddress := func(a, b Funding) int { return bytes.Compare(a.Address[:], b.Address[:]) }
	if !slices.IsSortedFunc(g.Accounts, byAddress) {
		return errors.New("accounts must be sorted by address")
	}
	var sum types.Wei
	for i, f := range g.Accounts {
		if i > 0 && g.Accounts[i-1].Address == f.Address {
			return fmt.Errorf("account %s is listed twice", f.Address)
		}
		var ok bool
		if sum, ok = sum.AddOk(f.Balance); !ok {
			return errors.New("balances exceed 2^256")
		}
	}
	return nil
}
