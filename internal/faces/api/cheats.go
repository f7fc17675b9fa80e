package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/cowboyinc/devnet/actors/governance"
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
	"github.com/cowboyinc/devnet/internal/base/codec"
	"github.com/cowboyinc/devnet/internal/base/refusal"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wallet"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/validators/history"
)

// The cheats of a devnet (decision G2). Cheats that change state are instructions
// of the system key. So every validator executes them, and a restart and an audit
// find them in the blocks.
func (s *Server) registerCheats() {
	serveLatest(s, operation{id: "set_balance", path: "/devnet/balance", tag: tagDevnet,
		client:  "SetBalance(r BalanceRequest) gives an account or actor another balance.",
		summary: "Give an account or actor another balance; answers once final",
		description: "An instruction of the system key. The difference counts as minted or removed in the supply. Addresses of the chain's own " +
			"(0x00 to 0xff) are refused: stakes, escrows and bids add up to their balances.",
		errors: []int{404, 409, 429, 504}, request: model.BalanceRequest{Account: "bob", Balance: types.WeiOf(5 * types.CBY)},
		response: model.BalanceSet{Address: exampleAddress, Before: types.WeiOf(7), After: types.WeiOf(5 * types.CBY), Height: 14,
			Hash: exampleHash}}, s.setBalance)
	serveLatest(s, operation{id: "set_state", path: "/devnet/state", tag: tagDevnet,
		client:  "SetState(r StateRequest) gives a key of an actor's state another value, or removes it.",
		summary: "Give a key of an actor's state another value, or remove it; answers once final",
		description: "An instruction of the system key. Key and value are bytes if they begin with 0x, otherwise UTF-8 text; " +
			"a null value removes " +
			"the key. Timers that watch the key become due, as after a write of the program.",
		errors: []int{404, 409, 429, 504}, request: model.StateRequest{Actor: "club", Key: "price", Value: new("5")},
		response: model.StateSet{Actor: exampleActorAt, Key: types.Bytes("price"), Height: 14, Hash: exampleHash}}, s.setState)
	serveBody(s, operation{id: "mine", path: "/devnet/mine", tag: tagDevnet,
		client: "Mine(blocks uint64) makes a number of blocks now and skips no height, also while the network is paused. It " +
			"returns what fired.",
		summary: "Make a number of blocks now, and list the timers that ended",
		description: "Unlike an advance it skips no height: each gets a block, and the clock moves a block time for each. It works while the " +
			"network is paused.",
		errors: []int{409, 504}, request: model.MineRequest{Blocks: 3},
		response: model.Advance{From: 12, To: 15, Blocks: 3, ClockMS: 3000, Timers: []model.AdvanceTimer{}}}, s.mineBlocks)
	serveBody(s, operation{id: "automine", path: "/devnet/automine", tag: tagDevnet,
		client:      "Automine(on bool) says whether blocks are made by themselves. Off is the same as Pause, on the same as Resume.",
		summary:     "Make blocks by themselves, or only when asked",
		description: "Off is the same as pause: transactions wait in the pool until a mine or an advance. On is the same as resume.",
		request:     model.AutomineRequest{On: false}, response: model.Pace{Paused: true, Height: 12}},
		func(_ context.Context, in *model.AutomineRequest) (model.Pace, error) { return s.setPace(!in.On) })
}

// Signable is a transaction before it has a nonce, fees and a signature.
type Signable interface {
	Sign(wallet.Offer, wallet.Signer, types.Nonce) *types.Transaction
}

// As is a draft in the name of an address, whose key is not needed. The system key
// signs it and pays its fee.
type As struct {
	From types.Address
	wallet.Draft
}

// Sign implements Signable.
func (a As) Sign(o wallet.Offer, key wallet.Signer, nonce types.Nonce) *types.Transaction {
	d, code := a.Draft, 0
	if deploy, ok := d.Payload.(types.Deploy); ok {
		deploy.Salt, code = wallet.Salt(nonce), len(deploy.Code)
		d.Payload = deploy
	}
	if d.Cycles == nil {
		d.Cycles = new(wallet.DefaultCycles.Add(types.Cycles(4 * code)))
	}
	in := governance.Impersonate{From: a.From, To: d.To, Value: d.Value, Payload: codec.Marshal(d.Payload)}
	d.To, d.Value, d.Payload = nil, types.Wei{}, newInstruction(governance.OpImpersonate, &in)
	return d.Sign(o, key, nonce)
}

func newInstruction(opcode uint16, args any) types.System {
	return types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)}
}

// SetBalance is the draft of an instruction.
func SetBalance(at types.Address, balance types.Wei) wallet.Draft {
	return wallet.Draft{Payload: newInstruction(governance.OpSetBalance, &governance.SetBalance{Address: at, Balance: balance})}
}

// SetState is the draft of an instruction; a nil value removes the key.
func SetState(actor types.Address, key []byte, value *[]byte) wallet.Draft {
	return wallet.Draft{Payload: newInstruction(governance.OpSetState, &governance.SetState{Actor: actor, Key: key, Value: value})}
}

