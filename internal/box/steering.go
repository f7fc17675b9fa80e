package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cowboyinc/devnet/actors/system"
	"github.com/cowboyinc/devnet/internal/api"
	"github.com/cowboyinc/devnet/internal/codec"
	"github.com/cowboyinc/devnet/internal/home"
	"github.com/cowboyinc/devnet/internal/params"
	"github.com/cowboyinc/devnet/internal/types"
	"github.com/cowboyinc/devnet/validators"
	"github.com/cowboyinc/devnet/validators/ledger"
)

// steering is what the operator of a network has decided beside its genesis.
type steering struct {
	governing  sync.Mutex // one instruction of the system key at a time
	travelling sync.Mutex // held by the advance that is under way

	decided sync.Mutex // of what follows
	paused  bool
	goal    types.Height // of the latest advance

	wake    chan struct{} // has room for one: there are new blocks
	ended   chan struct{} // closed when the steward is
	dismiss func()        // ends the steward; nil before it began
}

// offset is the file by which a restart finds the clock where it was.
type offset struct {
	Nanoseconds time.Duration `json:"offset_ns"`
}

// resumeSteering goes on with what a home holds beside genesis: the clock, and
// the validators that joined.
func (n *Network) resumeSteering() error {
	if n.home == nil {
		return nil
	}
	data, err := os.ReadFile(n.home.Clock())
	var moved offset
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(data, &moved); err != nil {
			return fmt.Errorf("%s cannot be read: %w", n.home.Clock(), err)
		}
		n.clock.SetOffset(moved.Nanoseconds)
	}
	names, err := n.home.Nodes()
	if err != nil {
		return err
	}
	for _, name := range names {
		if n.find(name) != nil {
			continue
		}
		node, err := n.newNode(name)
		if err != nil {
			return err
		}
		n.add(node)
	}
	return nil
}

// startSteward stops validators once they have left.
func (n *Network) startSteward() {
	ctx, cancel := context.WithCancel(context.Background())
	n.wake, n.ended = make(chan struct{}, 1), make(chan struct{})
	unsubscribe := n.Subscribe(func(types.Height) {
		select {
		case n.wake <- struct{}{}:
		default:
		}
	})
	n.dismiss = func() {
		unsubscribe()
		cancel()
	}
	go func() {
		defer close(n.ended)
		for {
			select {
			case <-ctx.Done():
				return
			case <-n.wake:
				n.retire()
			}
		}
	}()
}

func (n *Network) stopSteward() {
	if n.dismiss != nil {
		n.dismiss()
		<-n.ended
	}
}

// retire stops who is no validator any more, once a block of the epoch without
// it is final: until then it may have to help the others to the last one.
func (n *Network) retire() {
	best := n.Best().Validator().View()
	if best.Block.Header.Height > 0 && best.Block.Header.Epoch != best.State.Validators().Epoch {
		return
	}
	for _, node := range n.List() {
		switch status := validators.Standing(best.State, node.Address); {
		case status != validators.StatusLeft:
			node.joining.Store(false)
		case node.running.Load() && !node.joining.Load():
			if err := n.StopNode(node.Name); err != nil {
				n.log.Error("a validator that has left does not stop", "node", node.Name, "error", err)
			}
		}
	}
}

// standing is a node's status.
func (node *Node) standing(best *ledger.State) string {
	if status := validators.Standing(best, node.Address); status != validators.StatusLeft || !node.joining.Load() {
		return status
	}
	return validators.StatusJoining
}

// bootstrap are the members that a node may connect with before it knows of
// them.
func (n *Network) bootstrap() []types.Validator {
	if v := n.Best().Validator(); v != nil {
		return v.View().State.Validators().Members
	}
	return nil
}

// steer tells a validator that has just started what the operator decided.
func (n *Network) steer(v *validators.Validator) {
	n.decided.Lock()
	defer n.decided.Unlock()
	if n.paused {
		v.Pause(true)
	}
	if n.goal > 0 {
		v.SkipTo(n.goal, nil)
	}
}

func (n *Network) find(name string) *Node {
	for _, node := range n.List() {
		if node.Name == name {
			return node
		}
	}
	return nil
}

// Pause stops the making of blocks; what is under way still becomes final. It
// ends with Resume, or with the process.
func (n *Network) Pause() error { return n.setPaused(true) }

// Resume lets it go on.
func (n *Network) Resume() error { return n.setPaused(false) }

// Paused says whether the network is paused.
func (n *Network) Paused() bool {
	n.decided.Lock()
	defer n.decided.Unlock()
	return n.paused
}

func (n *Network) setPaused(on bool) error {
	if n.config.Strict {
		return strict("pausing")
	}
	n.decided.Lock()
	defer n.decided.Unlock()
	n.paused = on
	for _, node := range n.List() {
		if node.running.Load() {
			node.Validator().Pause(on)
		}
	}
	return nil
}

func strict(what string) error {
	return api.Refuse(http.StatusForbidden, "strict", "%s is off: this network runs with --strict", what).
		Hint("Start the network without --strict.")
}