// Told is a cheat among the faults: what it did is in the blocks, and it does no more.
func Told(verb, did, format string, args ...any) fault.Effect {
	return fault.Effect{Verb: verb, Detail: fmt.Sprintf(format, args...), Did: did, Ended: true}
}

// reportCheat lists a cheat among the faults, and in the log of events.
func (s *Server) reportCheat(e fault.Effect) {
	s.backend.Steer().Cheated(e)
	s.feed.noteFault(ShowFault(e))
}

// signer signs the transaction of a request. It is an account whose key the devnet
// has, or the system key in the name of another address.
type signer struct {
	key  env.Signer
	as   *types.Address
	name string // as in the request
}

// signDraft makes a draft the signer's.
func (b *signer) signDraft(d wallet.Draft) Signable {
	if b.as == nil {
		return d
	}
	return As{*b.as, d}
}

// signerAddress is in whose name it acts.
func (b *signer) signerAddress() types.Address {
	if b.as == nil {
		return b.key.Address()
	}
	return *b.as
}

// signerFor returns the signer for an account of the devnet. For an actor or any other address it
// is the system key, which impersonates it.
func (s *Server) signerFor(v answers.Reader, from string) (by signer, err error) {
	key, err := s.accountKey(from)
	by = signer{key: key, name: from}
	if err == nil {
		return by, nil
	}
	at, unknown := s.resolveAddress(v, from, "from")
	if unknown != nil {
		return by, err
	}
	if by.key = s.backend.Signer(wallet.System); by.key == nil {
		return by, err
	}
	by.as = &at
	return by, nil
}

// reportImpersonation reports an execution in another's name.
func (s *Server) reportImpersonation(by *signer, r *types.Receipt) {
	if by.as == nil {
		return
	}
	what := "transfer to " + r.To.String()
	if r.Handler != "" {
		what = fmt.Sprintf("%.80q of %s", r.Handler, r.To)
	}
	s.reportCheat(Told("impersonate", fmt.Sprintf("transaction %s: %s", r.Hash.Short(), r.Status), "%s: %s", clipText(by.name), what))
}

// submitInstruction signs an instruction by the system key and returns its receipt; one that was
// refused on chain is an error with the chain's code.
func (s *Server) submitInstruction(ctx context.Context, v answers.Reader, d wallet.Draft) (*types.Receipt, error) {
	key := s.backend.Signer(wallet.System)
	if key == nil {
		return nil, Refuse(http.StatusForbidden, "no_system_key", "this network's system key is not the devnet's").
			Hint("A network that devnet started with its own keys has it.")
	}
	r, err := s.signAndAwait(ctx, v, key, d)
	if err != nil {
		return nil, err
	}
	return &r.Receipt, refusal.OfReceipt(&r.Receipt)
}

func (s *Server) setBalance(ctx context.Context, v answers.Reader, in *model.BalanceRequest) (m model.BalanceSet, err error) {
	at, err := s.resolveAddress(v, in.Account, "account")
	if err != nil {
		return m, err
	}
	r, err := s.submitInstruction(ctx, v, SetBalance(at, in.Balance))
	if err != nil {
		return m, err
	}
	set, err := BalanceIn(r)
	if err != nil {
		return m, err
	}
	s.reportCheat(Told("set_balance", fmt.Sprintf("%s wei became %s", set.Before, set.After), "%s", clipText(in.Account)))
	return model.BalanceSet{Address: at, Before: set.Before, After: set.After, Height: r.Height, Hash: r.Hash}, nil
}

// BalanceIn returns the result of an instruction that set a balance.
func BalanceIn(r *types.Receipt) (set governance.BalanceSet, err error) {
	for _, e := range r.Events {
		if e.Name == "balance.set" {
			return set, codec.Unmarshal(e.Data, types.MaxTransactionBytes, &set)
		}
	}
	return set, fmt.Errorf("the receipt %s shows no balance that was set", r.Hash)
}

func (s *Server) setState(ctx context.Context, v answers.Reader, in *model.StateRequest) (m model.StateSet, err error) {
	at, err := s.resolveAddress(v, in.Actor, "actor")
	if err != nil {
		return m, err
	}
	key, err := decodePayload(in.Key, "key")
	if err != nil {
		return m, err
	}
	var value *[]byte
	if in.Value != nil {
		data, err := decodePayload(*in.Value, "value")
		if err != nil {
			return m, err
		}
		data = append([]byte{}, data...)
		value = &data
	}
	r, err := s.submitInstruction(ctx, v, SetState(at, key, value))
	if err != nil {
		return m, err
	}
	did := "removed"
	if value != nil {
		did = fmt.Sprintf("set, %d bytes", len(*value))
	}
	s.reportCheat(Told("set_state", did, "%s %.40q", clipText(in.Actor), key))
	return model.StateSet{Actor: at, Key: key, Removed: value == nil, Height: r.Height, Hash: r.Hash}, nil
}

func (s *Server) mineBlocks(ctx context.Context, in *model.MineRequest) (m model.Advance, err error) {
	if m, err = s.travelTo(ctx, history.Target{Make: max(1, in.Blocks)}); err == nil {
		s.reportCheat(Told("mine", fmt.Sprintf("%d blocks", m.Blocks), "to height %d", m.To))
	}
	return m, err
}