// Advance is time travel (decision C8): it returns when a height is final that
// the network gets to by skipping what it may. The clock is moved along. Where
// ctx ends first the network goes on all the same.
func (n *Network) Advance(ctx context.Context, target validators.Target) (*validators.Advance, error) {
	if !n.travelling.TryLock() {
		return nil, api.Refuse(http.StatusConflict, "advancing", "another advance is under way").Hint("Wait until it has ended.")
	}
	defer n.travelling.Unlock()
	state := n.Best().Validator().View().State
	to, moved, err := target.Height(state, n.clock.Now())
	if err != nil {
		return nil, travelRefusal(err)
	}
	if err := n.depart(ctx, to, moved); err != nil {
		return nil, err
	}
	if err := n.arrive(ctx, to); err != nil {
		return nil, err
	}
	receipt, err := n.Best().Validator().Archive().Advanced(state.Height(), to)
	if err != nil {
		return nil, err
	}
	receipt.Clock = moved
	return receipt, nil
}

func travelRefusal(err error) error {
	var refusal *validators.TravelError
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case validators.CodeStrict:
		return strict("time travel")
	case validators.CodeNoTimer:
		return api.Refuse(http.StatusConflict, refusal.Code, "%s", refusal.Message).Hint("GET /timers lists timers.")
	case validators.CodeHeightPassed:
		return api.Refuse(http.StatusConflict, refusal.Code, "%s", refusal.Message).Hint("GET /height tells the latest.")
	}
	return api.Refuse(http.StatusBadRequest, refusal.Code, "%s", refusal.Message)
}

// depart tells the validators where to go and, when they know, moves the clock.
// The file comes first: blocks never bear times that a restart could not reach.
func (n *Network) depart(ctx context.Context, to types.Height, moved time.Duration) error {
	n.decided.Lock()
	n.goal = to
	var told sync.WaitGroup
	for _, node := range n.List() {
		if node.Running() {
			told.Add(1)
			node.Validator().SkipTo(to, told.Done)
		}
	}
	n.decided.Unlock()
	if n.home != nil {
		data, err := json.Marshal(offset{n.clock.Offset() + moved})
		if err == nil {
			err = home.WriteFile(n.home.Clock(), append(data, '\n'))
		}
		if err != nil {
			return err
		}
	}
	all := make(chan struct{})
	go func() {
		told.Wait()
		close(all)
	}()
	wait, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	select {
	case <-all:
	case <-wait.Done(): // one that stops meanwhile does not answer
	}
	n.clock.Advance(moved)
	return nil
}

// arrive waits until a height is final.
func (n *Network) arrive(ctx context.Context, to types.Height) error {
	there := make(chan struct{}, 1)
	cancel := n.Subscribe(func(h types.Height) {
		if h >= to {
			select {
			case there <- struct{}{}:
			default:
			}
		}
	})
	defer cancel()
	if n.Best().height() >= to {
		return nil
	}
	select {
	case <-there:
		return nil
	case <-ctx.Done():
		return api.Refuse(http.StatusGatewayTimeout, "not_final", "height %d is not final yet: the network is at %d", to, n.Best().height()).
			Hint("It goes on; GET /height tells how far it is, GET /ready whether blocks are made.")
	}
}

// Join starts a validator of a new name, or one that has left, and has the
// system key ask for its membership from the next epoch on. It returns when the
// instruction is final; the validator catches up meanwhile. An empty name means
// the next of v0, v1, … that is free.
func (n *Network) Join(ctx context.Context, name string) (*Node, error) {
	if n.config.Strict {
		return nil, strict("joining by the devnet's keys")
	}
	node, err := n.admitNode(name)
	if err != nil {
		return nil, err
	}
	_, err = n.govern(ctx, system.OpJoinValidator, system.JoinValidator{PublicKey: nodeKey(n.seed, node.Name).PublicKey()})
	if err != nil {
		node.joining.Store(false) // the steward stops it, unless the instruction becomes final later
		return nil, err
	}
	return node, nil
}

// admitNode starts the node of a validator that is to join.
func (n *Network) admitNode(name string) (*Node, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, api.Refuse(http.StatusServiceUnavailable, "closing", "the network ends")
	}
	if name == "" {
		for i := 0; n.find(NodeName(i)) != nil; i++ {
			name = NodeName(i + 1)
		}
	}
	if len(name) > 32 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return nil, api.Refuse(http.StatusBadRequest, "invalid_name", "%.40q is no name of a node", name).
			Hint("A name has 1 to 32 lower-case letters, digits and hyphens.").At("name")
	}
	node := n.find(name)
	if node != nil {
		if status := node.standing(n.Best().Validator().View().State); status != validators.StatusLeft {
			return nil, api.Refuse(http.StatusConflict, "already_validator", "%s is a validator already: it is %s", name, status).At("name")
		}
	} else {
		if len(n.List()) >= MaxValidators {
			return nil, api.Refuse(http.StatusConflict, "too_many_validators", "a network in one process has at most %d validators", MaxValidators)
		}
		var err error
		if node, err = n.newNode(name); err != nil {
			return nil, err
		}
		n.add(node)
	}
	node.joining.Store(true)
	if node.running.Load() {
		return node, nil
	}
	if err := node.start(); err != nil {
		node.joining.Store(false)
		return nil, err
	}
	return node, nil
}

// Leave has the system key ask for the end of a validator's membership, which
// comes with the epoch's. It returns when the instruction is final.
func (n *Network) Leave(ctx context.Context, name string) (*Node, error) {
	if n.config.Strict {
		return nil, strict("leaving by the devnet's keys")
	}
	node := n.find(name)
	if node == nil {
		return nil, api.Refuse(http.StatusNotFound, "unknown_node", "no node is called %q", name).
			Hint("GET /validators lists them.").At("name")
	}
	_, err := n.govern(ctx, system.OpLeaveValidator, system.LeaveValidator{Address: node.Address})
	if err != nil {
		return nil, err
	}
	node.joining.Store(false)
	return node, nil
}

// ParamChange is a parameter's value from a height on.
type ParamChange struct {
	Key, Value string
	Class      params.Class
	Height     types.Height // from which it holds
	Hash       types.Hash   // of the transaction
}

// SetParam has the system key give a parameter a value from a height on, 0 for
// the next block or, by its class, the next epoch's first. It returns when the
// instruction is final.
func (n *Network) SetParam(ctx context.Context, key, value string, at types.Height) (*ParamChange, error) {
	if n.config.Strict {
		return nil, strict("setting parameters by the devnet's keys")
	}
	info, err := params.Lookup(key)
	if err != nil {
		return nil, api.Refuse(http.StatusNotFound, "unknown_parameter", "%v", err).Hint("GET /params lists them.").At("key")
	}
	if info.Class == params.Genesis {
		return nil, api.Refuse(http.StatusConflict, "genesis_parameter", "%s is fixed in genesis: no instruction changes it", key).
			Hint("Begin a new network with it: [params] in devnet.toml, and --reset.").At("key")
	}
	state := n.Best().Validator().View().State
	with := *state.NextParams()
	if err := with.Set(key, value); err != nil {
		return nil, api.Refuse(http.StatusBadRequest, "bad_value", "%v", err).At("value")
	}
	if at != 0 && at <= state.Height() {
		return nil, api.Refuse(http.StatusConflict, "height_passed", "height %d is not above the chain's, %d", at, state.Height()).
			Hint("Leave it out for the next block.").At("at")
	}
	receipt, err := n.govern(ctx, system.OpSetParameter, system.SetParameter{Key: key, Value: value, Height: at})
	if err != nil {
		return nil, err
	}
	change := &ParamChange{Key: key, Value: value, Class: info.Class, Hash: receipt.Hash}
	for _, e := range receipt.Events {
		var set system.ParamSet
		if e.Name == "param.set" && codec.Unmarshal(e.Data, types.MaxTransactionBytes, &set) == nil && set.Key == key {
			change.Height = set.Height
		}
	}
	return change, nil
}

// governPatience is how long an instruction may take to become final.
const governPatience = 60 * time.Second

// Limits of an instruction's transaction: generous, what is unused returns.
const (
	governCycles types.Cycles = 500_000
	governCells  types.Cells  = 50_000
)

// govern signs an instruction by the system key and returns its receipt; one
// that was refused on chain is an error with the chain's code.
func (n *Network) govern(ctx context.Context, opcode uint16, args any) (*types.Receipt, error) {
	if n.Paused() {
		return nil, api.Refuse(http.StatusConflict, "paused", "an instruction needs a block, and the network is paused").
			Hint("POST /devnet/resume, or: devnet resume")
	}
	n.governing.Lock()
	defer n.governing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, governPatience)
	defer cancel()
	hash, err := n.Submit(ctx, n.instruction(opcode, args).Encode())
	if err != nil {
		return nil, err
	}
	receipt, err := n.Wait(ctx, hash)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, api.Refuse(http.StatusGatewayTimeout, "not_final", "the instruction %s is not final after %s", hash, governPatience).
			Hint("It may still become final: ask GET /transaction/%s/receipt. GET /ready tells whether blocks are made.", hash)
	}
	if err != nil {
		return nil, err
	}
	if receipt.Status != types.StatusOK {
		code, message := string(receipt.Status), "the chain refused the instruction"
		if receipt.Error != nil {
			code, message = receipt.Error.Code, receipt.Error.Message
		}
		return nil, api.Refuse(http.StatusConflict, code, "%s", message)
	}
	return receipt, nil
}

func (n *Network) instruction(opcode uint16, args any) *types.Transaction {
	state := n.Best().Validator().View().State
	fees, key := state.NextBaseFees(), n.Key(SystemName)
	tx := &types.Transaction{ChainID: n.genesis.ChainID, Nonce: n.NextNonce(key.Address()), CyclesLimit: governCycles, CellsLimit: governCells,
		MaxFeePerCycle: fees.Cycle.Mul(2), MaxFeePerCell: fees.Cell.Mul(2),
		Payload: codec.Marshal(types.System{Kind: types.KindSystem, Opcode: opcode, Args: codec.Marshal(args)})}
	signature := key.Sign(tx.SigningDigest())
	tx.Signature = &signature
	return tx
}
